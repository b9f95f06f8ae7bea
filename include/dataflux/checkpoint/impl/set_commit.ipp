#pragma once

#include <dataflux/checkpoint/detail/set_commit.hpp>
#include <dataflux/checkpoint/detail/set_removal.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/transfer/detail/list_all.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

///     list and check the members -> write_manifest -> write_last -> succeed
///
/// Over a set the last object is replaced by its generation, list_uploads comes before the
/// manifest, and remove_replaced between the last two. From write_last on nothing that fails is an
/// error of the commit.
///
/// One request is under way at a time, on the strand. A failure before the manifest was sent ends
/// the commit. A manifest that may be there is removed before the failure is told
/// (remove_manifest).
///
/// A failure of the last object's insert says nothing for certain, because one of several attempts
/// may have been carried out. So stat() asks for the object. If it names this manifest the commit
/// has succeeded; if it names another one, somebody else has committed. If all is as before (it is
/// not there, or still the one that was to be replaced), and the service has refused each attempt
/// of the insert (surely_refused), the manifest is removed. Otherwise nobody knows, and the
/// manifest stays, since the last object may name it: over a set, a manifest that is missing then
/// would be that of the only set there is. Requests that mend have a time limit of their own.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// For what mends or finds out what has come of a request, when the caller's limits may be the
/// reason that it is needed.
inline call_limits mending_limits() { return {.timeout = std::chrono::minutes{1}}; }

/// A failed insert of a name of our own that has left nothing behind for certain.
inline bool surely_not_made(errc code) noexcept {
  return code == errc::invalid_argument || code == errc::permission_denied ||
         code == errc::unauthenticated || code == errc::not_found;
}

/// No attempt of a failed insert can still be carried out. One answer does not tell that: an
/// attempt before it may be held up on its way, and a 5xx or a 408 may come of something on the way
/// that has passed the request on. What is kept damaged has been answered, too.
inline bool surely_refused(const error& why) noexcept {
  const int status = why.http_status();
  const bool answered = (status >= 400 && status < 500 && status != 408 && status != 499) ||
                        why.code() == errc::data_loss;
  return answered && !why.outcome_unknown();
}

DATAFLUX_INLINE set_commit::set_commit(object_store& store, std::string bucket, std::string folder,
                                       save_over save, set_manifest manifest, last_object last,
                                       call_limits limits, completion done)
    : call_coordinator(store, store.executor(), std::move(limits), std::move(done)),
      bucket_(std::move(bucket)),
      folder_(std::move(folder)),
      save_(std::move(save)),
      manifest_(std::move(manifest)),
      last_(std::move(last)) {
  manifest_name_ = members_folder().substr(folder_.size()) + manifest_name(system_entropy::bits());
  if (last_.data.empty() && !store.traits().ordered_generations) {
    last_.data = as_bytes(manifest_name_);
    manifest_.last_size = last_.data.size();
    manifest_.last_crc32c = crc32c(last_.data);
  }
  text_ = encode(manifest_);
}

DATAFLUX_INLINE void set_commit::begin() {
  start_list_all(store(), strand(),
                 {.bucket = bucket_,
                  .prefix = folder_,
                  .extra = extra_columns::created | extra_columns::metadata,
                  .limits = limits()},
                 then<listed_rows>([](set_commit& self, result<listed_rows> found) {
                   if (!found) return self.fail(std::move(found).error());
                   self.take_rows(std::move(found->rows));
                 }));
}

DATAFLUX_INLINE std::string set_commit::members_folder() const {
  return over() ? folder_ + save_folder(save_.id) : folder_;
}

DATAFLUX_INLINE void set_commit::take_rows(object_columns rows) {
  if (auto good = check_last(rows); !good) return fail(std::move(good).error());
  auto good = check_members(manifest_.members, members_folder(), rows, member_match::generation);
  if (!good && over()) return look_again(std::move(good).error());
  if (!good) return fail(std::move(good).error());
  if (!over()) return write_manifest();
  rows_ = std::move(rows);
  list_uploads();
}

/// Whoever has one open now began before this commit, so that it cannot be committed after it. One
/// that begins later is none of our business. What they are is not needed for the commit: a failure
/// is told with what could not be removed.
DATAFLUX_INLINE void set_commit::list_uploads() {
  using listed = std::vector<listed_upload>;
  start_list_all(store(), strand(),
                 list_uploads_request{.bucket = bucket_,
                                      .prefix = folder_ + std::string(save_folder_prefix),
                                      .limits = limits()},
                 then<listed>([](set_commit& self, result<listed> found) {
                   self.uploads_ = std::move(found);
                   self.write_manifest();
                 }));
}

/// Is the set that is there the one that this commit may replace?
DATAFLUX_INLINE result<void> set_commit::check_last(const object_columns& rows) const {
  const auto last = rows.find(folder_ + manifest_.last);
  if (!over() && last) return committed_already(manifest_.last);
  const auto mark = last ? find_mark(rows.extras(*last).metadata) : std::nullopt;
  if (last && !mark) {
    return error{errc::already_exists,
                 "an object of somebody else has the last object's name, " + manifest_.last};
  }
  const std::int64_t there = last ? rows.generation(*last) : 0;
  if (there != save_.last_generation || is_another(mark)) return overtaken(last.has_value(), mark);
  if (last) {
    if (auto good = check_bytes(rows[*last]); !good) return good;
  }
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const std::string_view base = (*row).name.substr(folder_.size());
    if (base.find('/') != std::string_view::npos || base == manifest_.last) continue;
    const auto other = find_mark(row.extras().metadata);
    if (other) return over() ? overtaken(true, other) : committed_already(base);
  }
  return {};
}

/// What is there has the bytes of what the save is to replace, and is of another commit.
DATAFLUX_INLINE bool set_commit::is_another(const std::optional<set_mark>& there) const noexcept {
  return there && there->manifest != save_.last_manifest;
}

/// Of what is replaced by what is the same nobody could tell that it was replaced: then of two
/// saves at once both would be committed.
DATAFLUX_INLINE result<void> set_commit::check_bytes(const object_row& replaced) const {
  // A store that tells no checksum has to be taken at its word of the size.
  const bool same = replaced.size == manifest_.last_size &&
                    (!replaced.crc32c || *replaced.crc32c == manifest_.last_crc32c);
  if (!same || store().traits().ordered_generations) return {};
  return error{errc::invalid_argument,
               "last object " + json_quoted(manifest_.last) +
                   ": its bytes are those that it replaces, and this store tells objects apart by "
                   "their bytes: put something of this save into them, such as its id, or leave "
                   "them empty"};
}

/// Whoever commits meanwhile removes our members. Pages are not of one moment: the last object may
/// have been listed before, and the members after.
DATAFLUX_INLINE void set_commit::look_again(error why) {
  store().start(stat_request{.bucket = bucket_,
                             .object = folder_ + last_.name,
                             .fields = metadata_fields::basic | metadata_fields::metadata,
                             .limits = limits()},
                then<object_metadata>(
                    [why = std::move(why)](set_commit& self, const result<object_metadata>& found) {
                      const bool known = found || found.error().code() == errc::not_found;
                      const std::int64_t there = found ? found->generation : 0;
                      const auto mark = found ? find_mark(found->metadata) : std::nullopt;
                      const bool changed =
                          known && (there != self.save_.last_generation || self.is_another(mark));
                      self.fail(changed ? self.overtaken(found.has_value(), mark) : why);
                    }));
}

/// A commit of this very save whose outcome was not told, or that of another process, is no other.
DATAFLUX_INLINE error set_commit::overtaken(bool replaced,
                                            const std::optional<set_mark>& by) const {
  if (by && by->manifest.starts_with(save_folder(save_.id))) {
    return error{errc::already_exists, "this save was committed already"};
  }
  const std::string what = replaced ? "another save was committed here after this one had begun"
                                    : "the set that this save was to replace is gone";
  return error{errc::aborted,
               what + ": of several saves at once one is committed. Save again from the beginning"};
}

DATAFLUX_INLINE void set_commit::write_manifest() {
  store().start(insert_request{.bucket = bucket_,
                               .object = folder_ + manifest_name_,
                               .data = as_bytes(text_),
                               .attributes = {.content_type = "application/x-ndjson",
                                              .kms_key_name = last_.kms_key_name},
                               .conditions = {.if_generation_match = 0},
                               .limits = limits()},
                then<object_metadata>([](set_commit& self, result<object_metadata> made) {
                  self.take_manifest(std::move(made));
                }));
}

DATAFLUX_INLINE void set_commit::take_manifest(result<object_metadata> made) {
  if (made) {
    manifest_generation_ = made->generation;
    return write_last();
  }
  error why = std::move(made).error();
  if (surely_not_made(why.code()) && !why.outcome_unknown()) return fail(std::move(why));
  if (why.code() == errc::already_exists) {
    // Nobody else has this name: the request was carried out twice, on its way.
    why = error{errc::aborted, "the manifest could not be created; commit again"};
    why.with_retryable(true);
  }
  remove_manifest(std::move(why));
}

DATAFLUX_INLINE void set_commit::write_last() {
  insert_request request{.bucket = bucket_,
                         .object = folder_ + last_.name,
                         .data = last_.data,
                         .attributes = {.content_type = last_.content_type,
                                        .metadata = last_.metadata,
                                        .kms_key_name = last_.kms_key_name},
                         .conditions = {.if_generation_match = save_.last_generation},
                         .limits = limits()};
  for (auto& pair : to_metadata({manifest_name_, crc32c(as_bytes(text_))})) {
    request.attributes.metadata.push_back(std::move(pair));
  }
  store().start(request, then<object_metadata>([](set_commit& self, result<object_metadata> made) {
                  if (made) return self.succeed(*std::move(made));
                  self.stat(std::move(made).error());
                }));
}

/// Whatever the failure says, one of several attempts may have been carried out: the object itself
/// is the only witness, and as long as it may name our manifest, that stays.
DATAFLUX_INLINE void set_commit::stat(error why) {
  store().start(
      stat_request{.bucket = bucket_, .object = folder_ + last_.name, .limits = mending_limits()},
      then<object_metadata>(
          [why = std::move(why)](set_commit& self, const result<object_metadata>& found) {
            self.verify(why, found);
          }));
}

DATAFLUX_INLINE void set_commit::verify(error why, const result<object_metadata>& found) {
  const auto mark = found ? find_mark(found->metadata) : std::nullopt;
  if (mark && mark->manifest == manifest_name_) {
    return is_whole(*found, why) ? succeed(*found)
                                 : remove_damaged(std::move(why), found->generation);
  }
  const bool gone = !found && found.error().code() == errc::not_found;
  const std::int64_t there = found ? found->generation : 0;
  if ((found || gone) && there != save_.last_generation) {
    // By its condition our request is refused, whenever it comes.
    if (over() && gone && why.code() == errc::data_loss) {
      why.with_message(why.message() + "; the set that was to be replaced is gone with it");
      return remove_manifest(std::move(why));
    }
    return remove_manifest(over() ? overtaken(found.has_value(), mark)
                                  : committed_already(last_.name));
  }
  if (surely_refused(why) && (found || gone)) return remove_manifest(std::move(why));
  why.with_message(why.message() +
                   "; whether the set was committed is not known, hence its manifest " +
                   manifest_name_ + " was left");
  fail(std::move(why));
}

/// `why` may have come before the client has seen what is kept. An error with a generation is of a
/// damaged object, and the client's removal of it may still be carried out: a set whose last object
/// goes away is none, whatever is there now.
DATAFLUX_INLINE bool set_commit::is_whole(const object_metadata& last, const error& why) const {
  return why.generation() == 0 && last.size == manifest_.last_size &&
         (!last.crc32c || *last.crc32c == manifest_.last_crc32c);
}

/// The client could not remove it.
DATAFLUX_INLINE void set_commit::remove_damaged(error why, std::int64_t generation) {
  store().start(
      remove_request{.bucket = bucket_,
                     .object = folder_ + last_.name,
                     .generation = generation,
                     .limits = mending_limits()},
      then<void>([why = std::move(why), generation](set_commit& self, const result<void>& removed) {
        const bool gone = removed || removed.error().code() == errc::not_found;
        // What nobody has answered may be carried out where there is nothing again.
        const bool certain = gone && (self.over() || surely_refused(why));
        std::string text =
            "the service says that it keeps other bytes of the last object than it was sent; it ";
        text += gone ? "was removed" : "could not be removed: " + removed.error().message();
        if (self.over()) text += "; the set that was to be replaced is lost";
        if (!certain) text += "; its manifest " + self.manifest_name_ + " was left";
        error damaged{errc::data_loss, std::move(text)};
        damaged.with_bucket(self.bucket_).with_object(self.folder_ + self.last_.name);
        damaged.with_generation(generation).with_verb(why.verb()).with_attempts(why.attempts());
        if (certain) return self.remove_manifest(std::move(damaged));
        self.fail(std::move(damaged));
      }));
}

DATAFLUX_INLINE void set_commit::remove_manifest(error why) {
  // Without a generation where that is not known: nobody else has this name.
  store().start(
      remove_request{.bucket = bucket_,
                     .object = folder_ + manifest_name_,
                     .generation = manifest_generation_,
                     .last_writer_wins = true,
                     .limits = mending_limits()},
      then<void>([why = std::move(why)](set_commit& self, const result<void>& removed) mutable {
        if (!removed && removed.error().code() != errc::not_found) {
          why.with_message(why.message() + "; its manifest " + self.manifest_name_ +
                           " could not be removed: " + removed.error().message());
        }
        self.fail(std::move(why));
      }));
}

DATAFLUX_INLINE void set_commit::succeed(object_metadata last) {
  committed_set made{.last = std::move(last),
                     .manifest = folder_ + manifest_name_,
                     .members = manifest_.members.size()};
  for (const member_record& member : manifest_.members) made.bytes += member.size;
  if (over()) return remove_replaced(std::move(made));
  complete(std::move(made));
}

DATAFLUX_INLINE void set_commit::remove_replaced(committed_set made) {
  auto removed = then<removal_report>(
      [made = std::move(made)](set_commit& self, result<removal_report> report) mutable {
        made.replaced = std::move(report).value_or(removal_report{});
        self.complete(std::move(made));
      });
  std::make_shared<replaced_removal>(store(), bucket_, folder_, last_.name, members_folder(),
                                     std::move(rows_), std::move(uploads_), limits(),
                                     std::move(removed))
      ->start();
}

DATAFLUX_INLINE void set_commit::fail(error why) {
  if (why.bucket().empty()) why.with_bucket(bucket_).with_object(folder_);
  call_coordinator::fail(std::move(why));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
