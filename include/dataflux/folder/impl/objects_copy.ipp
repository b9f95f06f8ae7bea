#pragma once

#include <dataflux/folder/detail/objects_copy.hpp>
#include <dataflux/folder/detail/same_content.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Requests that the service answers when it has copied: each waits most of its time.
inline constexpr std::size_t most_copies = 64;

/// What both kinds of a copy have; `path` is for messages alone.
inline copy_folder_request common_request(const copy_objects_request& asked) {
  copy_folder_request out;
  out.path = asked.source_bucket;
  out.bucket = asked.bucket;
  out.prefix = asked.prefix;
  out.select = asked.select;
  out.dry_run = asked.dry_run;
  out.delete_extra = asked.delete_extra;
  out.on_error = asked.on_error;
  out.max_failures = asked.max_failures;
  out.item = asked.item;
  out.found = asked.found;
  out.progress = asked.progress;
  out.limits = asked.limits;
  return out;
}

inline copy_objects_request with_folders(copy_objects_request asked) {
  asked.source_prefix = as_folder_prefix(std::move(asked.source_prefix));
  asked.prefix = as_folder_prefix(std::move(asked.prefix));
  return asked;
}

DATAFLUX_INLINE objects_copy::objects_copy(const transfer_context& context,
                                           copy_objects_request request, completion done)
    : folder_copy(context, common_request(request), std::move(done)),
      asked_(with_folders(std::move(request))) {}

DATAFLUX_INLINE result<void> objects_copy::check(const copy_objects_request& request) {
  const copy_objects_request asked = with_folders(request);
  const auto bad = [](const char* why) { return error(errc::invalid_argument, why); };
  if (auto good = validate_bucket_name(asked.source_bucket); !good) return good;
  if (asked.source_bucket == asked.bucket) {
    if (asked.source_prefix == asked.prefix) return bad("prefix: it would be copied onto itself");
    if (asked.move && asked.source_prefix.starts_with(asked.prefix)) {
      return bad("move: the source lies in the target, where names of both may be the same");
    }
    if (asked.delete_extra && asked.source_prefix.starts_with(asked.prefix)) {
      return bad("delete_extra: the source lies in the target, and would be removed");
    }
  }
  if (asked.delete_extra && (asked.rows != nullptr || asked.move)) {
    return bad("delete_extra: not with rows, which may be old, nor with move");
  }
  if (asked.only_changed && asked.no_clobber) {
    return bad("no_clobber: what has changed is replaced by only_changed");
  }
  if (asked.rows == nullptr) return {};
  for (const object_row row : *asked.rows) {
    if (!row.name.starts_with(asked.source_prefix)) {
      return bad("rows: an object is not below the source's prefix");
    }
  }
  return {};
}

DATAFLUX_INLINE fast_list_request objects_copy::listing_of(const std::string& bucket,
                                                           const std::string& prefix) const {
  auto out = listing();
  out.bucket = bucket;
  out.prefix = prefix + selected().prefix();
  if (meets_target()) out.extra = out.extra | extra_columns::created;
  return out;
}

DATAFLUX_INLINE void objects_copy::open() {
  if (asked_.rows != nullptr) {
    source_.emplace(*this, asked_.rows->slice(0, asked_.rows->size()));
  } else {
    source_.emplace(*this, listing_of(asked_.source_bucket, asked_.source_prefix));
  }
  if (meets_target()) there_.emplace(*this, listing_of(asked_.bucket, asked_.prefix));
}

DATAFLUX_INLINE bool objects_copy::turn() {
  if (stopped() || !source_ || (meets_target() && !there_)) return true;
  while (!over_ && copying_ < most_copies && next()) {
  }
  return over_;
}

/// The next object of the source. False: not now, or there is none.
DATAFLUX_INLINE bool objects_copy::next() {
  if (!source_->ready()) {
    if (source_->failure()) {
      over_ = true;
      give_up(*source_->failure());
    } else if (source_->ended()) {
      end_target();
    }
    return false;
  }
  const object_row row = source_->front();
  const std::string_view below = row.name.substr(asked_.source_prefix.size());
  const bool of_target = asked_.source_bucket == asked_.bucket && !asked_.prefix.empty() &&
                         asked_.prefix.starts_with(asked_.source_prefix) &&
                         row.name.starts_with(asked_.prefix);
  if (of_target) return source_->pop(), true;
  one_object one{.source = std::string(row.name),
                 .target = asked_.prefix + std::string(below),
                 .size = row.size,
                 .generation = row.generation,
                 .crc32c = row.crc32c};
  // What is not selected is there all the same, and so no extra name.
  if (there_ && !meet(one.target)) return over_;
  const auto created = source_->extras().created;
  const bool wanted = selected().takes(below, row.size, created);
  bool same = false;
  if (there_ && there_->ready() && there_->front().name == one.target) {
    const listed_state now{there_->front(), there_->extras().created};
    one.replaces = now.row.generation;
    same = same_content({row, created}, now, store().traits());
    there_->pop();
  }
  source_->pop();
  if (wanted) take(one, same && asked_.only_changed);
  return true;
}

/// Goes through the target's names before this one. False: they are not known yet.
DATAFLUX_INLINE bool objects_copy::meet(std::string_view target) {
  while (there_->ready() && there_->front().name < target) {
    note_extra();
    there_->pop();
  }
  if (there_->ready()) return true;
  if (there_->failure()) {
    over_ = true;
    give_up(*there_->failure());
    return false;
  }
  return there_->ended();
}

