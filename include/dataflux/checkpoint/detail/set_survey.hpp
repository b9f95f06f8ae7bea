#pragma once

#include <dataflux/checkpoint/detail/set_errand.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// An object that a set's own names refer to.
struct set_object {
  std::string name{};  ///< in the bucket
  std::uint64_t size{0};
  std::int64_t generation{0};
};

/// A set whose last object is there.
struct surveyed_set {
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
};

/// The oldest commit first; of one time, by name.
inline bool committed_before(const surveyed_set& a, const surveyed_set& b) noexcept {
  return a.committed != b.committed ? a.committed < b.committed : a.last.name < b.last.name;
}

/// What was written for a set in whose folder there is no last object.
struct unfinished_objects {
  std::string folder{};
  std::vector<set_object> members{};
  std::vector<set_object> manifests{};
  std::optional<timestamp> written{};  ///< the last of them
};

struct set_survey_report {
  /// In order of the last objects' names.
  std::vector<surveyed_set> sets{};
  /// Manifests that no last object names: of commits under way, or given up.
  std::vector<set_object> loose_manifests{};
  /// In order of folders.
  std::vector<unfinished_objects> unfinished{};
  /// When the bucket was listed, by the service's clock.
  std::optional<timestamp> served{};
};

/// Since when nothing was written for it; nothing where the service does not tell.
std::optional<duration> age_of(const unfinished_objects& set,
                               const std::optional<timestamp>& served) noexcept;

enum class survey_scope : std::uint8_t {
  one_set,   ///< the set of that very folder
  all_below  ///< and all in folders below; without the parts of members
};

/// Private: looks what sets there are, and whether they are complete: one listing, and each
/// manifest. A set that is committed or removed meanwhile may look damaged, because pages are not
/// of one moment; one_set looks a second time before it says so.
class set_survey final : public set_errand {
 public:
  using completion = object_store::completion<set_survey_report>;
  /// `folder` ends with a slash, or is empty for the whole bucket.
  set_survey(object_store& store, std::string bucket, std::string folder, survey_scope scope,
             member_match match, call_limits limits, completion done);

 private:
  void begin() override;
  void refused(error why) override;
  void take_rows(object_columns rows);
  void look_at(const object_row& row, const object_extras& extras);
  void claim_manifest(surveyed_set& set);
  void collect_unfinished();
  void pump();
  void read_manifest(std::size_t index);
  void judge(surveyed_set& set, result<std::string> text);
  result<void> check(surveyed_set& set, const std::string& text) const;
  void end();

  const std::string folder_;
  const survey_scope scope_;
  const member_match match_;
  completion done_;
  object_columns rows_{};
  set_survey_report report_{};
  std::size_t next_{0};  ///< of report_.sets: whose manifest is to be read
  std::size_t in_flight_{0};
  bool second_look_{false};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/set_survey.ipp>
#endif
