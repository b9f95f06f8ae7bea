#pragma once

#include <dataflux/byte_range.hpp>
#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/preconditions.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What each verb of object_store takes and gives. All are aggregates for designated initialisers;
/// a default-initialised member means "the service's default". Names are UTF-8.
namespace dataflux::inline DATAFLUX_ABI {

/// One page of a listing in UTF-8 byte order of names (protocol.md 1.1).
struct list_page_request {
  std::string bucket{};
  /// Only names that begin with it.
  std::string prefix{};
  /// Names that contain it behind the prefix are folded into `prefixes`.
  std::string delimiter{};
  /// Only names >= it; empty = from the start.
  std::string start_offset{};
  /// Only names < it; empty = to the end.
  std::string end_offset{};
  /// From the page before, with everything else unchanged; empty = the first page.
  std::string page_token{};
  /// Items and prefixes together, 1-1000; 0 = 1000. A page may hold fewer and still not be the
  /// last.
  std::uint32_t max_results{0};
  /// Objects whose name ends with the delimiter are listed as objects, too.
  bool include_trailing_delimiter{false};
  call_limits limits{};
};

struct list_page {
  object_columns objects{};
  std::vector<std::string> prefixes{};
  /// Empty when this was the last page.
  std::string next_page_token{};
};

struct stat_request {
  std::string bucket{};
  std::string object{};
  /// 0 = the live one.
  std::int64_t generation{0};
  preconditions conditions{};
  call_limits limits{};
};

struct read_request {
  std::string bucket{};
  std::string object{};
  byte_range range{};
  /// 0 = the live one; it is pinned from the first reply on, so that bytes never mix.
  std::int64_t generation{0};
  preconditions conditions{};
  call_limits limits{};
};

/// What a finished read delivered. Bytes are always as stored, never decompressed.
struct read_summary {
  std::uint64_t bytes{0};
  /// CRC32C of exactly those bytes.
  std::uint32_t crc32c{0};
  /// Stored size of the whole object.
  std::uint64_t object_size{0};
  /// CRC32C of the whole object, when the service gave one.
  std::optional<std::uint32_t> object_crc32c{};
  /// The bytes were the whole object and its checksum was compared and equal.
  bool verified{false};
  std::int64_t generation{0};
  std::int64_t metageneration{0};
  /// HTTP attempts made, 1 when nothing went wrong.
  int attempts{0};
};

/// Writes a whole object in one request. For data above some 16 MiB multipart uploads are faster.
struct insert_request {
  std::string bucket{};
  std::string object{};
  /// Caller's memory, unchanged until the completion.
  bytes_view data{};
  /// Empty = application/octet-stream.
  std::string content_type{};
  std::vector<std::pair<std::string, std::string>> metadata{};
  /// Without if_generation_match a failed attempt whose outcome is unknown is not repeated.
  preconditions conditions{};
  call_limits limits{};
};

struct remove_request {
  std::string bucket{};
  std::string object{};
  /// 0 = the live one; otherwise that generation is removed for good.
  std::int64_t generation{0};
  preconditions conditions{};
  call_limits limits{};
};

/// Begins a multipart upload (protocol.md 2). It knows no preconditions. Must be ended by complete
/// or abort, or its parts are billed for ever.
struct multipart_initiate_request {
  std::string bucket{};
  std::string object{};
  std::string content_type{};
  std::vector<std::pair<std::string, std::string>> metadata{};
  call_limits limits{};
};

struct multipart_upload {
  std::string upload_id{};
};

struct upload_part_request {
  std::string bucket{};
  std::string object{};
  std::string upload_id{};
  /// 1-10,000. Uploading a number again replaces that part.
  std::uint32_t part_number{0};
  /// Caller's memory, unchanged until the completion. 5 MiB-5 GiB, the last part may be smaller.
  bytes_view data{};
  /// The data's CRC32C when the caller has it already; computed otherwise.
  std::optional<std::uint32_t> crc32c{};
  call_limits limits{};
};

struct uploaded_part {
  std::uint32_t part_number{0};
  std::uint64_t size{0};
  std::uint32_t crc32c{0};
  /// With its quotes, as the service gave it.
  std::string etag{};
};

/// Makes the object appear. The combined CRC32C of the parts is compared with the service's.
struct multipart_complete_request {
  std::string bucket{};
  std::string object{};
  std::string upload_id{};
  /// At least one, part numbers strictly ascending.
  std::vector<uploaded_part> parts{};
  call_limits limits{};
};

struct multipart_abort_request {
  std::string bucket{};
  std::string object{};
  std::string upload_id{};
  call_limits limits{};
};

}  // namespace dataflux::inline DATAFLUX_ABI
