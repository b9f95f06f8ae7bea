#pragma once

#include <dataflux/checkpoint/detail/reader_coordinator.hpp>
#include <dataflux/checkpoint/detail/reader_state.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One range that a caller reads. On the strand of its reader.
class reader_call final : public reader_coordinator<reader_call> {
 public:
  reader_call(std::shared_ptr<reader_state> state, std::uint64_t offset, bytes_span into,
              const call_limits& limits, completion done);

  void begin();
  std::uint64_t offset() const noexcept { return offset_; }
  std::uint64_t end_offset() const noexcept { return offset_ + into_.size(); }

  // By plan(): what is copied now, comes straight into the caller's memory, or by way of the cache.
  void copy(const extent_cache::extent& piece);
  void add_direct(byte_extent range) { direct_.push_back(range); }
  void expect_load() noexcept { ++loads_; }
  void loaded(const extent_cache::extent& piece);
  /// What is not under way is not begun, what is waited for is waited for no more; what writes into
  /// the caller's memory ends first.
  void fail(error why);

 private:
  void advance();
  void read(byte_extent range);
  bytes_span memory_of(byte_extent range) const noexcept;
  void arrived(const result<void>& outcome);
  void settle();

  const std::uint64_t offset_;
  const bytes_span into_;
  std::vector<byte_extent> direct_{};
  std::size_t next_{0};   ///< of direct_: to be started; those before are read, or in flight
  std::size_t loads_{0};  ///< that are waited for
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/reader_call.ipp>
#include <dataflux/checkpoint/impl/reader_loads.ipp>
#include <dataflux/checkpoint/impl/reader_state.ipp>
#endif
