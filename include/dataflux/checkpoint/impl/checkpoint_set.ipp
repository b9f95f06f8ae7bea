#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/detail/open_set.hpp>
#include <dataflux/checkpoint/detail/record_text.hpp>
#include <dataflux/checkpoint/detail/set_commit.hpp>
#include <dataflux/checkpoint/detail/set_removal.hpp>
#include <dataflux/checkpoint/detail/set_scan.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/store/detail/unmet_condition.hpp>
#include <dataflux/store/detail/validate.hpp>

#include <algorithm>
#include <utility>

/// A set has no state in this process. Members are uploaded directly, the manifest is written, and
/// then the last object, which names the manifest, is created: that is the commit (set_commit).
///
/// A save over a set has its members and manifest in a folder of its own, and replaces the last
/// object by its generation. Then replaced_removal removes what the commit's listings show of other
/// saves, objects and open uploads: they know another generation and cannot be committed any more.
/// A save that began after the listing is alive and stays. While a last object may still appear,
/// its manifest stays.
///
/// set_scan is the one listing that open, list, keep_last and begin share. A member's metadata says
/// that it is one (member_mark), so a killed save's members are known without another request.
/// Open uploads have no metadata: names tell those of a save over a set (save_folder_of).
namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline result<void> validate_last(const last_object& last, const std::string& bucket,
                                  const std::string& folder) {
  const auto bad = [&last](const char* why) {
    return error{errc::invalid_argument, "last object " + json_quoted(last.name) + ": " + why};
  };
  if (last.name.empty() || last.name.find('/') != std::string::npos) {
    return bad("its name lies directly below the set's prefix: not empty, without a slash");
  }
  if (last.name != set_marker_name && !validate_member_name(last.name)) {
    return bad("names that begin with \".dataflux-\" are the set's own");
  }
  for (const auto& [key, value] : last.metadata) {
    if (key.starts_with("dataflux-")) return bad("metadata keys \"dataflux-*\" are the set's own");
  }
  if (auto good = validate_one_line(last.name); !good) return good;
  return validate(insert_request{.bucket = bucket,
                                 .object = folder + last.name,
                                 .attributes = {.content_type = last.content_type,
                                                .metadata = last.metadata,
                                                .kms_key_name = last.kms_key_name}});
}

/// All that can be wrong with a commit before anything is sent.
inline result<set_manifest> make_manifest(std::vector<member_record> members,
                                          const last_object& last, const std::string& folder) {
  if (members.empty()) return error{errc::invalid_argument, "a set has at least one member"};
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const member_record* before = nullptr;
  for (const member_record& member : members) {
    if (auto good = validate(member); !good) return std::move(good).error();
    const std::string object = folder + member.name;
    if (auto good = validate_object_name(object); !good) return std::move(good).error();
    if (auto good = validate_one_line(object); !good) return std::move(good).error();
    const bool twice = before != nullptr && before->name == member.name;
    if (twice || member.name == last.name) {
      return error{errc::invalid_argument, "member " + json_quoted(member.name) +
                                               (twice ? ": two members have this name"
                                                      : ": the last object has this name")};
    }
    before = &member;
  }
  return set_manifest{last.name, last.data.size(), crc32c(last.data), std::move(members)};
}

/// Which last object a new save over the set of a folder replaces.
inline result<save_over> save_over_what(const set_scan_report& report, const std::string& folder) {
  save_over save;
  append_hex(save.id, system_entropy::bits());
  for (const scanned_set& set : report.sets) {
    if (set.folder != folder) continue;
    if (!save.last.empty()) {
      return error{errc::failed_precondition,
                   "several sets were committed here, of which no save can replace one"};
    }
    save.last = set.last.name.substr(folder.size());
    save.last_generation = set.last.generation;
    save.last_manifest = set.mark.manifest;
  }
  return save;
}

/// The one set that open() gives.
inline result<scanned_set> choose_set(set_scan_report report, const std::string& folder,
                                      const std::string& last) {
  std::vector<scanned_set>& sets = report.sets;
  if (!last.empty()) {
    std::erase_if(sets, [&](const scanned_set& set) { return set.last.name != folder + last; });
  }
  if (sets.empty()) {
    return error{errc::failed_precondition,
                 "not a complete set: no last object" +
                     (last.empty() ? std::string() : " " + json_quoted(last)) +
                     (report.unfinished.empty()
                          ? ""
                          : "; a save, a commit or a removal is under way, or was given up")};
  }
  if (sets.size() > 1) {
    return error{errc::failed_precondition,
                 "several sets were committed here; name the last object of one of them"};
  }
  if (sets[0].damage) return *sets[0].damage;
  return std::move(sets[0]);
}

}  // namespace detail

DATAFLUX_INLINE checkpoint_set::checkpoint_set(transfer_context context, std::string bucket,
                                               std::string prefix)
    : context_(std::move(context)), bucket_(std::move(bucket)), prefix_(std::move(prefix)) {}

DATAFLUX_INLINE void checkpoint_set::start_begin(
    unfinished_members unfinished, const call_limits& limits,
    object_store::completion<removal_report> done) const {
  auto folder = detail::folder_of(prefix_);
  if (!folder) return done(std::move(folder).error());
  if (auto commits = detail::check_commits(context_.store().traits()); !commits) {
    return done(std::move(commits.error().with_bucket(bucket_).with_object(*folder)));
  }
  if (save_) {
    return done(error{errc::failed_precondition, "a save over a set has been begun already"});
  }
  auto removed = [bucket = bucket_, done = std::move(done)](result<removal_report> report) mutable {
    if (!report || report->failures.empty()) return done(std::move(report));
    const failed_removal& first = report->failures.front();
    done(error(first.why).with_bucket(bucket).with_object(first.name));
  };
  std::make_shared<detail::unfinished_removal>(context_.store(), bucket_, *std::move(folder),
                                               unfinished, limits, std::move(removed))
      ->start();
}

DATAFLUX_INLINE operation<removal_report> checkpoint_set::submit_begin(
    unfinished_members unfinished, call_limits limits) const {
  return start_operation<removal_report>(
      limits, [&](auto done) { start_begin(unfinished, limits, std::move(done)); });
}

DATAFLUX_INLINE result<removal_report> checkpoint_set::begin(unfinished_members unfinished,
                                                             call_limits limits) const {
  return submit_begin(unfinished, std::move(limits)).take();
}

DATAFLUX_INLINE void checkpoint_set::start_begin_over(
    const call_limits& limits, object_store::completion<save_over> done) const {
  auto folder = detail::folder_of(prefix_);
  if (!folder) return done(std::move(folder).error());
  if (auto commits = detail::check_commits(context_.store().traits()); !commits) {
    return done(std::move(commits.error().with_bucket(bucket_).with_object(*folder)));
  }
  auto scanned = [scheme = context_.store().traits().scheme, bucket = bucket_, folder = *folder,
                  done = std::move(done)](result<detail::set_scan_report> report) mutable {
    if (!report) return done(std::move(report).error());
    auto save = detail::save_over_what(*report, folder);
    if (!save) save.error().with_scheme(scheme).with_bucket(bucket).with_object(folder);
    done(std::move(save));
  };
  std::make_shared<detail::set_scan>(context_.store(), bucket_, *std::move(folder),
                                     detail::scan_scope::last_objects, detail::open_uploads::spared,
                                     member_match::content, limits, std::move(scanned))
      ->start();
}

DATAFLUX_INLINE operation<save_over> checkpoint_set::submit_begin_over(call_limits limits) const {
  return start_operation<save_over>(limits,
                                    [&](auto done) { start_begin_over(limits, std::move(done)); });
}

DATAFLUX_INLINE result<save_over> checkpoint_set::begin_over(call_limits limits) const {
  return submit_begin_over(std::move(limits)).take();
}

DATAFLUX_INLINE checkpoint_set checkpoint_set::over(save_over save) const {
  checkpoint_set other = *this;
  other.save_ = std::move(save);
  return other;
}

DATAFLUX_INLINE result<std::string> checkpoint_set::members_folder() const {
  auto folder = detail::folder_of(prefix_);
  if (!folder || !save_) return folder;
  if (auto good = validate(*save_); !good) return std::move(good).error();
  return folder->append(detail::save_folder(save_->id));
}

DATAFLUX_INLINE result<upload_request> checkpoint_set::member_request(std::string_view name,
                                                                      upload_request how) const {
  auto folder = members_folder();
  if (!folder) return std::move(folder).error();
  if (auto good = validate_member_name(name); !good) return std::move(good).error();
  for (const auto& [key, value] : how.attributes.metadata) {
    if (!key.starts_with("dataflux-")) continue;
    return error(errc::invalid_argument, "metadata keys \"dataflux-*\" are the set's own");
  }
  how.attributes.metadata.push_back(detail::member_mark(name));
  how.bucket = bucket_;
  how.object = folder->append(name);
  how.mode = commit_mode::direct;
  how.advice_if_it_exists =
      !save_
          ? "if an earlier save has left it, to begin with unfinished = replace removes what was "
            "not committed"
          : "if an earlier attempt of this save has left it, begin over again; in C++ "
            "replace_member() writes it anew, too";
  if (save_) {
    how.advice_if_it_is_removed =
        "another save of this set was committed meanwhile, and removes what others have begun: of "
        "several saves at once one is committed";
  }
  return how;
}

DATAFLUX_INLINE void checkpoint_set::start_replace_member(
    std::string_view name, upload_request how,
    object_store::completion<checkpoint_writer> done) const {
  auto request = member_request(name, std::move(how));
  if (!request) return done(std::move(request).error());
  checkpoint_writer::start_open(context_, *std::move(request), std::move(done));
}

DATAFLUX_INLINE operation<checkpoint_writer> checkpoint_set::submit_replace_member(
    std::string_view name, upload_request how) const {
  if (auto request = member_request(name, std::move(how)); request) {
    return checkpoint_writer::submit_open(context_, *std::move(request));
  } else {
    call_limits limits{};
    return start_operation<checkpoint_writer>(limits,
                                              [&](auto done) { done(std::move(request).error()); });
  }
}

DATAFLUX_INLINE result<checkpoint_writer> checkpoint_set::replace_member(std::string_view name,
                                                                         upload_request how) const {
  return submit_replace_member(name, std::move(how)).take();
}

DATAFLUX_INLINE void checkpoint_set::start_open_member(
    std::string_view name, upload_request how,
    object_store::completion<checkpoint_writer> done) const {
  how.if_generation_match = 0;
  start_replace_member(name, std::move(how), std::move(done));
}

DATAFLUX_INLINE operation<checkpoint_writer> checkpoint_set::submit_open_member(
    std::string_view name, upload_request how) const {
  how.if_generation_match = 0;
  return submit_replace_member(name, std::move(how));
}

DATAFLUX_INLINE result<checkpoint_writer> checkpoint_set::open_member(std::string_view name,
                                                                      upload_request how) const {
  return submit_open_member(name, std::move(how)).take();
}

DATAFLUX_INLINE result<member_record> checkpoint_set::record_of(
    const committed_object& made) const {
  const auto folder = members_folder();
  if (!folder) return folder.error();
  const object_metadata& object = made.object;
  if (object.bucket != bucket_ || !object.name.starts_with(*folder)) {
    return error{errc::invalid_argument,
                 detail::json_quoted(object.name) + " is no object of the set below " + *folder};
  }
  member_record record{.name = object.name.substr(folder->size()),
                       .size = object.size,
                       .generation = object.generation};
  crc32c_accumulator whole;
  for (const part_checksum& part : made.parts) {
    whole.append({part.crc32c, part.size});
    if (part.size > 0) record.parts.push_back(part);
  }
  // The service's, where it tells one: a difference is found below.
  record.crc32c = object.crc32c.value_or(whole.crc());
  if (auto good = validate(record); !good) return std::move(good).error();
  return record;
}

DATAFLUX_INLINE void checkpoint_set::start_commit(
    std::vector<member_record> members, last_object last, const call_limits& limits,
    object_store::completion<committed_set> done) const {
  auto folder = detail::folder_of(prefix_);
  if (!folder) return done(std::move(folder).error());
  if (auto good = detail::validate_last(last, bucket_, *folder); !good) {
    return done(std::move(good).error());
  }
  if (save_ && !save_->last.empty() && save_->last != last.name) {
    return done(error{
        errc::invalid_argument,
        "the last object that is replaced has another name, " + detail::json_quoted(save_->last)});
  }
  const auto beside = members_folder();
  if (!beside) return done(beside.error());
  auto manifest = detail::make_manifest(std::move(members), last, *beside);
  if (!manifest) return done(std::move(manifest).error());
  std::make_shared<detail::set_commit>(context_.store(), bucket_, *std::move(folder),
                                       save_.value_or(save_over{}), *std::move(manifest),
                                       std::move(last), limits, std::move(done))
      ->start();
}

DATAFLUX_INLINE operation<committed_set> checkpoint_set::submit_commit(
    std::vector<member_record> members, last_object last, call_limits limits) const {
  return start_operation<committed_set>(limits, [&](auto done) {
    start_commit(std::move(members), std::move(last), limits, std::move(done));
  });
}

DATAFLUX_INLINE result<committed_set> checkpoint_set::commit(std::vector<member_record> members,
                                                             last_object last,
                                                             call_limits limits) const {
  return submit_commit(std::move(members), std::move(last), std::move(limits)).take();
}

DATAFLUX_INLINE void checkpoint_set::start_open(
    std::string last, const call_limits& limits,
    object_store::completion<checkpoint_set_reader> done, member_match match) const {
  auto folder = detail::folder_of(prefix_);
  if (!folder) return done(std::move(folder).error());
  auto scanned = [context = context_, scheme = context_.store().traits().scheme, bucket = bucket_,
                  folder = *folder, last = std::move(last),
                  done = std::move(done)](result<detail::set_scan_report> report) mutable {
    if (!report) return done(std::move(report).error());
    auto set = detail::choose_set(*std::move(report), folder, last);
    if (!set) {
      error& why = set.error();
      return done(std::move(why.with_scheme(scheme).with_bucket(bucket).with_object(folder)));
    }
    auto opened =
        std::make_shared<detail::open_set>(detail::open_set{std::move(context),
                                                            std::move(bucket),
                                                            detail::info_of(*set),
                                                            std::string(set->members_folder()),
                                                            set->last,
                                                            set->last_crc32c,
                                                            {},
                                                            {}});
    opened->members = std::move(set->members);
    done(checkpoint_set_reader(std::move(opened)));
  };
  std::make_shared<detail::set_scan>(context_.store(), bucket_, *std::move(folder),
                                     detail::scan_scope::one_set, detail::open_uploads::spared,
                                     match, limits, std::move(scanned))
      ->start();
}

DATAFLUX_INLINE operation<checkpoint_set_reader> checkpoint_set::submit_open(
    std::string last, call_limits limits, member_match match) const {
  return start_operation<checkpoint_set_reader>(
      limits, [&](auto done) { start_open(std::move(last), limits, std::move(done), match); });
}

DATAFLUX_INLINE result<checkpoint_set_reader> checkpoint_set::open(std::string last,
                                                                   call_limits limits,
                                                                   member_match match) const {
  return submit_open(std::move(last), std::move(limits), match).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI
