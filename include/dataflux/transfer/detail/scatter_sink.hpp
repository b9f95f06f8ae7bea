#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/transfer/detail/coalesce.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A part of a piece that comes with one request, and the checksum of what has come.
struct landing {
  scattered_part part{};
  bytes_span to{};
  crc32c_accumulator got{};

  std::uint64_t begin() const noexcept { return part.offset_in_request; }
  std::uint64_t end() const noexcept { return part.offset_in_request + part.length; }
};

/// The bytes of one request go to the pieces that want them: in place, copied where
/// several want them, and nowhere where nobody does.
class scatter_sink final : public byte_sink {
 public:
  /// By begin(); they outlive it.
  explicit scatter_sink(std::span<landing> landings) noexcept : landings_(landings) {}

  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

 private:
  std::span<landing> landings_;
  std::size_t first_{0};  ///< none before it wants any more
  std::uint64_t position_{0};
  bytes_span borrowed_{};
  std::vector<std::byte> unwanted_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/scatter_sink.ipp>
#endif
