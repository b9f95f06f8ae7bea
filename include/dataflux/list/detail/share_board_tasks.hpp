#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/or_default.hpp>
#include <dataflux/detail/unique_name.hpp>
#include <dataflux/list/detail/share_board.hpp>
#include <dataflux/store/detail/unmet_condition.hpp>

#include <algorithm>
#include <utility>

/// A task of a share_board, from its claim to its done.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Tasks of a process at a time, each with its part of the calls in flight.
inline constexpr std::size_t share_lanes = 12;

template <class Self, class Value, class Task>
share_board<Self, Value, Task>::share_board(object_store& store, scheduler& strand,
                                            call_limits limits, share_place at,
                                            std::uint32_t parallelism,
                                            typename base::completion done)
    : base(store, strand, std::move(limits), std::move(done)),
      at_(std::move(at)),
      token_(hashed_name("", std::to_string(system_entropy::bits()))),
      parallelism_(parallelism),
      plan_(system_entropy::bits(), or_default(at_.lease, usual_share_lease),
            std::min<std::size_t>(share_lanes, parallelism)) {}

template <class Self, class Value, class Task>
std::string share_board<Self, Value, Task>::on_board(std::string_view kind,
                                                     std::string_view rest) const {
  return std::string(at_.prefix).append(kind).append(rest);
}

template <class Self, class Value, class Task>
insert_request share_board<Self, Value, Task>::creation(const std::string& object,
                                                        bytes_view data) const {
  return {.bucket = at_.bucket,
          .object = object,
          .data = data,
          .conditions = {.if_generation_match = 0},
          .limits = this->limits()};
}

template <class Self, class Value, class Task>
std::uint64_t share_board<Self, Value, Task>::lanes() const noexcept {
  return std::min<std::uint64_t>(share_lanes, parallelism_);
}

template <class Self, class Value, class Task>
std::uint32_t share_board<Self, Value, Task>::slots_of(const Task& t) const noexcept {
  return std::max(1U, parallelism_ / static_cast<std::uint32_t>(t.task.lanes));
}

/// After each task: the next one, behind a look where what is known is old.
template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::advance() {
  if (this->failed() || looking_) return;
  if (!plan_.whole() && plan_.must_look()) return look();
  take_tasks();
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::take_tasks() {
  if (plan_.whole()) {
    // A task that another process was faster with ends, too, and takes its part away.
    if (tasks_ != 0 || std::exchange(ended_, true)) return;
    if (resting_ != timer_id::none) {
      this->strand().cancel(std::exchange(resting_, timer_id::none));
    }
    return this->self().whole();
  }
  while (tasks_ < lanes()) {
    auto task = plan_.next(this->strand().now());
    if (!task) return rest();
    pause_ = duration{0};
    auto t = std::make_shared<Task>();
    t->task = *std::move(task);
    ++tasks_;
    claim(t);
  }
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::claim(const task_ptr& t) {
  // Two that take over a dead one's claim at once must not write the same.
  if (!this->store().traits().ordered_generations) {
    t->claim = std::to_string(system_entropy::bits());
  }
  insert_request r = creation(on_board(share_claim, t->task.id), as_bytes(t->claim));
  r.conditions.if_generation_match = t->task.claim > 0 ? t->task.claim : 0;
  this->store().start(
      r, this->template then<object_metadata>([t](Self& self, result<object_metadata> made) {
        if (self.failed()) return;
        if (made) return self.take(t);
        const errc why = made.error().code();
        // Whoever may not replace objects does the task without a claim of its own.
        if (why == errc::permission_denied && t->task.claim > 0) return self.take(t);
        if (!is_unmet_condition(made.error())) {
          return self.fail(std::move(made).error());
        }
        self.plan_.lost(t->task, self.strand().now());
        self.leave();
      }));
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::leave() {
  --tasks_;
  advance();
}

template <class Self, class Value, class Task>
std::string share_board<Self, Value, Task>::part_of(const Task& t) const {
  return on_board(share_part, t.task.id) + "-" + token_;
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::put_part(const task_ptr& t) {
  t->part = part_of(*t);
  t->part_bytes = t->bytes.size();
  this->store().start(
      creation(t->part, as_bytes(t->bytes)),
      this->template then<object_metadata>([t](Self& self, result<object_metadata> made) {
        if (self.failed()) return;
        if (made) return self.publish(t);
        if (made.error().code() != errc::already_exists) return self.fail(made.error());
        self.compare_part(t, made.error());
      }));
}

/// Nobody else makes a part of that name. Is it this one, of a request that came twice?
template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::compare_part(const task_ptr& t, const error& refused) {
  this->store().start(stat_request{.bucket = at_.bucket,
                                   .object = t->part,
                                   .fields = metadata_fields::basic,
                                   .limits = this->limits()},
                      this->template then<object_metadata>([t, refused](Self& self, auto found) {
                        if (self.failed()) return;
                        if (!found) return self.fail(std::move(found).error());
                        const bool same = found->crc32c == crc32c(as_bytes(t->bytes));
                        same ? self.publish(t) : self.fail(refused);
                      }));
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::publish(const task_ptr& t) {
  t->bytes = {};
  insert_request r = creation(on_board(share_done, t->task.id), as_bytes(t->record));
  r.attributes.metadata = {{std::string(share_children), std::to_string(t->children)},
                           {std::string(share_rows), std::to_string(t->rows)},
                           {std::string(share_token), t->part.empty() ? "" : token_},
                           {std::string(share_part_bytes), std::to_string(t->part_bytes)}};
  this->store().start(
      r, this->template then<object_metadata>([t](Self& self, const result<object_metadata>& made) {
        if (!self.failed()) self.published(t, made);
      }));
}

template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::published(const task_ptr& t,
                                               const result<object_metadata>& made) {
  if (made) return count(t);
  if (made.error().code() != errc::already_exists) return this->fail(made.error());
  // Another process, which thought this one dead, was faster. Or this one's done is there, and a
  // second try of the request was refused by it: then its part has to stay.
  start_read_share(
      this->store(),
      {.bucket = at_.bucket, .object = on_board(share_done, t->task.id), .limits = this->limits()},
      this->template then<std::string>([t](Self& self, const auto& text) {
        if (self.failed()) return;
        if (text && !t->part.empty() && *text == t->record) return self.count(t);
        self.plan_.lost(t->task, self.strand().now());
        if (!text || t->part.empty()) return self.leave();
        self.remove_part(t);
      }));
}

/// What this process has done is there.
template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::count(const task_ptr& t) {
  this->self().own(t);
  const share_mark mark{.children = t->children,
                        .rows = t->rows,
                        .token = t->part.empty() ? std::string{} : token_,
                        .part_bytes = t->part_bytes};
  if (!plan_.done(t->task.id)) this->self().saw(t->task.id, mark);
  plan_.saw_done(t->task.id, t->children);
  leave();
}

/// One that no done names does no harm where it cannot be removed.
template <class Self, class Value, class Task>
void share_board<Self, Value, Task>::remove_part(const task_ptr& t) {
  this->store().start(remove_request{.bucket = at_.bucket,
                                     .object = t->part,
                                     .last_writer_wins = true,
                                     .limits = this->limits()},
                      this->template then<void>([](Self& self, const result<void>&) {
                        if (!self.failed()) self.leave();
                      }));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
