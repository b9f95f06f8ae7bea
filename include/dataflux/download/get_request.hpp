#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/lent_bytes.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// What get_many() is asked for and gives.
namespace dataflux::inline DATAFLUX_ABI {

/// One object, or a range of it.
struct get_request {
  std::string object{};
  /// 0 = the live one. Requests that are read together get the same one.
  std::int64_t generation{0};
  byte_range range{};
  /// Where the bytes go: exactly as large as what is read, else the item is out_of_range. Empty =
  /// memory of the library, which the item then holds.
  bytes_span into{};
  /// Size of the whole object and its checksum, where a listing has told them. With them memory is
  /// reserved before anything is sent, and the bytes are compared with the listing as well.
  std::optional<std::uint64_t> object_size{};
  std::optional<std::uint32_t> crc32c{};
};

/// What became of one request. Movable; memory of the library goes back when the item does, and is
/// `lent` until then.
struct got_item {
  /// Which request it answers, counted from 0 in the order in which they came.
  std::uint64_t index{0};
  std::string object{};
  std::int64_t generation{0};
  /// The bytes: in `memory`, or the request's `into`.
  bytes_view bytes{};
  lent_bytes memory{};
  /// CRC32C of the bytes.
  std::uint32_t crc32c{0};
  /// The bytes are a whole object, or cover one together with others of the call, and its checksum
  /// was compared and equal. A range by itself has nothing to compare with.
  bool verified{false};
  /// Why there are none, with the object's name in it.
  std::optional<error> failure{};
};

}  // namespace dataflux::inline DATAFLUX_ABI
