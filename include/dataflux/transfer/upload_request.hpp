#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/transfer/part_checksum.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The request of an upload, and its outcome.
namespace dataflux::inline DATAFLUX_ABI {

/// Multipart uploads know no preconditions (protocol.md 2), so that one has to choose.
enum class commit_mode : std::uint8_t {
  /// Uploaded under a temporary name (temporary_objects_prefix), compared there, and then moved, in
  /// one step with a precondition. So a bad object is never visible, and of two concurrent writers
  /// one fails. Needs permission to delete and to move, and two more round trips.
  staged,
  /// Uploaded under its own name. The precondition is checked just before the last request, and
  /// another write in between is lost. An object that does not match its checksum is visible until
  /// that is noticed.
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

struct upload_request {
  std::string bucket{};
  std::string object{};
  object_attributes attributes{};
  /// How more than a part is uploaded. A way that is not permitted is replaced and reported: see
  /// committed_object::fallback.
  commit_mode mode{commit_mode::staged};
  /// The generation that the object must have when it is replaced, 0 = it must not exist. Nothing =
  /// the one found when the upload is opened, which costs a request.
  std::optional<std::int64_t> if_generation_match{};
  /// Added to the message of an already_exists: what the user may do then.
  std::string advice_if_it_exists{};
  /// Added to the message if another program removed the upload meanwhile.
  std::string advice_if_it_is_removed{};
  /// See part_plan_options.
  std::uint64_t part_size{0};
  std::optional<std::uint64_t> size_hint{};
  /// Its on_log() reports replaced ways of uploading, and failed removals. Outlives the upload.
  dataflux::observer* observer{nullptr};
  /// For the whole upload, from open to the end of commit. Cleanup is not bound by them.
  call_limits limits{};
};

/// A successful upload.
struct committed_object {
  object_metadata object{};
  upload_path path{upload_path::insert};
  /// Of a multipart upload; inserts and resumable uploads are direct and take preconditions.
  commit_mode mode{commit_mode::staged};
  /// Why another way was used; empty if none was.
  std::string fallback{};
  /// All bytes in order, as they were sent.
  std::vector<part_checksum> parts{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/upload_request.ipp>
#endif
