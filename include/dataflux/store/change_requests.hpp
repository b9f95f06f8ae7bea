#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/encryption_key.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What the verbs take that make an object out of others, or change one without its bytes. As in
/// store/requests.hpp, which says what `last_writer_wins` means.
namespace dataflux::inline DATAFLUX_ABI {

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
/// 1-32 sources, and neither of the not_match conditions (protocol.md 1.5); attributes as
/// validate_attributes() says.
result<void> validate(const compose_request& r);

/// Renames an object within its bucket, in one step: at every moment exactly one of the two names
/// has the object. The result is a new generation with the same bytes and metadata
/// (protocol.md 1.6).
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
/// Two names that differ; not both match and not_match of one kind (protocol.md 1.6).
result<void> validate(const move_request& r);

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
  /// Customer's keys of the source and of the copy, where they are not the client's; an empty one:
  /// it has none. So objects get another key, their first one, or lose theirs.
  std::optional<encryption_key> source_key{};
  std::optional<encryption_key> key{};
  /// Bytes that one request copies at most, a multiple of 1 MiB; 0 = as the service likes.
  std::uint64_t max_bytes_per_request{0};
  preconditions source_conditions{};
  /// Of the copy.
  preconditions conditions{};
  bool last_writer_wins{false};  ///< see above; of no effect where a condition stands
  call_limits limits{};
};
/// max_bytes_per_request is a multiple of 1 MiB.
result<void> validate(const rewrite_request& r);

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
/// A change at all; what it sets is as validate_attributes() says.
result<void> validate(const patch_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI
