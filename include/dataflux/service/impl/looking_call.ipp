#pragma once

#include <dataflux/service/detail/looking_call.hpp>

#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

DATAFLUX_INLINE bool looking_call::look(const repeat_rule& rule, bool no_value, bool has_value,
                                        const error& e, bool outcome_unknown) {
  // What comes from somewhere else than the service says nothing of the object.
  const repeat_meaning meaning = outcome_unknown && e.code() != errc::internal
                                     ? meaning_of(rule, e.http_status())
                                     : repeat_meaning::failed;
  if (no_value && meaning == repeat_meaning::done) {
    finish(std::nullopt);
    return true;
  }
  if (!rule.looks && !last_wins_) return false;
  if (e.code() == errc::data_loss && e.generation() != 0) return remove_damaged(e), true;
  // No reply, a success that broke off, or one without a checksum: the object itself is the
  // only witness.
  const bool silent = (outcome_unknown && e.http_status() < 300) || has_value;
  const bool unmet = pinned_ && e.http_status() == 412;
  if (meaning != repeat_meaning::compare && !silent && !unmet) return false;
  begin_look(e, false, false);
  return true;
}

/// What is pinned may be sent again as it is.
DATAFLUX_INLINE bool looking_call::look_first(const error& e, bool silent) {
  if (!last_wins_ || pinned_ || stopped() || !(silent || adds_up())) return false;
  begin_look(e, true, !silent);
  return true;
}

DATAFLUX_INLINE void looking_call::begin_look(const error& e, bool may_repeat, bool refused) {
  why_ = e;
  may_repeat_ = may_repeat;
  refused_ = refused;
  looks_ = 0;
  look_at_object();
}

DATAFLUX_INLINE void looking_call::look_at_object() {
  ++looks_;
  const call_identity about = identity();
  const time_point asked = executor->now();
  look({.bucket = std::string(about.bucket),
        .object = std::string(about.object),
        .generation = about.generation,
        .limits = remaining_limits()},
       [self = ref<looking_call>::share(this), asked](result<looked_object> found) {
         self->within_memory([&] { self->saw_object(std::move(found), asked); });
       });
}

DATAFLUX_INLINE void looking_call::look(const stat_request& at,
                                        object_store::completion<looked_object> done) {
  core().dialect->look(ref<client_core>::share(&core()), at, std::move(done), *executor);
}

DATAFLUX_INLINE void looking_call::saw_object(result<looked_object> found, time_point asked) {
  seen_ = {};
  if (!found && found.error().code() != errc::not_found) {
    // Who has stopped the call, or its time limit, ends it here as anywhere.
    const errc code = found.error().code();
    const bool ended = code == errc::cancelled || code == errc::deadline_exceeded;
    return finish(may_repeat_ && ended ? std::move(found).error() : *std::exchange(why_, {}));
  }
  if (found) {
    note_time(*found, asked);
    seen_.object = std::move(found->object);
  } else {
    seen_.missing = std::move(found).error();
  }
  auto about = witness_of(seen_.object.has_value());
  about ? look_at_source(*std::move(about)) : conclude_look();
}

DATAFLUX_INLINE void looking_call::note_time(const looked_object& found, time_point asked) {
  if (!found.served) return;
  moment_.narrow(*found.served, asked - first_sent(), executor->now() - first_sent());
}

DATAFLUX_INLINE void looking_call::look_at_source(stat_request about) {
  about.limits = remaining_limits();
  const time_point asked = executor->now();
  look(about, [self = ref<looking_call>::share(this), asked](result<looked_object> source) {
    self->within_memory([&] {
      if (source) {
        self->note_time(*source, asked);
        self->seen_.source = std::move(source->object);
      } else {
        self->seen_.source = std::move(source).error();
      }
      self->conclude_look();
    });
  });
}

DATAFLUX_INLINE void looking_call::conclude_look() {
  look_verdict verdict = judge(seen_);
  // A refusal is believed, unless what the call was to make is there.
  if (refused_ && verdict != look_verdict::done) verdict = look_verdict::again;
  if (verdict == look_verdict::unclear && moment_.told() && looks_ < most_looks) {
    return wait_until(executor->now() + between_looks,
                      static_cast<void (call::*)()>(&looking_call::look_at_object));
  }
  if (verdict == look_verdict::done) {
    take_found(std::exchange(seen_, {}));
    return finish(std::nullopt);
  }
  if (verdict == look_verdict::theirs || refused_pin()) return finish(replaced());
  if (verdict != look_verdict::again || !may_repeat_) return finish(*std::exchange(why_, {}));
  // Without a condition it might change what another makes from now on.
  if (!pin(seen_)) return finish(std::move(seen_.missing ? seen_.missing : why_));
  pinned_ = true;
  seen_ = {};
  go_on(*std::exchange(why_, {}));
}

DATAFLUX_INLINE error looking_call::replaced() const {
  error e(errc::aborted,
          seen_.object ? "another writer has changed the object since this call began: what is "
                         "there stays. Look at it, and call again to replace it (" +
                             why_->message() + ")"
                       : "another writer has removed the object since this call began (" +
                             why_->message() + ")");
  if (seen_.object) e.with_generation(seen_.object->generation);
  return e;
}

/// What was stored is not what was sent: nobody must find it under this name.
DATAFLUX_INLINE void looking_call::remove_damaged(const error& e) {
  const call_identity about = identity();
  core().dialect->remove(
      ref<client_core>::share(&core()),
      {.bucket = std::string(about.bucket),
       .object = std::string(about.object),
       .generation = e.generation(),
       .limits = remaining_limits()},
      [self = ref<looking_call>::share(this), e = error(e)](const result<void>& removed) mutable {
        self->within_memory([&] {
          e.with_message(e.message() +
                         (removed ? "; the damaged object was removed"
                                  : "; it could not be removed: " + removed.error().message()));
          self->finish(std::move(e));
        });
      },
      *executor);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
