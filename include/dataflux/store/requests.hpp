#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Requests and results of object_store's verbs for objects; those for multipart uploads are in
/// store/multipart_requests.hpp. All are aggregates for designated initialisers; an omitted member
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
  /// Items and prefixes together, 1-1000; 0 = 1000. A page may hold fewer and still not be the
  /// last.
  std::uint32_t max_results{0};
  /// Objects whose name ends with the delimiter are listed as objects, too.
  bool include_trailing_delimiter{false};
  /// Only names that match: '*' stops at '/', '**' does not, '?', '[..]', '{a,b}'. The service
  /// matches; memory_store returns unimplemented.
  std::string match_glob{};
  /// All generations of each name, the oldest first, not the live one alone. memory_store does so
  /// without a delimiter only.
  bool versions{false};
  /// Besides name, size, generation and crc32c, which always come: see object_columns::extras().
  extra_columns extra{extra_columns::none};
  call_limits limits{};
};

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

/// What a finished read delivered.
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
  call_limits limits{};
};

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

/// A piece of a composed object.
struct compose_source {
  std::string object{};
  /// 0 = the live one.
  std::int64_t generation{0};
};

/// Concatenates 1-32 objects of the bucket, all of one storage class, into one; the sources stay.
/// Only their bytes are used (protocol.md 1.5).
struct compose_request {
  using value = object_metadata;

  std::string bucket{};
  /// The object to be made; may be one of the sources.
  std::string object{};
  std::vector<compose_source> sources{};
  object_attributes attributes{};
  /// Of the whole, where the caller knows it: a result that differs is data_loss and removed.
  std::optional<std::uint32_t> crc32c{};
  /// Of the object to be made; the not_match ones do not exist here.
  preconditions conditions{};
  bool last_writer_wins{false};  ///< see above; of no effect where a condition stands
  call_limits limits{};
};

/// Renames an object within its bucket, in one step: at every moment exactly one of the two names
/// exists. The result is a new generation with the same bytes and metadata (protocol.md 1.6).
struct move_request {
  using value = object_metadata;

  std::string bucket{};
  std::string source{};
  /// The new name; an object there is replaced unless `conditions` forbid it.
  std::string object{};
  preconditions source_conditions{};
  /// Of the object under the new name.
  preconditions conditions{};
  /// The source's, if the caller knows it: after a lost reply it tells whether the object under the
  /// new name is the moved one. Without it source_conditions.if_generation_match does. With
  /// neither, and last_writer_wins, the source must be gone, and the object newer than the call.
  std::optional<std::uint32_t> crc32c{};
  bool last_writer_wins{false};  ///< see above; of no effect where a condition stands
  call_limits limits{};
};

/// Copies an object within the service: to another name, bucket, location, storage class or key.
/// The call ends when all of it is copied, which may take several requests; progress is kept when
/// one of them fails (protocol.md 1.6).
struct rewrite_request {
  using value = object_metadata;

  std::string source_bucket{};
  std::string source{};
  /// 0 = the live one. If a copy takes several requests, they go on with what the first one found.
  std::int64_t source_generation{0};
  std::string bucket{};
  std::string object{};
  /// If any of these is set the copy has exactly these; otherwise the source's. The key does not
  /// count.
  object_attributes attributes{};
  /// Bytes that one request copies at most, a multiple of 1 MiB; 0 = as the service likes.
  std::uint64_t max_bytes_per_request{0};
  preconditions source_conditions{};
  /// Of the copy.
  preconditions conditions{};
  bool last_writer_wins{false};  ///< see above; of no effect where a condition stands
  call_limits limits{};
};

/// Changes some of an object's metadata and leaves the rest (protocol.md 1.7). A verb of
/// gcs::client.
struct patch_request {
  using value = object_metadata;

  std::string bucket{};
  std::string object{};
  /// 0 = the live one.
  std::int64_t generation{0};
  /// Nothing = unchanged; empty = removed. At least one member must be set.
  std::optional<std::string> content_type{};
  std::optional<std::string> content_encoding{};
  std::optional<std::string> content_disposition{};
  std::optional<std::string> content_language{};
  std::optional<std::string> cache_control{};
  /// Can be set and moved forward, never removed.
  std::optional<timestamp> custom_time{};
  /// Keys that are not named stay; a key without a value is removed.
  std::vector<std::pair<std::string, std::optional<std::string>>> metadata{};
  /// if_metageneration_match makes it safe to repeat.
  preconditions conditions{};
  bool last_writer_wins{false};  ///< see above; of no effect where a condition stands
  call_limits limits{};
};

}  // namespace dataflux::inline DATAFLUX_ABI
