#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/change_requests.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Requests and results of object_store's verbs for objects; those that make objects of objects are
/// in store/change_requests.hpp, those for multipart uploads in store/multipart_requests.hpp. All
/// are aggregates for designated initialisers; an omitted member
/// is "the service's default". Names are UTF-8. `value` is the verb's result.
///
/// `last_writer_wins` of a write: it survives failures without a condition. After a refusal (408,
/// 5xx) it is sent again. After a lost reply the object is checked. If this call made or removed
/// it, that is success. If it is older than the call, it is replaced, by its generation. If it is
/// newer, it belongs to another writer and stays: the call fails with errc::aborted; a removal
/// succeeds. Without it such a write is sent once (docs/retries.md).
namespace dataflux::inline DATAFLUX_ABI {

struct list_page {
  object_columns objects{};
  std::vector<std::string> prefixes{};
  /// Of the objects, one each: with list_page_request::etags.
  std::vector<std::string> etags{};
  /// Empty when this was the last page.
  std::string next_page_token{};
  /// When the page was made, by the service's clock, as `created` and `updated` of objects; to the
  /// second. Nothing if unknown.
  std::optional<timestamp> served{};
};

/// One page of a listing in UTF-8 byte order of names (protocol.md 1.1).
struct list_page_request {
  using value = list_page;

  std::string bucket{};
  /// Only names that begin with it.
  std::string prefix{};
  /// Names with this text behind the prefix are folded into `prefixes`.
  std::string delimiter{};
  /// Only names >= it; empty = from the start.
  std::string start_offset{};
  /// Only names < it; empty = to the end.
  std::string end_offset{};
  /// From the page before, with everything else unchanged; empty = the first page.
  std::string page_token{};
  /// Items and prefixes together, 1-10000; 0 = store_traits::max_list_page, which is the most that
  /// a page has. It may hold fewer and still not be the last.
  std::uint32_t max_results{0};
  /// Objects whose name ends with the delimiter are listed as objects, too.
  bool include_trailing_delimiter{false};
  /// Only names that match: '*' stops at '/', '**' does not, '?', '[..]', '{a,b}'. The service
  /// matches, or the client where it cannot; memory_store returns unimplemented.
  std::string match_glob{};
  /// All generations of each name, the oldest first, not the live one alone. memory_store does so
  /// without a delimiter only.
  bool versions{false};
  /// Besides name, size, generation and crc32c, which always come: see object_columns::extras().
  extra_columns extra{extra_columns::none};
  /// ETags, too, where store_traits::max_removals is more than 1; other stores tell none.
  bool etags{false};
  call_limits limits{};
};
/// Names and bounds are UTF-8 of at most 1024 bytes; max_results <= 10000.
result<void> validate(const list_page_request& r);

struct stat_request {
  using value = object_metadata;

  std::string bucket{};
  std::string object{};
  /// 0 = the live one.
  std::int64_t generation{0};
  preconditions conditions{};
  /// Such as metadata_fields::basic | metadata_fields::updated.
  metadata_fields fields{metadata_fields::all};
  call_limits limits{};
};
/// generation and conditions are not negative; fields has no bit but those of metadata_fields.
result<void> validate(const stat_request& r);

/// What a finished read delivered.
struct read_summary {
  std::uint64_t bytes{0};
  /// CRC32C of exactly those bytes.
  std::uint32_t crc32c{0};
  /// Stored size of the whole object; of a member its own.
  std::uint64_t object_size{0};
  /// CRC32C of the whole object, when the service gave one.
  std::optional<std::uint32_t> object_crc32c{};
  /// The bytes were the whole object and its checksum was compared and equal. Of what a cache has
  /// also a range that was compared.
  bool verified{false};
  std::int64_t generation{0};
  std::int64_t metageneration{0};
  /// HTTP attempts made, 1 when nothing went wrong.
  int attempts{0};
  /// Those of them that the service refused for their rate: 429, or an equivalent reason. A plain
  /// 503 does not count.
  int refusals{0};
  /// The service decompressed the bytes on the way: see read_request::decode_gzip.
  bool decoded{false};
};

struct read_request {
  using value = read_summary;

  std::string bucket{};
  std::string object{};
  byte_range range{};
  /// 0 = the live one; it is pinned from the first reply on, so that bytes never mix.
  std::int64_t generation{0};
  preconditions conditions{};
  /// False: bytes as stored, whatever their encoding. True: an object stored with content_encoding
  /// "gzip" comes decompressed by the service. Such a read has no known length and no checksum, and
  /// starts over when it breaks off; so it is for whole objects only.
  bool decode_gzip{false};
  /// The file of this name in an archive, which the service takes out: store_traits::members.
  /// Nothing tells its state, and nothing is compared. A read that breaks off starts over. Empty =
  /// the object.
  std::string member{};
  call_limits limits{};
};
/// As for stat; the range is not empty and ends within 2^63 - 1; decode_gzip for the whole object
/// only; a member without range, generation and conditions.
result<void> validate(const read_request& r);

/// Writes a whole object in one request. For data above some 16 MiB multipart uploads are faster.
struct insert_request {
  using value = object_metadata;

  std::string bucket{};
  std::string object{};
  /// Caller's memory, unchanged until the completion.
  bytes_view data{};
  object_attributes attributes{};
  preconditions conditions{};
  bool last_writer_wins{false};  ///< see above; of no effect where a condition stands
  call_limits limits{};
};
/// As validate_attributes() says.
result<void> validate(const insert_request& r);

struct remove_request {
  using value = void;

  std::string bucket{};
  std::string object{};
  /// 0 = the live one; otherwise that generation is removed for good.
  std::int64_t generation{0};
  preconditions conditions{};
  bool last_writer_wins{false};  ///< see above; of no effect where a condition stands
  call_limits limits{};
};
/// generation and conditions are not negative.
result<void> validate(const remove_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/detail/validate.hpp>
#endif
