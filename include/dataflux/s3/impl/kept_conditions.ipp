#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/s3/detail/condition_waiter.hpp>
#include <dataflux/s3/detail/dialect.hpp>
#include <dataflux/s3/detail/kept_conditions.hpp>
#include <dataflux/s3/detail/probe_verbs.hpp>
#include <dataflux/store/detail/condition_scratch.hpp>
#include <dataflux/store/detail/unmet_condition.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Of each request that cleans up behind the others.
inline constexpr duration probe_cleaning_timeout = std::chrono::seconds(10);
inline constexpr std::string_view probe_bytes{"Do conditions hold here? dataflux asks once."};
static_assert(probe_bytes.size() <= largest_condition_scratch);

/// A condition that does not hold was refused as one.
inline bool is_kept(const error& why) noexcept {
  return why.code() == errc::failed_precondition || why.code() == errc::already_exists ||
         why.code() == errc::aborted;
}
inline bool is_gone(const error& why) noexcept {
  return why.code() == errc::not_found && !why.bucket_missing();
}

/// The questions, one after the other. Each is sent under a condition that does not hold; note()
/// says whether it was refused for that.
///
///     create, create again, replace, complete twice, abort, copy twice, remove, remove in a list,
///     clean up
///
/// Of removals alone it begins with one of what is not there. That tells nothing where the server
/// looks for the object first; then it is created and removed alone.
///
/// All completions come on one executor. A request has the limits of the client's retry policy, as
/// those of the calls that wait: where the service is throttling, it goes on as long as they would.
/// A write that fails for another reason ends it; after any other one the answer lacks that
/// condition.
class condition_probe final : public std::enable_shared_from_this<condition_probe> {
 public:
  condition_probe(ref<service::client_core> core, condition_book::question which,
                  std::string object)
      : core_(std::move(core)),
        on_(core_->transport().next_executor()),
        which_(std::move(which)),
        object_(std::move(object)) {}
  condition_probe(const condition_probe&) = delete;
  condition_probe& operator=(const condition_probe&) = delete;
  /// Lost on the way: those who wait for it go with their calls.
  ~condition_probe() {
    if (!ended_) static_cast<void>(dialect_of(*core_).conditions().take(which_));
  }

  void begin() { is_light() ? remove_none() : create(); }

 private:
  template <class Verb, class Step>
  void send(typename Verb::request request, call_limits limits, Step step) {
    request.bucket = which_.bucket;
    request.limits = std::move(limits);
    if constexpr (requires { request.object; }) request.object = object_;
    using value = typename Verb::value;
    verb_call<Verb>::start(
        core_, request,
        [self = shared_from_this(), step](result<value> outcome) mutable {
          self->on_.post([self, step, outcome = std::move(outcome)]() mutable {
            step(*self, std::move(outcome));
          });
        },
        &on_);
  }
  template <class Verb, class Step>
  void send(typename Verb::request request, Step step) {
    send<Verb>(std::move(request), call_limits{}, step);
  }
  template <class Verb, class Step>
  void clean(typename Verb::request request, Step step) {
    send<Verb>(std::move(request), {.timeout = probe_cleaning_timeout}, step);
  }
  /// Not kept is what was carried out, or what the server says that it does not know.
  bool note(std::optional<bool>& kept, const error* why) {
    kept.reset();
    if (why == nullptr || why->code() == errc::unimplemented) kept = false;
    if (why != nullptr && is_kept(*why)) kept = true;
    if (!kept) found_.why = *why;
    return kept.has_value();
  }
  template <class Value>
  bool note(std::optional<bool>& kept, const result<Value>& outcome) {
    return note(kept, outcome ? nullptr : &outcome.error());
  }
  /// The same of a write, without which there is nothing to ask. True: the next one follows.
  template <class Value>
  bool note_write(const result<Value>& outcome) {
    if (!note(found_.writes, outcome)) {
      fail(*found_.why);
      return false;
    }
    if (!*found_.writes) copy();
    return *found_.writes;
  }

