#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/whole_checksum.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/store/detail/late_failure.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/detail/read_engine.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One ranged read. On the strand of its engine; kept alive by its slices, as its owner
/// is.
class ranged_call final : public call_coordinator<ranged_call, ranged_read_summary> {
 public:
  ranged_call(read_engine& engine, ranged_read_request request, bytes_span into, completion done,
              read_member* whose);
  /// On the strand already, as whoever asks for it.
  void begin();
  void allow(std::uint64_t bytes);
  void advance();
  void end();
  /// Its reads end without waiting for the strand, and bring the news. Where there are none,
  /// because it waits for memory, the strand does.
  void stop_heard() noexcept;
  /// advance() ends it.
  void idle() noexcept {}

 private:
  std::uint64_t begin_of(std::size_t slice) const noexcept;
  bool may_read_next() const noexcept;
  read_request request_of(std::size_t slice) const;
  void read_one();
  void read(std::size_t slice);
  void start(const read_request& what, std::size_t slice, std::unique_ptr<span_sink> sink);
  bool is_whole() const noexcept;
  void ask_checksum();
  /// All has come: whether it is to be compared otherwise than by its CRC32C, which is begun.
  bool compares_other();
  void arrived(std::size_t slice, std::int64_t asked, const result<read_summary>& outcome);
  std::optional<error> judge(std::size_t slice, std::int64_t asked,
                             const result<read_summary>& outcome);
  std::optional<error> take(std::size_t slice, std::int64_t asked, const read_summary& summary);
  std::optional<error> verify();
  error described(errc code, const std::string& what) const;
  error differs_from(std::string_view checksum) const;

  read_engine& engine_;
  read_member own_{};
  read_member* const member_;
  ranged_read_request request_;
  const bytes_span into_;
  std::vector<crc32c_accumulator> checksums_;  ///< by slice
  std::vector<std::size_t> again_{};           ///< slices of another generation
  std::size_t next_{0};
  late_failure late_{};
  std::optional<std::uint32_t> object_crc32c_;
  bool asks_checksum_;  ///< once, where no slice has told it
  std::optional<codec::whole_checksum> other_{};
  ranged_read_summary summary_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/ranged_call.ipp>
#endif
