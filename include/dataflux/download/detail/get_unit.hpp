#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/slab.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One request and what became of it.
struct get_piece {
  static constexpr std::uint64_t unknown = byte_range::to_end;

  get_request request{};  ///< without the name
  object_name name{};
  std::optional<error> refused{};  ///< by the source: there is no such request
  std::uint64_t index{0};
  /// Of the object, from the request or, when it says nothing, from the first answer.
  std::optional<std::uint64_t> object_size{};
  /// What the service has told of all of it, if anything.
  std::optional<std::uint32_t> object_crc32c{};
  std::int64_t generation{0};  ///< asked for, then got
  std::uint64_t offset{0};
  std::uint64_t length{0};  ///< of what is to be read, at most; or `unknown`
  std::uint64_t room{0};    ///< for a member that did not fit before; 0 = as for others
  bytes_span to{};
  shared_bytes memory{};
  std::uint32_t crc32c{0};
  bool verified{false};
  bool differs{false};  ///< the bytes, from the request's range_crc32c
  std::optional<error> failure{};

  /// As if nothing of it had been read: of the object only the request's facts are known.
  void begin_anew();
  /// Works out offset and length, or the failure, from what is known of the object.
  void resolve();
  /// The range to ask the store for when the piece is read at once.
  byte_range asked() const noexcept;
  /// The bytes were read: whether they are those that were asked for.
  void check(const read_summary& summary);
  void check(const ranged_read_summary& summary);
  void fail(errc code, const std::string& what);
  /// A range that the object of that generation has was refused as behind its end: the object was
  /// replaced. AIStore refuses without a word about the state that it looked at.
  void explain_refused_range();
  /// Whether it begins where an object of `size` bytes has none; of an empty one all is there.
  bool misses(std::uint64_t size) const noexcept {
    return offset >= size && offset != 0 && !request.range.is_suffix();
  }
  void refuse_place(std::uint64_t size);
  bool own() const noexcept { return request.into.empty(); }
  /// Whether it is known where in the object it lies, as it must be to be read by slices.
  bool placed() const noexcept {
    return request.member.empty() && (object_size || !request.range.is_suffix());
  }
};

/// Takes the bytes of one read, into the caller's memory or into the library's. That is
/// taken only when the first byte is there: what waits for the network holds none, so that few
/// buffers go round and stay in the cache, and it is as much as is to come. As byte_sink on the
/// threads of the request; the rest before and after it.
class piece_sink final : public byte_sink {
 public:
  /// Of a body that is longer than `size` all is refused, or the beginning taken: what has come
  /// with the head, since all of it is read otherwise then.
  enum class excess : std::uint8_t { refused, cut };

  explicit piece_sink(bytes_span into) noexcept : size_(into.size()), to_(into) {}
  piece_sink(slab_writer& slabs, std::size_t size, excess beyond = excess::refused) noexcept
      : slabs_(&slabs), beyond_(beyond), size_(size) {}

  /// Error: resource_exhausted where there is no memory.
  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  bool satisfied() const noexcept override { return cut_ && used_ == to_.size(); }
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

  /// What has come lies there; in memory(), if that is the library's.
  bytes_span bytes() const noexcept { return to_; }
  shared_bytes& memory() noexcept { return memory_; }
  std::size_t most() const noexcept { return size_; }
  /// How many bytes would have fitted what came, or perhaps; 0 where it did fit.
  std::uint64_t lacked() const noexcept { return lacked_; }

 private:
  result<void> take_memory(std::size_t size);

  slab_writer* slabs_{nullptr};
  excess beyond_{excess::refused};
  bool cut_{false};
  std::size_t size_;  ///< at most
  std::size_t used_{0};
  std::uint64_t lacked_{0};
  bytes_span to_{};
  shared_bytes memory_{};
};

/// What counts as one for the window: a request, or several for one object.
struct get_unit {
  enum class state : std::uint8_t { idle, reading, ready, handed };

  std::uint64_t number{0};
  std::vector<get_piece> pieces{};
  std::size_t next_piece{0};  ///< to be handed out
  state is{state::idle};
  bool dropped{false};    ///< revoked while it is read
  bool several{false};    ///< of several objects, to be composed
  bool batched{false};    ///< of several objects, by one request
  bool composing{false};  ///< and not read yet
  bool again{false};      ///< its bytes were not as the requests say, and are read once more
  time_point started{};
  std::optional<piece_sink> sink{};
  /// For reads that take long; others are waited for when they are dropped.
  std::optional<std::stop_source> stop{};
  /// Of a body that is longer than a slice.
  std::optional<ranged_read> slices{};

  /// Memory of the library that it needs; nothing when that is not known.
  std::optional<std::uint64_t> bytes(const transfer_state& core) const noexcept;
  /// Whether it is read slice by slice as there is memory.
  bool by_parts(const transfer_state& core) const noexcept;
  bool failed() const noexcept;
  void free_memory() noexcept;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_unit.ipp>
#endif
