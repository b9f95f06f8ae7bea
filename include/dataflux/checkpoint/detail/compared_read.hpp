#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/checkpoint/detail/cell_checksums.hpp>
#include <dataflux/checkpoint/detail/reader_state.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Fills memory with a range of an object, and makes a checksum of what is in each cell
/// while it is in the processor's cache.
class cell_sink final : public byte_sink {
 public:
  /// Both outlive it.
  cell_sink(const cell_checksums& cells, std::uint64_t offset, bytes_span memory) noexcept
      : cells_(cells), offset_(offset), memory_(memory) {}
  /// One for each cell of which there are bytes, in order.
  const std::vector<crc32c_accumulator>& sums() const noexcept { return sums_; }

  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

 private:
  const cell_checksums& cells_;
  const std::uint64_t offset_;
  const bytes_span memory_;
  std::size_t used_{0};
  std::uint64_t cell_end_{0};
  std::vector<crc32c_accumulator> sums_{};
};

/// One range of a reader's object that is read into memory and compared with what came
/// before. Where that cannot be, at the ends of the range, the cells there are read once more as a
/// whole: what was remembered proves them, and their bytes take the place of those that came.
///
/// On the strand; kept alive by what is under way. `done` has the last word on the memory.
class compared_read final : public std::enable_shared_from_this<compared_read> {
 public:
  using completion = object_store::completion<void>;

  compared_read(std::shared_ptr<reader_state> state, byte_extent range, bytes_span into,
                call_limits limits, completion done);
  /// Where that finds no memory it has failed.
  void begin() noexcept;

 private:
  void read();
  /// Makes a step, and ends it where nothing is left. One that is short of memory fails.
  template <class Step>
  void make_step(Step&& step) noexcept;
  bytes_span memory_of(byte_extent range) const noexcept;
  void arrived(std::uint64_t bytes, const std::vector<crc32c_accumulator>& sums);
  void read_cell(byte_extent range);
  void end();

  const std::shared_ptr<reader_state> state_;
  const byte_extent range_;
  const bytes_span into_;
  const call_limits limits_;
  completion done_;
  cell_sink sink_;
  std::size_t cells_left_{0};  ///< that are read again
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/compared_read.ipp>
#endif
