#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/list/detail/share_board.hpp>
#include <dataflux/transfer/detail/told_rows.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

/// How the processes of a share_board agree, and look at what the others have done.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Between two looks when nothing is to be taken: from the first of these up to the other.
inline constexpr duration least_share_pause = std::chrono::milliseconds(50);
inline constexpr duration most_share_pause = std::chrono::seconds(1);
inline constexpr std::size_t full_page = 1000;
/// Of a look, for each page that the last one took: many processes look at the same time.
inline constexpr duration share_pause_per_page = std::chrono::milliseconds(200);

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::share(std::string text) {
  text_ = std::move(text);
  this->store().start(
      creation(on_board(share_listing_name), as_bytes(text_)),
      this->template then<object_metadata>([](Self& self, const result<object_metadata>& made) {
        if (!self.failed()) self.agree(made);
      }));
}

/// Whoever creates the object has said what is shared; all others compare.
template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::agree(const result<object_metadata>& made) {
  if (made && made->created) {
    this->self().agreed(*made->created);
    return join_crew();
  }
  // The reply to a write need not say when it was.
  if (made) return date_board();
  if (made.error().code() != errc::already_exists) return this->fail(made.error());
  start_read_share(
      this->store(),
      {.bucket = at_.bucket, .object = on_board(share_listing_name), .limits = this->limits()},
      this->template then<std::string>([](Self& self, result<std::string> text) {
        if (self.failed()) return;
        if (!text) return self.fail(std::move(text).error());
        self.compare(*text);
      }));
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::compare(const std::string& there) {
  const auto refuse = [&](error why) {
    this->fail(std::move(why.with_bucket(at_.bucket).with_object(on_board(share_listing_name))));
  };
  const result<std::string> what = this->self().difference(as_bytes(there));
  if (!what) return refuse({errc::data_loss, "the board's listing is not what this library wrote"});
  if (!what->empty()) {
    return refuse(
        {errc::invalid_argument, "the board is of another listing, with another " + *what +
                                     ": choose another board, or remove what lies on this one"});
  }
  date_board();
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::date_board() {
  this->store().start(
      stat_request{.bucket = at_.bucket,
                   .object = on_board(share_listing_name),
                   .fields = metadata_fields::created,
                   .limits = this->limits()},
      this->template then<object_metadata>([](Self& self, result<object_metadata> found) {
        if (self.failed()) return;
        if (!found) return self.fail(std::move(found).error());
        self.agreed(found->created.value_or(timestamp{}));
        self.join_crew();
      }));
}

/// Nobody else makes an object of that name: one that is there is of a request that came twice.
template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::join_crew() {
  this->store().start(
      creation(on_board(share_crew, token_), {}),
      this->template then<object_metadata>([](Self& self, result<object_metadata> made) {
        if (self.failed()) return;
        if (!made && made.error().code() != errc::already_exists) {
          return self.fail(std::move(made).error());
        }
        self.look();
      }));
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::look() {
  looking_ = true;
  fast_list_request board{.bucket = at_.bucket,
                          .prefix = at_.prefix,
                          .start_offset = on_board(share_claim),
                          .end_offset = after_prefix(on_board(share_done)),
                          .extra = extra_columns::metadata,
                          .parallelism = board_rows_ < full_page ? 1U : 8U,
                          .limits = this->limits()};
  start_fast_list(this->store(), board,
                  this->template then<listing>([](Self& self, result<listing> seen) {
                    self.looking_ = false;
                    if (!self.failed()) self.looked(std::move(seen));
                  }));
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::looked(result<listing> board) {
  if (!board) return this->fail(std::move(board).error());
  const time_point now = this->strand().now();
  board_rows_ = board->objects.size();
  if (this->store().traits().lists_metadata) return take_board(board->objects, now);
  // What is new of the done is asked for its mark.
  listed_before asked{.bucket = at_.bucket, .extra = extra_columns::metadata};
  object_columns others;
  for (const object_row row : board->objects) {
    const std::string_view name = row.name.substr(at_.prefix.size());
    const bool is_done = name.starts_with(share_done);
    if (is_done && plan_.done(name.substr(share_done.size()))) continue;
    (is_done ? asked.rows : others).append(row.name, row.size, row.generation, row.crc32c);
  }
  looking_ = true;
  start_told_rows(
      this->store(), this->strand(), std::move(asked), this->limits(),
      this->template then<object_columns>(
          [now, others = std::move(others)](Self& self, result<object_columns> told) mutable {
            self.looking_ = false;
            if (self.failed()) return;
            if (!told) return self.fail(std::move(told).error());
            others.append(*std::move(told));
            self.take_board(others, now);
          }));
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::take_board(const object_columns& rows, time_point now) {
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const std::string_view name = (*row).name.substr(at_.prefix.size());
    if (name.starts_with(share_crew)) plan_.saw_rank(name);
    if (name.starts_with(share_claim) && share_plan::is_task(name.substr(share_claim.size()))) {
      plan_.saw_claim(name.substr(share_claim.size()), (*row).generation, now);
    }
    if (!name.starts_with(share_done)) continue;
    const std::string_view id = name.substr(share_done.size());
    const auto found = find_share_mark(row.extras().metadata);
    if (!share_plan::is_task(id) || !found) {
      return this->fail(
          error(errc::data_loss, "an object of the board is not what this library writes")
              .with_bucket(at_.bucket)
              .with_object((*row).name));
    }
    if (!plan_.done(id)) this->self().saw(id, *found);
    plan_.saw_done(id, found->children);
  }
  plan_.looked();
  take_tasks();
}

/// Nothing is to be taken: what others do, or leave, a later look shows.
template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::rest() {
  if (resting_ != timer_id::none) return;
  const duration lease = or_default(at_.lease, usual_share_lease);
  const auto pages = static_cast<std::int64_t>(board_rows_ / full_page);
  const duration most =
      std::max(most_share_pause, std::min(pages * share_pause_per_page, lease / 4));
  pause_ = std::clamp(2 * pause_, least_share_pause, most);
  resting_ = this->strand().at(this->strand().now() + pause_, [self = this->shared_from_this()] {
    self->resting_ = timer_id::none;
    if (self->completed() || self->failed() || self->looking_) return;
    self->make_step([](Self& here) { here.look(); });
  });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
