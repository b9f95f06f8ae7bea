#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/byte_sink.hpp>
#include <dataflux/download/get_request.hpp>
#include <dataflux/slab.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/ranged_read_request.hpp>
#include <dataflux/transfer/transfer_state.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: one request and what became of it.
struct get_piece {
  static constexpr std::uint64_t unknown = byte_range::to_end;

  get_request request{};
  std::uint64_t index{0};
  /// Of the object, from the request or, when it says nothing, from the first answer.
  std::optional<std::uint64_t> object_size{};
  std::int64_t generation{0};  ///< asked for, then got
  std::uint64_t offset{0};
  std::uint64_t length{0};  ///< of what is to be read, at most; or `unknown`
  bytes_span to{};
  shared_bytes memory{};
  std::uint32_t crc32c{0};
  bool verified{false};
  std::optional<error> failure{};

  /// As if nothing of it had been read: what is known of the object is what the request says.
  void begin_anew();
  /// Works out offset and length, or the failure, from what is known of the object.
  void resolve();
  /// What is asked of the store when the piece is read at once.
  byte_range asked() const noexcept;
  /// The bytes were read: whether they are what was asked for.
  void check(const read_summary& summary);
  void check(const ranged_read_summary& summary);
  void fail(errc code, const std::string& what);
  bool own() const noexcept { return request.into.empty(); }
};

/// Private: what counts as one for the window: a request, or several for one object.
struct get_unit {
  enum class state : std::uint8_t { idle, reading, ready, handed };

  std::uint64_t number{0};
  std::vector<get_piece> pieces{};
  std::size_t next_piece{0};  ///< to be handed out
  state is{state::idle};
  bool dropped{false};  ///< revoked while it is read
  bool several{false};  ///< of several objects, to be composed
  time_point started{};
  std::optional<span_sink> sink{};
  /// For reads that take long; others are waited for when they are dropped.
  std::optional<std::stop_source> stop{};

  /// Memory of the library that it needs; nothing when that is not known.
  std::optional<std::uint64_t> bytes(const transfer_state& core) const noexcept;
  bool failed() const noexcept;
  void free_memory() noexcept;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_unit.ipp>
#endif