/// The source has ended: what the target has still is extra.
DATAFLUX_INLINE void objects_copy::end_target() {
  while (there_ && there_->ready()) {
    note_extra();
    there_->pop();
  }
  if (there_ && there_->failure()) give_up(*there_->failure());
  over_ = !there_ || there_->ended() || there_->failure();
}

DATAFLUX_INLINE void objects_copy::note_extra() {
  if (!asked_.delete_extra) return;
  const object_row row = there_->front();
  const std::string_view below = row.name.substr(asked_.prefix.size());
  const bool marker = row.size == 0 && (below.empty() || below.ends_with('/'));
  if (marker || is_reserved_name(row.name)) return;
  if (!selected().takes(below, row.size, there_->extras().created)) return;
  extra_.push_back(
      {.target = std::string(row.name), .size = row.size, .generation = row.generation});
}

DATAFLUX_INLINE void objects_copy::take(const one_object& one, bool same) {
  expect(1, one.size);
  if (same) return done_with(one, copy_outcome::already_there);
  if (asked_.dry_run) return done_with(one, copy_outcome::copied);
  begin(one);
}

DATAFLUX_INLINE void objects_copy::done_with(const one_object& one, copy_outcome how) {
  if (!asked_.dry_run) moved(one.size);
  tell({.outcome = how, .object = one.target, .path = one.source, .bytes = one.size});
}

DATAFLUX_INLINE preconditions objects_copy::conditions_of(const one_object& one) const {
  if (asked_.no_clobber) return {.if_generation_match = 0};
  if (asked_.only_changed) return {.if_generation_match = one.replaces};
  return {};
}

/// A new name in the same bucket, where the store has that.
DATAFLUX_INLINE bool objects_copy::renames() const noexcept {
  return asked_.move && asked_.source_bucket == asked_.bucket && store().traits().moves &&
         asked_.attributes.empty();
}

DATAFLUX_INLINE void objects_copy::begin(const one_object& one) {
  ++copying_;
  renames() ? begin_rename(one) : begin_copy(one);
}

DATAFLUX_INLINE void objects_copy::begin_rename(const one_object& one) {
  const move_request wanted{.bucket = asked_.bucket,
                            .source = one.source,
                            .object = one.target,
                            .source_conditions = {.if_generation_match = one.generation},
                            .conditions = conditions_of(one),
                            .crc32c = one.crc32c,
                            .last_writer_wins = true,
                            .limits = limits()};
  store().start(wanted, back<object_metadata>([this, one](const result<object_metadata>& made) {
                  --copying_;
                  if (!made) return copied(one, made);
                  done_with(one, copy_outcome::copied);
                }));
}

DATAFLUX_INLINE void objects_copy::begin_copy(const one_object& one) {
  const rewrite_request wanted{.source_bucket = asked_.source_bucket,
                               .source = one.source,
                               .source_generation = one.generation,
                               .bucket = asked_.bucket,
                               .object = one.target,
                               .attributes = asked_.attributes,
                               .conditions = conditions_of(one),
                               .last_writer_wins = true,
                               .limits = limits()};
  store().start(wanted, back<object_metadata>([this, one](const result<object_metadata>& made) {
                  --copying_;
                  copied(one, made);
                }));
}

DATAFLUX_INLINE void objects_copy::copied(const one_object& one,
                                          const result<object_metadata>& made) {
  if (made && asked_.move) return remove_source(one);
  if (made) return done_with(one, copy_outcome::copied);
  if (asked_.no_clobber && made.error().http_status() == 412) {
    return done_with(one, copy_outcome::already_there);
  }
  tell_failure(one.target, one.source, made.error());
}

DATAFLUX_INLINE void objects_copy::remove_source(const one_object& one) {
  const remove_request wanted{.bucket = asked_.source_bucket,
                              .object = one.source,
                              .conditions = {.if_generation_match = one.generation},
                              .limits = limits()};
  ++copying_;
  store().start_remove(wanted, back<void>([this, one](const result<void>& removed) {
                         --copying_;
                         if (!removed && removed.error().code() != errc::not_found) {
                           return tell_failure(one.target, one.source, removed.error());
                         }
                         done_with(one, copy_outcome::copied);
                       }));
}

DATAFLUX_INLINE bool objects_copy::remove_extra() {
  while (!extra_.empty() && !stopped() && copying_ < most_copies) {
    const one_object one = std::move(extra_.front());
    extra_.pop_front();
    const copy_item gone{.outcome = copy_outcome::removed, .object = one.target, .bytes = one.size};
    if (asked_.dry_run) {
      tell(gone);
      continue;
    }
    const remove_request wanted{.bucket = asked_.bucket,
                                .object = one.target,
                                .conditions = {.if_generation_match = one.generation},
                                .limits = limits()};
    ++copying_;
    store().start_remove(
        wanted, back<void>([this, one](const result<void>& removed) {
          --copying_;
          if (!removed && removed.error().code() != errc::not_found) {
            return tell_failure(one.target, {}, removed.error());
          }
          tell({.outcome = copy_outcome::removed, .object = one.target, .bytes = one.size});
        }));
  }
  return extra_.empty() || stopped();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
