#pragma once

#include <dataflux/gcs/detail/verb_call.hpp>

#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

DATAFLUX_INLINE bool looking_call::look(const repeat_rule& rule, bool no_value, bool has_value,
                                        const error& e, bool outcome_unknown) {
  // What comes from somewhere else than the service says nothing of the object.
  const repeat_meaning meaning = outcome_unknown && e.code() != errc::internal
                                     ? meaning_of(rule, e.http_status())
                                     : repeat_meaning::failed;
  if (rule.looks) {
    if (e.code() == errc::data_loss && e.generation() != 0) return remove_damaged(e), true;
    // No reply, a success that broke off, or one without a checksum: the object itself is the
    // only witness.
    const bool silent = (outcome_unknown && e.http_status() < 300) || has_value;
    if (meaning != repeat_meaning::compare && !silent) return false;
    stat(e);
    return true;
  }
  if (!no_value || meaning != repeat_meaning::done) return false;
  finish(std::nullopt);
  return true;
}

DATAFLUX_INLINE void looking_call::stat(const error& e) {
  const call_identity about = identity();
  verb_call<stat_verb>::start(
      ref<client_core>::share(&core()),
      {.bucket = std::string(about.bucket),
       .object = std::string(about.object),
       .limits = remaining_limits()},
      [self = ref<looking_call>::share(this), e = error(e)](result<object_metadata> found) mutable {
        if (!found) return self->finish(std::move(e));
        self->verify(std::move(e), *std::move(found));
      },
      executor);
}

DATAFLUX_INLINE void looking_call::ask_witness(stat_request about, error e, object_metadata found) {
  about.limits = remaining_limits();
  verb_call<stat_verb>::start(
      ref<client_core>::share(&core()), about,
      [self = ref<looking_call>::share(this), e = std::move(e),
       found = std::move(found)](const result<object_metadata>& source) mutable {
        self->verify(std::move(e), std::move(found), source);
      },
      executor);
}

/// What was stored is not what was sent: nobody must find it under this name.
DATAFLUX_INLINE void looking_call::remove_damaged(const error& e) {
  const call_identity about = identity();
  verb_call<remove_verb>::start(
      ref<client_core>::share(&core()),
      {.bucket = std::string(about.bucket),
       .object = std::string(about.object),
       .generation = e.generation(),
       .limits = remaining_limits()},
      [self = ref<looking_call>::share(this), e = error(e)](const result<void>& removed) mutable {
        e.with_message(e.message() +
                       (removed ? "; the damaged object was removed"
                                : "; it could not be removed: " + removed.error().message()));
        self->finish(std::move(e));
      },
      executor);
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail
