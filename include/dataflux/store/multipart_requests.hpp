#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Requests and results of object_store's verbs for multipart uploads (protocol.md 2), in the form
/// of store/requests.hpp.
namespace dataflux::inline DATAFLUX_ABI {

struct multipart_upload {
  std::string upload_id{};
  /// Kept with the object, so that after a lost reply multipart_complete knows its own upload from
  /// another of equal bytes; empty if the store needs no mark.
  std::string mark{};
};

struct uploaded_part {
  std::uint32_t part_number{0};
  std::uint64_t size{0};
  std::uint32_t crc32c{0};
  /// With its quotes, as the service gave it.
  std::string etag{};
};

/// Begins a multipart upload (protocol.md 2). It knows no preconditions. Must be ended by complete
/// or abort, or its parts are billed for ever.
struct multipart_initiate_request {
  using value = multipart_upload;

  std::string bucket{};
  std::string object{};
  object_attributes attributes{};
  /// Its end will have conditions: a store that cannot keep them refuses the beginning
  /// (failed_precondition), before anything is sent.
  bool conditional{false};
  call_limits limits{};
};
/// Custom metadata travels in header fields, where keys lose their case and values their outer
/// blanks: keys are lower-case tokens, values printable ASCII without outer blanks.
result<void> validate(const multipart_initiate_request& r);

struct upload_part_request {
  using value = uploaded_part;

  std::string bucket{};
  std::string object{};
  std::string upload_id{};
  /// 1-10,000. Uploading a number again replaces the part.
  std::uint32_t part_number{0};
  /// Caller's memory, unchanged until the completion. 5 MiB-5 GiB, the last part may be smaller.
  bytes_view data{};
  /// The data's CRC32C when the caller has it already; computed otherwise.
  std::optional<std::uint32_t> crc32c{};
  call_limits limits{};
};
/// upload_id is printable ASCII, the number is 1-10,000, data is at most 5 GiB.
result<void> validate(const upload_part_request& r);

/// Makes the object appear. The combined CRC32C of the parts is compared with the service's.
struct multipart_complete_request {
  using value = object_metadata;

  std::string bucket{};
  std::string object{};
  std::string upload_id{};
  /// At least one, part numbers strictly ascending.
  std::vector<uploaded_part> parts{};
  /// As multipart_initiate gave it; empty = bytes alone tell whose object it is.
  std::string mark{};
  /// Of the object to be made, where store_traits::conditional_complete; the others answer
  /// unimplemented.
  preconditions conditions{};
  call_limits limits{};
};
/// 1-10,000 parts, numbers strictly ascending, each with an etag, 5 TiB together.
result<void> validate(const multipart_complete_request& r);

struct multipart_abort_request {
  using value = void;

  std::string bucket{};
  std::string object{};
  std::string upload_id{};
  call_limits limits{};
};
/// upload_id is printable ASCII.
result<void> validate(const multipart_abort_request& r);

/// A part that an open upload has, as a listing tells it: without its checksum.
struct listed_part {
  std::uint32_t part_number{0};
  std::uint64_t size{0};
  /// With its quotes.
  std::string etag{};
  std::optional<timestamp> modified{};
};

struct part_page {
  std::vector<listed_part> parts{};
  /// 0 when this was the last page.
  std::uint32_t next_marker{0};
};

/// One page of an upload's parts, in order of their numbers.
struct list_parts_request {
  using value = part_page;

  std::string bucket{};
  std::string object{};
  std::string upload_id{};
  /// Only part numbers above it: the page before's next_marker.
  std::uint32_t marker{0};
  /// 1-1000; 0 = 1000.
  std::uint32_t max_results{0};
  call_limits limits{};
};
/// The marker is text, max_results <= 1000.
result<void> validate(const list_parts_request& r);

struct listed_upload {
  std::string object{};
  std::string upload_id{};
  std::string storage_class{};
  std::optional<timestamp> initiated{};
};

struct upload_page {
  std::vector<listed_upload> uploads{};
  /// Both empty when this was the last page.
  std::string next_object_marker{};
  std::string next_upload_marker{};
};

/// One page of a bucket's uploads that were neither completed nor aborted, which are billed
/// (protocol.md 2). In order of object names, then of their beginning.
struct list_uploads_request {
  using value = upload_page;

  std::string bucket{};
  /// Only of objects whose names begin with it.
  std::string prefix{};
  /// From the page before, both.
  std::string object_marker{};
  std::string upload_marker{};
  /// 1-1000; 0 = 1000.
  std::uint32_t max_results{0};
  call_limits limits{};
};
/// Markers are text, max_results <= 1000; an upload_marker needs its object_marker.
result<void> validate(const list_uploads_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/detail/validate.hpp>
#endif