  bool is_light() const noexcept { return which_.about != condition_book::subject::all; }
  void remove_none() {
    send<probe_remove_verb>({}, [](condition_probe& self, const result<void>& gone) {
      // versitygw says 204 of an object that is not there, and keeps the condition of one that is.
      self.none_gone_ = gone.has_value();
      if (gone || is_gone(gone.error())) return self.create();
      if (!self.note(self.found_.removals, gone)) return self.end(*self.found_.why);
      const bool in_list = self.which_.about == condition_book::subject::lists;
      if (in_list && *self.found_.removals) return self.remove_none_in_list();
      if (!*self.found_.removals) self.found_.lists = false;
      self.end(self.found_);
    });
  }
  void remove_none_in_list() {
    remove_in_list(
        [](condition_probe& self) { self.found_.lists ? self.end(self.found_) : self.create(); });
  }
  template <class Step>
  void insert(Step step) {
    send<insert_verb>({.data = as_bytes(probe_bytes), .conditions = {.if_generation_match = 0}},
                      step);
  }
  void create() {
    insert([](condition_probe& self, const result<object_metadata>& made) {
      if (made) return self.is_light() ? self.remove() : self.create_again();
      self.is_light() && !self.none_gone_ ? self.compare_removals(made.error(), 2)
                                          : self.fail(made.error());
    });
  }
  /// Where nothing may be written: what is not there can be removed, but not under the condition,
  /// so that this was looked at. Twice, since the write that failed may have been carried out.
  void compare_removals(const error& why, int left) {
    send<remove_verb>({.last_writer_wins = true},
                      [why, left](condition_probe& self, const result<void>& gone) {
                        if (!gone) return self.fail(why);
                        if (left > 1) return self.compare_removals(why, left - 1);
                        self.found_.removals = true;
                        self.end(self.found_);
                      });
  }
  void create_again() {
    insert([](condition_probe& self, const result<object_metadata>& made) {
      if (self.note_write(made)) self.replace();
    });
  }
  void replace() {
    send<probe_put_verb>({}, [](condition_probe& self, const result<void>& made) {
      if (self.note_write(made)) self.begin_parts();
    });
  }
  void begin_parts() {
    send<multipart_initiate_verb>({}, [](condition_probe& self, result<multipart_upload> begun) {
      if (!begun) return self.fail(may_have_begun(std::move(begun).error()));
      self.upload_ = *std::move(begun);
      self.send_part();
    });
  }
  void send_part() {
    send<upload_part_verb>(
        {.upload_id = upload_.upload_id, .part_number = 1, .data = as_bytes(probe_bytes)},
        [](condition_probe& self, const result<uploaded_part>& part) {
          part ? self.complete(*part) : self.fail(part.error());
        });
  }
  /// By its mark a look tells this upload from the object that is there, which has the same bytes.
  multipart_complete_request whole_of(const uploaded_part& part) const {
    return {.upload_id = upload_.upload_id, .parts = {part}, .mark = upload_.mark};
  }
  void complete(const uploaded_part& part) {
    multipart_complete_request request = whole_of(part);
    request.conditions.if_generation_match = 0;
    send<multipart_complete_verb>(
        std::move(request), [part](condition_probe& self, const result<object_metadata>& made) {
          if (self.note_write(made)) self.complete_matching(part);
        });
  }
  /// After a refusal the upload may be gone; what is there is not of it.
  void complete_matching(const uploaded_part& part) {
    send<probe_complete_verb>(whole_of(part),
                              [](condition_probe& self, const result<object_metadata>& made) {
                                const bool refused = !made && is_gone(made.error());
                                if (refused || self.note_write(made)) self.copy();
                              });
  }
  /// Onto itself: with other attributes, or it is refused for changing nothing.
  template <class Step>
  void copy(preconditions under, Step step) {
    send<probe_copy_verb>({.source_bucket = which_.bucket,
                           .source = object_,
                           .attributes = {.content_type = "text/plain"},
                           .conditions = under},
                          step);
  }
  void copy() {
    copy({.if_generation_match = 0},
         [](condition_probe& self, const result<object_metadata>& made) {
           self.note(self.found_.copies, made);
           self.found_.copies.value_or(false) ? self.copy_matching() : self.remove();
         });
  }
  void copy_matching() {
    copy({}, [](condition_probe& self, const result<object_metadata>& made) {
      self.note(self.found_.copies, made);
      self.remove();
    });
  }
  void remove() {
    send<probe_remove_verb>({}, [](condition_probe& self, const result<void>& gone) {
      self.note(self.found_.removals, gone);
      self.found_.lists = self.found_.removals;
      if (!self.found_.removals.value_or(false)) return self.clean_up();
      self.remove_in_list([](condition_probe& here) { here.clean_up(); });
    });
  }
  template <class Step>
  void remove_in_list(Step step) {
    send<delete_verb>({.objects = {{object_, "of-no-object"}}},
                      [step](condition_probe& self, const result<std::vector<kept_object>>& kept) {
                        const error* why = kept ? nullptr : &kept.error();
                        if (kept && !kept->empty()) why = &kept->front().why;
                        self.note(self.found_.lists, why);
                        step(self);
                      });
  }
  template <class Step>
  void clean_up(Step step) {
    if (!upload_.upload_id.empty()) {
      return clean<multipart_abort_verb>(
          {.upload_id = std::exchange(upload_.upload_id, {})},
          [step](condition_probe& self, const result<void>&) { self.clean_up(step); });
    }
    clean<remove_verb>({.last_writer_wins = true},
                       [step](condition_probe& self, const result<void>&) { step(self); });
  }
  void clean_up() {
    clean_up([](condition_probe& self) { self.end(self.found_); });
  }
  /// What a failure has left of it goes, too; nobody waits for that.
  void fail(const error& why) {
    clean_up([](condition_probe&) {});
    end(why);
  }
  void end(const result<kept_conditions>& what) {
    ended_ = true;
    dialect_of(*core_).conditions().answered(which_, what);
  }

