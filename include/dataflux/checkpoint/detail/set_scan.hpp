#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/transfer/detail/list_all.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// An object that a set's own names refer to.
struct set_object {
  std::string name{};  ///< in the bucket
  std::uint64_t size{0};
  std::int64_t generation{0};
  /// Of an upload that is still open, and no object yet; else empty.
  std::string upload_id{};
};

/// A set whose last object is there.
struct scanned_set {
  std::string folder{};  ///< with the slash
  set_object last{};
  std::optional<std::uint32_t> last_crc32c{};
  std::optional<timestamp> committed{};
  set_mark mark{};
  /// What the last object names; its size and generation are 0 where the listing has it not.
  set_object manifest{};
  /// Of its manifest, as far as that could be read; with the generations that are there, if it is
  /// complete.
  std::vector<member_record> members{};
  /// Why it is not complete; nothing when it is.
  std::optional<error> damage{};

  /// With the slash.
  std::string_view members_folder() const noexcept { return folder_part(manifest.name); }
};

/// The oldest commit first; of one time, by name.
inline bool committed_before(const scanned_set& a, const scanned_set& b) noexcept {
  return a.committed != b.committed ? a.committed < b.committed : a.last.name < b.last.name;
}

/// What was written into one folder for a set, and no last object has committed it.
struct unfinished_objects {
  std::string folder{};
  std::vector<set_object> members{};
  std::vector<set_object> manifests{};
  std::vector<set_object> uploads{};   ///< of members of a save over a set, that are open
  std::optional<timestamp> written{};  ///< the last of them; of an upload, when it began
};

struct set_scan_report {
  /// In order of the last objects' names.
  std::vector<scanned_set> sets{};
  /// Manifests that no last object names: of commits under way, or given up.
  std::vector<set_object> loose_manifests{};
  /// In order of folders.
  std::vector<unfinished_objects> unfinished{};
  /// When the bucket was listed, by the service's clock.
  std::optional<timestamp> served{};
  /// Why open uploads are not among them, where they may not be listed.
  std::optional<error> uploads_unknown{};
};

/// Since when nothing was written for it; nothing where the service does not tell.
std::optional<duration> age_of(const unfinished_objects& set,
                               const std::optional<timestamp>& served) noexcept;

/// Whether a scan lists what is open, too: by one request more.
enum class open_uploads : std::uint8_t { spared, listed };

enum class scan_scope : std::uint8_t {
  one_set,       ///< the set of that very folder
  all_below,     ///< and all in folders below; without the parts of members
  last_objects,  ///< of all those: no manifest is read, nothing is known of members and damage
};

/// Finds what sets there are, and whether they are complete: one listing, and each
/// manifest. A set that is committed, replaced or removed meanwhile may seem damaged, because pages
/// are not of one moment. one_set lists again before it says so, until three in a row show the same
/// last object. Errors: aborted, and retryable, for a set that is replaced as fast as it is listed.
class set_scan final : public call_coordinator<set_scan, set_scan_report> {
 public:
  /// `folder` ends with a slash, or is empty for the whole bucket.
  set_scan(object_store& store, std::string bucket, std::string folder, scan_scope scope,
           open_uploads uploads, member_match match, call_limits limits, completion done);
  void start() { coordinator::start(bucket_); }
  void begin();
  void idle();

 private:
  void take_rows(listed_rows found);
  void look_at(const object_row& row, const object_extras& extras);
  void claim_manifest(scanned_set& set);
  void take_uploads(result<std::vector<listed_upload>> found);
  void collect_unfinished();
  bool seen_enough();
  void advance();
  void read_manifest(std::size_t index);
  void verify(scanned_set& set, result<std::string> text);
  result<void> check(scanned_set& set, const std::string& text) const;

  const std::string bucket_;
  const std::string folder_;
  const scan_scope scope_;
  const open_uploads wanted_;
  const member_match match_;
  object_columns rows_{};
  std::vector<listed_upload> uploads_{};
  set_scan_report report_{};
  std::size_t next_{0};  ///< of report_.sets: whose manifest is to be read
  /// Generations of last objects, at the look before.
  std::vector<std::int64_t> seen_{};
  int same_looks_{0};
  int looks_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/set_scan.ipp>
#endif
