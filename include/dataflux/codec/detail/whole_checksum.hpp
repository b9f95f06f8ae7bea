#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/xxhash64.hpp>
#include <dataflux/detail/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The checksums of services besides CRC32C: CRC64NVME, which S3 makes itself where the writer
/// names none, and CRC32; XXH64 of AIStore.
///
/// A checksum here is the finished value: that of no bytes is 0; of "123456789" CRC64NVME is
/// 0xAE8B14860A799888 and CRC32 0xCBF43926. Pure; thread-safe. Cost: tables of 16 and 8 KiB, some
/// 0.5 ns a byte.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

enum class checksum_kind : std::uint8_t { crc64nvme, crc32, xxhash64 };

/// The checksum of A followed by `bytes`, where `crc` is that of A.
std::uint64_t crc64nvme_extend(std::uint64_t crc, bytes_view bytes) noexcept;
std::uint32_t crc32_extend(std::uint32_t crc, bytes_view bytes) noexcept;

/// What a service says of all bytes of an object.
struct whole_checksum {
  checksum_kind kind{checksum_kind::crc64nvme};
  std::uint64_t value{0};

  friend bool operator==(const whole_checksum&, const whole_checksum&) = default;
};

/// Its text form in S3: the bytes big-endian, in base64. Nothing for any other text.
std::optional<whole_checksum> decode_checksum(checksum_kind kind, std::string_view text);
std::string encode_checksum(const whole_checksum& sum);

/// The checksum of A followed by `bytes`, where `sum` is that of A. Not of xxhash64, whose runs
/// keep more than a value.
std::uint64_t extend_sum(checksum_kind kind, std::uint64_t sum, bytes_view bytes) noexcept;
/// The checksum of A followed by B, from the two and B's length, without the bytes; as
/// crc32c_combine(). Not of xxhash64.
std::uint64_t combine_sums(checksum_kind kind, std::uint64_t a, std::uint64_t b,
                           std::uint64_t b_length) noexcept;
/// "CRC64NVME".
std::string_view to_string(checksum_kind kind) noexcept;

/// Compares bytes that come one behind the other with what they should be.
class checksum_run {
 public:
  explicit checksum_run(const whole_checksum& wanted) noexcept : wanted_(wanted) {}
  void extend(bytes_view bytes) noexcept;
  bool good() const noexcept;
  std::string_view name() const noexcept { return to_string(wanted_.kind); }

 private:
  whole_checksum wanted_;
  std::uint64_t made_{0};
  xxhash64_run hash_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/whole_checksum.ipp>
#endif
