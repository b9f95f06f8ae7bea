#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/download/composite.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/lent_bytes.hpp>
#include <dataflux/unique_function.hpp>

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

enum class get_order : std::uint8_t {
  as_asked,  ///< items come in the order of the requests
  as_ready,  ///< whichever is there first
};

enum class get_on_error : std::uint8_t {
  fail_item,  ///< a failed request is an item with its error, in its place; all others go on
  stop,       ///< the stream ends with the first error
};

struct get_many_options {
  get_order order{get_order::as_asked};
  get_on_error on_error{get_on_error::fail_item};
  /// Whole objects of known size and generation that follow each other are composed by the service,
  /// read as one, and sliced; nothing = never. compose_options{} says when that pays.
  std::optional<compose_options> compose{};
  /// Of the whole stream.
  call_limits limits{};
};

/// Where requests come from when they are not all known beforehand: called for the next one when
/// there is room for it, nothing means the end. Called on I/O threads, one call at a time: it must
/// not block, and must not throw.
using get_source = unique_function<std::optional<get_request>()>;

}  // namespace dataflux::inline DATAFLUX_ABI
