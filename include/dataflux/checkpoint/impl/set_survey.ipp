#pragma once

#include <dataflux/checkpoint/detail/set_survey.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t most_manifest_reads = 16;

DATAFLUX_INLINE set_survey::set_survey(object_store& store, std::string bucket, std::string folder,
                                       survey_scope scope, member_match match, call_limits limits,
                                       completion done)
    : set_errand(store, std::move(bucket), std::move(limits)),
      folder_(std::move(folder)),
      scope_(scope),
      match_(match),
      done_(std::move(done)) {}

DATAFLUX_INLINE void set_survey::begin() {
  list(folder_, [this](result<object_columns> rows) {
    if (!rows) return refused(std::move(rows).error());
    take_rows(*std::move(rows));
  });
}

DATAFLUX_INLINE void set_survey::refused(error why) {
  failure_ = std::move(why);
  end();
}

DATAFLUX_INLINE void set_survey::take_rows(object_columns rows) {
  rows_ = std::move(rows);
  report_ = {};
  next_ = 0;
  for (auto row = rows_.begin(); row != rows_.end(); ++row) look_at(*row, row.extras());
  for (surveyed_set& set : report_.sets) claim_manifest(set);
  report_.served = served();
  collect_unfinished();
  pump();
}

DATAFLUX_INLINE void set_survey::collect_unfinished() {
  std::set<std::string_view> known;
  for (const surveyed_set& set : report_.sets) known.insert(set.folder);
  std::map<std::string_view, unfinished_objects> found;
  for (auto row = rows_.begin(); row != rows_.end(); ++row) {
    const object_row object = *row;
    const object_extras extras = row.extras();
    std::string_view folder = folder_part(object.name);
    const bool manifest = is_manifest_name(object.name.substr(folder.size()));
    if (!manifest) folder = marked_folder(object.name, extras.metadata);
    if (folder.empty() || known.contains(folder)) continue;
    if (scope_ == survey_scope::one_set && folder != folder_) continue;
    unfinished_objects& set = found[folder];
    set.folder = folder;
    (manifest ? set.manifests : set.members)
        .push_back({std::string(object.name), object.size, object.generation});
    if (!extras.created) continue;
    set.written = std::max(set.written.value_or(*extras.created), *extras.created);
  }
  for (auto& [folder, set] : found) report_.unfinished.push_back(std::move(set));
}

DATAFLUX_INLINE std::optional<duration> age_of(const unfinished_objects& set,
                                               const std::optional<timestamp>& served) noexcept {
  if (!set.written || !served) return std::nullopt;
  return std::max(std::chrono::duration_cast<duration>(*served - *set.written), duration{0});
}

DATAFLUX_INLINE void set_survey::claim_manifest(surveyed_set& set) {
  set.manifest.name = set.folder + set.mark.manifest;
  auto& loose = report_.loose_manifests;  // in order of names, as the rows are
  const auto place = std::lower_bound(
      loose.begin(), loose.end(), set.manifest.name,
      [](const set_object& manifest, const std::string& name) { return manifest.name < name; });
  if (place == loose.end() || place->name != set.manifest.name) return;
  set.manifest = *place;
  loose.erase(place);
}

DATAFLUX_INLINE void set_survey::look_at(const object_row& row, const object_extras& extras) {
  const std::string_view folder = folder_part(row.name);
  if (folder.empty() || (scope_ == survey_scope::one_set && folder != folder_)) return;
  if (is_manifest_name(row.name.substr(folder.size()))) {
    report_.loose_manifests.push_back({std::string(row.name), row.size, row.generation});
  }
  auto mark = find_mark(extras.metadata);
  if (!mark) return;
  surveyed_set& set = report_.sets.emplace_back();
  set.folder = folder;
  set.last = {std::string(row.name), row.size, row.generation};
  set.last_crc32c = row.crc32c;
  set.committed = extras.created;
  set.mark = *std::move(mark);
}

DATAFLUX_INLINE void set_survey::pump() {
  while (next_ < report_.sets.size() && in_flight_ < most_manifest_reads && !failure_) {
    read_manifest(next_++);
  }
  if (in_flight_ == 0) end();
}

DATAFLUX_INLINE void set_survey::read_manifest(std::size_t index) {
  ++in_flight_;
  const surveyed_set& set = report_.sets[index];
  fetch(set.manifest.name, set.manifest.generation, [this, index](result<std::string> text) {
    --in_flight_;
    judge(report_.sets[index], std::move(text));
    pump();
  });
}

DATAFLUX_INLINE void set_survey::judge(surveyed_set& set, result<std::string> text) {
  if (text) {
    if (auto good = check(set, *text); !good) set.damage = std::move(good).error();
  } else if (text.error().code() == errc::not_found) {
    set.damage.emplace(errc::data_loss, "the set's manifest " + set.mark.manifest + " is missing");
  } else if (text.error().code() == errc::data_loss) {
    set.damage = std::move(text).error();
  } else if (!failure_) {
    failure_ = std::move(text).error();
  }
  if (scope_ == survey_scope::all_below) {
    for (member_record& member : set.members) member.parts = {};
  }
}

DATAFLUX_INLINE result<void> set_survey::check(surveyed_set& set, const std::string& text) const {
  if (codec::crc32c(as_bytes(text)) != set.mark.manifest_crc32c) {
    return error{errc::data_loss, "the set's manifest is not the one that was committed"};
  }
  auto manifest = decode_set_manifest(text);
  if (!manifest) return std::move(manifest).error();
  set.members = std::move(manifest->members);
  const bool same = set.last.name == set.folder + manifest->last &&
                    set.last.size == manifest->last_size &&
                    set.last_crc32c.value_or(manifest->last_crc32c) == manifest->last_crc32c;
  if (!same) return error{errc::data_loss, "the last object is not the one that was committed"};
  if (auto good = check_members(set.members, set.folder, rows_, match_); !good) return good;
  pin_members(set.members, set.folder, rows_);
  return {};
}

DATAFLUX_INLINE void set_survey::end() {
  const bool damaged = std::any_of(report_.sets.begin(), report_.sets.end(),
                                   [](const surveyed_set& set) { return set.damage.has_value(); });
  if (!failure_ && damaged && scope_ == survey_scope::one_set && !second_look_) {
    second_look_ = true;
    return begin();
  }
  auto done = std::exchange(done_, {});
  if (failure_) return done(std::move(*failure_));
  done(std::move(report_));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
