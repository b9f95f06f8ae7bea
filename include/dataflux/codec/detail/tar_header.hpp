#pragma once

#include <dataflux/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// One header of a tar archive: a block of 512 bytes, as v7, POSIX (ustar), GNU tar, Python's
/// tarfile and Go write it.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

inline constexpr std::size_t tar_block = 512;

/// Bytes from the end of `size` bytes of data to the next header.
constexpr std::uint64_t tar_padding(std::uint64_t size) noexcept {
  return (tar_block - size % tar_block) % tar_block;
}

/// What follows of a header, and what it is for.
enum class tar_type : std::uint8_t {
  file,           ///< '0', NUL or '7', and its data
  hard_link,      ///< '1'; no data, whatever its size says, as Python, GNU tar and Go read it
  symlink,        ///< '2'; no data
  directory,      ///< '5', or NUL with a name that ends in '/', as v7 writes it; no data
  device,         ///< '3', '4' or '6'; no data
  other,          ///< any other letter, and data that nobody here can read
  sparse,         ///< 'S': a file of which holes are left out
  long_name,      ///< 'L': the next member's name
  long_link,      ///< 'K': the next member's link
  records,        ///< 'x', or 'X' of Solaris: pax records of the next member
  global_records  ///< 'g': pax records of all members that follow
};

/// It is no member, but says something of those that follow.
constexpr bool is_extension(tar_type type) noexcept { return type >= tar_type::long_name; }

/// One header. Its texts point into the block.
struct tar_header {
  tar_type type{tar_type::file};
  /// Nothing: it is no number, negative, or larger than any object.
  std::optional<std::uint64_t> size{};
  std::string_view prefix{};  ///< of a POSIX header; its name is prefix + '/' + name then
  std::string_view name{};
};

/// A number of a header: octal digits, behind spaces and up to a NUL, a space or the field's end;
/// or base-256, with the top bit of the first byte set, as GNU tar writes what needs more digits.
/// An empty field is 0. Nothing where it is no such number, or is outside of 64 bits with sign.
std::optional<std::int64_t> parse_tar_number(std::string_view field) noexcept;

/// All bytes are zero.
bool is_zero(bytes_view bytes) noexcept;

/// Its checksum is the sum of its bytes, or of its bytes with their signs, as some old writers
/// calculate it. `block` has tar_block bytes.
bool has_good_checksum(bytes_view block) noexcept;

/// Reads a block of tar_block bytes; nothing when its checksum is not good.
///
/// Cost: some 30 ns; no allocation.
std::optional<tar_header> parse_tar_header(bytes_view block) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/tar_header.ipp>
#endif
