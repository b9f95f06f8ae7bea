#pragma once

#include <dataflux/checkpoint/detail/set_scan.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/collecting_sink.hpp>
#include <dataflux/transfer/detail/age.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

/// begin() lists all rows. take_rows() finds the last objects, the manifests and the members of
/// sets that were not committed. advance() then reads the manifests of the sets, some at a time,
/// unless only last objects are asked for. verify() notes of each set why it is not complete, if
/// so.
///
/// idle() comes when nothing is under way: it completes. With one_set a set that seems damaged is
/// listed again before that, since pages are not of one moment. A request that fails ends the scan
/// when those under way have ended. All of it is on the strand.
namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t most_manifest_reads = 16;
inline constexpr int most_looks = 8;

DATAFLUX_INLINE set_scan::set_scan(object_store& store, std::string bucket, std::string folder,
                                   scan_scope scope, open_uploads uploads, member_match match,
                                   call_limits limits, completion done)
    : call_coordinator(store, store.executor(), std::move(limits), std::move(done)),
      bucket_(std::move(bucket)),
      folder_(std::move(folder)),
      scope_(scope),
      wanted_(uploads),
      match_(match) {}

DATAFLUX_INLINE void set_scan::begin() {
  start_list_all(store(), strand(),
                 {.bucket = bucket_,
                  .prefix = folder_,
                  .extra = extra_columns::created | extra_columns::metadata,
                  .limits = limits()},
                 then<listed_rows>([](set_scan& self, result<listed_rows> found) {
                   if (!found) return self.fail(std::move(found).error());
                   self.take_rows(*std::move(found));
                 }));
}

DATAFLUX_INLINE void set_scan::take_rows(listed_rows found) {
  rows_ = std::move(found.rows);
  report_ = {};
  next_ = 0;
  for (auto row = rows_.begin(); row != rows_.end(); ++row) look_at(*row, row.extras());
  for (scanned_set& set : report_.sets) claim_manifest(set);
  report_.served = found.served;
  if (wanted_ == open_uploads::spared) return collect_unfinished();
  const bool one = scope_ == scan_scope::one_set;
  start_list_all(
      store(), strand(),
      list_uploads_request{.bucket = bucket_,
                           .prefix = one ? folder_ + std::string(save_folder_prefix) : folder_,
                           .limits = limits()},
      then<std::vector<listed_upload>>(
          [](set_scan& self, result<std::vector<listed_upload>> uploads) {
            self.take_uploads(std::move(uploads));
          }));
}

/// Who may list objects need not be allowed to list uploads.
DATAFLUX_INLINE void set_scan::take_uploads(result<std::vector<listed_upload>> found) {
  const errc why = found ? errc::ok : found.error().code();
  if (why == errc::permission_denied || why == errc::unimplemented) {
    report_.uploads_unknown = std::move(found).error();
  } else if (!found) {
    return fail(std::move(found).error());
  } else {
    uploads_ = *std::move(found);
  }
  collect_unfinished();
}

DATAFLUX_INLINE void set_scan::collect_unfinished() {
  std::set<std::string_view> known;
  for (const scanned_set& set : report_.sets) known.insert(set.members_folder());
  std::map<std::string_view, unfinished_objects> found;
  for (auto row = rows_.begin(); row != rows_.end(); ++row) {
    const object_row object = *row;
    const object_extras extras = row.extras();
    const auto [folder, manifest] = set_part_of(object.name, extras.metadata);
    if (folder.empty() || known.contains(folder)) continue;
    if (scope_ == scan_scope::one_set && set_folder(folder) != folder_) continue;
    unfinished_objects& set = found[folder];
    set.folder = folder;
    (manifest ? set.manifests : set.members)
        .push_back({std::string(object.name), object.size, object.generation});
    if (!extras.created) continue;
    set.written = std::max(set.written.value_or(*extras.created), *extras.created);
  }
  for (listed_upload& upload : uploads_) {
    const std::string_view folder = save_folder_of(upload.object);
    // What a committed save has left open goes with the next one.
    if (folder.empty() || known.contains(folder)) continue;
    if (scope_ == scan_scope::one_set && set_folder(folder) != folder_) continue;
    unfinished_objects& set = found[folder];
    set.folder = folder;
    set.uploads.push_back({upload.object, 0, 0, std::move(upload.upload_id)});
    if (!upload.initiated) continue;
    set.written = std::max(set.written.value_or(*upload.initiated), *upload.initiated);
  }
  for (auto& [folder, set] : found) report_.unfinished.push_back(std::move(set));
  advance();
}

DATAFLUX_INLINE std::optional<duration> age_of(const unfinished_objects& set,
                                               const std::optional<timestamp>& served) noexcept {
  if (!set.written || !served) return std::nullopt;
  return age_of(*set.written, *served);
}