  const ref<service::client_core> core_;
  scheduler& on_;
  const condition_book::question which_;
  const std::string object_;
  multipart_upload upload_{};
  bool none_gone_{false};  ///< an object that is not there was removed
  kept_conditions found_{};
  bool ended_{false};
};

DATAFLUX_INLINE error not_kept(bool removes) {
  return std::move(
      error{errc::failed_precondition,
            removes ? "this server takes the condition of a removal and does not keep it, so that "
                      "what another program has just written would go, too: remove each by its "
                      "name and without a condition, as delete(url) does in Python"
                    : "this server takes the condition of a write and does not keep it, so that of "
                      "two writers both would believe to have won: save to a server that keeps "
                      "If-None-Match and If-Match, or write without a condition"}
          .with_scheme("s3")
          .with_reason(conditions_not_kept_reason));
}

DATAFLUX_INLINE error may_have_begun(error why) {
  const bool refused = !why.retryable() && why.code() != errc::deadline_exceeded &&
                       why.code() != errc::cancelled && why.http_status() / 100 != 2;
  if (refused && !why.outcome_unknown()) return why;
  return std::move(
      why.with_message(why.message() +
                       "; an upload may have begun and be left open, see `dataflux uploads list "
                       "s3://" +
                       why.bucket() + "`"));
}

DATAFLUX_INLINE std::optional<kept_conditions> condition_book::find(std::string_view bucket,
                                                                    kept_condition about) const {
  const std::scoped_lock lock(mutex_);
  const auto at = known_.find(bucket);
  const bool known = at != known_.end() && (at->second.*about).has_value();
  return known ? std::optional{at->second} : std::nullopt;
}

/// In the folder of the object, since rights may be given for folders; but where what a killed
/// process leaves is looked for.
inline std::string scratch_name(std::string_view object) {
  std::size_t end = object.rfind('/') + 1;  // 0 where there is none
  if (object.starts_with(save_folder_prefix)) end = 0;
  const std::size_t save = object.find(std::string{"/"}.append(save_folder_prefix));
  if (save < end) end = save + 1;
  const std::string folder{object.substr(0, end)};
  std::string name = folder.size() > 900 ? std::string{} : folder;
  name.append(condition_scratch_name);
  for (const std::uint64_t half : service::client_core::random_id()) {
    name.append(std::to_string(half));
  }
  return name;
}

DATAFLUX_INLINE void condition_book::ask(condition_question what, answer done) {
  question which{.bucket = std::string{what.bucket}};
  if (what.about == &kept_conditions::removals) which.about = subject::removals;
  if (what.about == &kept_conditions::lists) which.about = subject::lists;
  const auto waiter = std::make_shared<condition_waiter>(what, which, std::move(done));
  const bool first = join(which, waiter);
  // Others may wait by now. So memory that is short here ends waits, and nothing is thrown.
  if (!within_memory([&] { what.on.post([waiter] { waiter->begin(); }); })) leave(which, *waiter);
  const bool asked = !first || within_memory([&] {
    std::make_shared<condition_probe>(std::move(what.core), which, scratch_name(what.object))
        ->begin();
  });
  if (asked) return;
  within_memory([&] { waiter->answered(short_of_memory()); });
  within_memory([&] { answered(which, short_of_memory()); });
}

/// True: nobody has asked yet. Short of memory it changes nothing: else whoever comes next would
/// wait for an answer to what nobody has asked.
DATAFLUX_INLINE bool condition_book::join(const question& which,
                                          const std::shared_ptr<condition_waiter>& who) {
  const std::scoped_lock lock(mutex_);
  const auto [at, first] = waiting_.try_emplace(which);
  taken_back_unless_kept unless([&, entry = at, made = first] {
    if (made) waiting_.erase(entry);
  });
  at->second.push_back(who);
  unless.kept();
  return first;
}

DATAFLUX_INLINE condition_book::waiters condition_book::take(const question& which) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto at = waiting_.find(which);
  if (at == waiting_.end()) return {};
  waiters out = std::move(at->second);
  waiting_.erase(at);
  return out;
}

DATAFLUX_INLINE void condition_book::leave(const question& which,
                                           const condition_waiter& who) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto at = waiting_.find(which);
  if (at == waiting_.end()) return;
  std::erase_if(at->second, [&who](const auto& each) { return each.get() == &who; });
}

DATAFLUX_INLINE void condition_book::answered(const question& which,
                                              const result<kept_conditions>& found) {
  if (found) {
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= most) known_.clear();
    kept_conditions& known = known_[which.bucket];
    for (const kept_condition each : {&kept_conditions::writes, &kept_conditions::copies,
                                      &kept_conditions::removals, &kept_conditions::lists}) {
      if ((*found).*each) known.*each = (*found).*each;
    }
  }
  for (const auto& each : take(which)) each->answered(found);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
