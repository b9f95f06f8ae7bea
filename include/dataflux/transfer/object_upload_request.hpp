#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/transfer/part_checksum.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a stream of bytes that becomes an object is told, and what it tells.
namespace dataflux::inline DATAFLUX_ABI {

/// Multipart uploads know no preconditions (protocol.md 2), so that one has to choose.
enum class commit_mode : std::uint8_t {
  /// Uploaded under a temporary name (temporary_objects_prefix), compared there, and then moved,
  /// which is one step and takes a precondition: nobody ever sees a bad object, and of two writers
  /// at once one fails. Needs permission to delete and to move, and two round trips more.
  staged,
  /// Uploaded under its own name. The precondition is looked at just before the last request, and
  /// what another writer does in between is lost; an object that does not match its checksum is
  /// seen by others until it is noticed.
  direct,
};

/// How the bytes went.
enum class upload_path : std::uint8_t {
  insert,     ///< in one request, with the precondition
  multipart,  ///< in parts, several at a time
  resumable,  ///< one chunk after the other, with the precondition: where no multipart is permitted
};

std::string_view to_string(commit_mode mode) noexcept;
std::string_view to_string(upload_path path) noexcept;

struct object_upload_request {
  std::string bucket{};
  std::string object{};
  /// Empty = application/octet-stream.
  std::string content_type{};
  /// Keys are lower-case tokens, values printable ASCII: they travel in header fields.
  std::vector<std::pair<std::string, std::string>> metadata{};
  /// Of the bytes as they are given, such as "gzip".
  std::string content_encoding{};
  /// Such as "NEARLINE"; empty = the bucket's.
  std::string storage_class{};
  std::optional<timestamp> custom_time{};
  /// "projects/P/locations/L/keyRings/R/cryptoKeys/K"; empty = the bucket's.
  std::string kms_key_name{};
  /// More than a part goes so. What is not permitted is replaced, and reported: see
  /// committed_object::fallback.
  commit_mode mode{commit_mode::staged};
  /// The generation that the object must have when it is replaced, 0 = it must not exist. Nothing =
  /// as it is found when the upload is opened, which costs a request.
  std::optional<std::int64_t> if_generation_match{};
  /// Added to the message of an already_exists: what the caller may do then.
  std::string advice_if_it_exists{};
  /// See part_plan_options.
  std::uint64_t part_size{0};
  std::optional<std::uint64_t> size_hint{};
  /// Is told by on_log() of what is done in another way than asked for, and of what could not be
  /// removed. Outlives the upload.
  observer* watcher{nullptr};
  /// For the whole of it, from open to the end of commit. Cleaning up is not bound by them.
  call_limits limits{};
};

/// An upload that has ended well.
struct committed_object {
  object_metadata object{};
  upload_path path{upload_path::insert};
  /// Of a multipart upload; inserts and resumable uploads are direct and take preconditions.
  commit_mode mode{commit_mode::staged};
  /// Why it did not go as asked; empty when it did.
  std::string fallback{};
  /// All bytes in order, as they were sent.
  std::vector<part_checksum> parts{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/object_upload_request.ipp>
#endif
