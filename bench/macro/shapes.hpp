#pragma once
// What the load server serves and every client of the macro benchmarks asks for. Server and clients
// share only this file; peers in other languages repeat its few constants.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bench {

inline constexpr std::string_view bucket = "bench";
/// The same objects by the service of S3.
inline constexpr std::string_view s3_bucket = "amazon";
/// Objects are told apart by the first letter of their names, so that the server need not look
/// further. As names in training sets, they are longer than a small string.
inline constexpr std::string_view small_object = "small/n01440764/n01440764_10026.JPEG";
inline constexpr std::string_view medium_object = "medium/n01440764/n01440764_10026.JPEG";
inline constexpr std::string_view large_object = "large/checkpoint/step-00001000/model.bin";
/// As large, twice as long.
inline constexpr std::string_view huge_object = "vast/checkpoint/step-00001000/model.bin";
inline constexpr std::string_view upload_object = "upload/checkpoint/step-00001000/model.bin";
inline constexpr std::string_view upload_id = "VXBsb2FkIElE";

inline constexpr std::size_t small_size = std::size_t{16} << 10;
inline constexpr std::size_t medium_size = std::size_t{100} << 10;
inline constexpr std::size_t block_size = std::size_t{8} << 20;
inline constexpr std::uint64_t large_size = std::uint64_t{1} << 30;
inline constexpr std::uint64_t huge_size = std::uint64_t{2} << 30;
inline constexpr std::size_t part_size = std::size_t{32} << 20;
/// Parts of an object that is saved from memory.
inline constexpr std::size_t saved_parts = 64;

inline constexpr unsigned page_count = 100;
inline constexpr unsigned page_items = 1000;

/// The content of the block: xorshift64 from a fixed seed. The small and the medium
/// object are its beginning.
inline void fill_block(std::span<unsigned char> out) {
  std::uint64_t state = 0x9E3779B97F4A7C15U;
  for (auto& byte : out) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    byte = static_cast<unsigned char>(state);
  }
}

}  // namespace bench