DATAFLUX_INLINE void set_scan::claim_manifest(scanned_set& set) {
  set.manifest.name = set.folder + set.mark.manifest;
  auto& loose = report_.loose_manifests;  // in order of names, as the rows are
  const auto place = std::lower_bound(
      loose.begin(), loose.end(), set.manifest.name,
      [](const set_object& manifest, const std::string& name) { return manifest.name < name; });
  if (place == loose.end() || place->name != set.manifest.name) return;
  set.manifest = *place;
  loose.erase(place);
}

DATAFLUX_INLINE void set_scan::look_at(const object_row& row, const object_extras& extras) {
  const std::string_view folder = folder_part(row.name);
  if (folder.empty() || (scope_ == scan_scope::one_set && set_folder(folder) != folder_)) return;
  if (is_manifest_name(row.name.substr(folder.size()))) {
    report_.loose_manifests.push_back({std::string(row.name), row.size, row.generation});
  }
  auto mark = find_mark(extras.metadata);
  if (!mark || set_folder(folder) != folder) return;
  scanned_set& set = report_.sets.emplace_back();
  set.folder = folder;
  set.last = {std::string(row.name), row.size, row.generation};
  set.last_crc32c = row.crc32c;
  set.committed = extras.created;
  set.mark = *std::move(mark);
}

DATAFLUX_INLINE void set_scan::advance() {
  if (scope_ == scan_scope::last_objects) return;
  while (next_ < report_.sets.size() && in_flight() < most_manifest_reads && !failed()) {
    read_manifest(next_++);
  }
}

DATAFLUX_INLINE void set_scan::read_manifest(std::size_t index) {
  const set_object& manifest = report_.sets[index].manifest;
  if (manifest.size > longest_set_manifest) {
    report_.sets[index].damage.emplace(
        errc::data_loss, "what the set calls its manifest, " + manifest.name + ", has " +
                             std::to_string(manifest.size) + " bytes, as no manifest has");
    return;
  }
  auto memory = std::make_shared<collecting_sink>(buffer_pool{0});
  memory->reset(longest_set_manifest, collecting_sink::excess::refuse);
  byte_sink& sink = *memory;
  store().start(read_request{.bucket = bucket_,
                             .object = manifest.name,
                             .generation = manifest.generation,
                             .limits = limits()},
                sink,
                then<read_summary>([index, memory](set_scan& self, result<read_summary> outcome) {
                  scanned_set& set = self.report_.sets[index];
                  if (outcome) {
                    self.verify(set, std::string(as_text(memory->bytes())));
                  } else {
                    self.verify(set, std::move(outcome).error());
                  }
                  self.advance();
                }));
}

DATAFLUX_INLINE void set_scan::verify(scanned_set& set, result<std::string> text) {
  if (text) {
    if (auto good = check(set, *text); !good) set.damage = std::move(good).error();
  } else if (text.error().code() == errc::not_found) {
    set.damage.emplace(errc::data_loss, "the set's manifest " + set.mark.manifest + " is missing");
  } else if (text.error().code() == errc::data_loss) {
    set.damage = std::move(text).error();
  } else {
    fail(std::move(text).error());
  }
  if (scope_ == scan_scope::all_below) {
    for (member_record& member : set.members) member.parts = {};
  }
}

DATAFLUX_INLINE result<void> set_scan::check(scanned_set& set, const std::string& text) const {
  if (crc32c(as_bytes(text)) != set.mark.manifest_crc32c) {
    return error{errc::data_loss, "the set's manifest is not the one that was committed"};
  }
  auto manifest = decode_set_manifest(text);
  if (!manifest) return std::move(manifest).error();
  set.members = std::move(manifest->members);
  const bool same = set.last.name == set.folder + manifest->last &&
                    set.last.size == manifest->last_size &&
                    set.last_crc32c.value_or(manifest->last_crc32c) == manifest->last_crc32c;
  if (!same) return error{errc::data_loss, "the last object is not the one that was committed"};
  const std::string folder(set.members_folder());
  if (auto good = check_members(set.members, folder, rows_, match_); !good) return good;
  pin_members(set.members, folder, rows_);
  return {};
}

/// A set may seem damaged at a look that began before its commit, and at one that ended after the
/// next one's. Of three looks at the same last object the second is neither.
DATAFLUX_INLINE bool set_scan::seen_enough() {
  std::vector<std::int64_t> now;
  now.reserve(report_.sets.size());
  for (const scanned_set& set : report_.sets) now.push_back(set.last.generation);
  same_looks_ = std::exchange(seen_, now) == now ? same_looks_ + 1 : 1;
  return same_looks_ == 3;
}

DATAFLUX_INLINE void set_scan::idle() {
  if (failed()) return complete(*failure_);
  const bool damaged = std::any_of(report_.sets.begin(), report_.sets.end(),
                                   [](const scanned_set& set) { return set.damage.has_value(); });
  if (damaged && scope_ == scan_scope::one_set && !seen_enough()) {
    if (++looks_ < most_looks) return begin();
    error why(errc::aborted, "the set is replaced as fast as it is listed");
    return complete(why.with_bucket(bucket_).with_object(folder_).with_retryable(true));
  }
  complete(std::move(report_));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
