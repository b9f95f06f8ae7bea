#pragma once

#include <dataflux/service/detail/call.hpp>
#include <dataflux/service/detail/repeat_rule.hpp>
#include <dataflux/service/detail/reply_facts.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/resumable.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// What a reply tells of an object.
template <class Value>
const object_metadata* object_in(const Value& value) noexcept {
  if constexpr (std::is_same_v<Value, object_metadata>) {
    return &value;
  } else if constexpr (std::is_same_v<Value, looked_object>) {
    return &value.object;
  } else if constexpr (std::is_same_v<Value, resumable_progress>) {
    return value.object ? &*value.object : nullptr;
  } else {
    return nullptr;
  }
}

/// What `make` gives, made where it is converted: an object_metadata costs 400 instructions a move.
template <class Make>
struct made_by {
  const Make& make;
  operator decltype(std::declval<const Make&>()())() const { return make(); }
};

/// What does not depend on the verb, so that it is compiled once: how a call whose reply is read as
/// a whole finds out what became of it.
///
/// A look is a stat of the object, and for a verb with a witness one of that, too. judge() of the
/// verb says what they mean. A write of which the last writer wins looks before it is sent again
/// after an outcome that is not known, and goes on under the condition that all is as it was found.
class looking_call : public call {
 public:
  using call::call;

 protected:
  /// Forgets an earlier call's looks. `last_wins`: see is_last_writer().
  void begin_looks(bool last_wins) {
    last_wins_ = last_wins;
    pinned_ = may_repeat_ = refused_ = false;
    looks_ = 0;
    moment_ = {};
    past_ = core().past.now();
  }
  /// A reply is about that object, if there is one.
  void note_past(const object_metadata* told) noexcept {
    if (told != nullptr) core().past.note(*told, [this] { return time_of(facts()); });
  }
  /// What an error means to a call of that row. True if finish() will be called later.
  DATAFLUX_INLINE bool look(const repeat_rule& rule, bool no_value, bool has_value, const error& e,
                            bool outcome_unknown);
  DATAFLUX_INLINE bool look_first(const error& e, bool silent) override;
  /// Carrying it out twice does harm, though the last writer wins: a look is due after a refusal,
  /// too.
  virtual bool adds_up() const noexcept { return false; }
  bool survives() const noexcept override { return last_wins_; }

  /// What the looks say. `source` is of verbs with a witness.
  struct sighting {
    std::optional<object_metadata> object{};
    std::optional<error> missing{};  ///< why there is none
    std::optional<result<object_metadata>> source{};
  };
  /// Of what is under identity()'s name, if anything is: it is the one that the call was to make.
  virtual look_verdict judge(const sighting& seen) const = 0;
  /// What else tells. `found`: the object is there.
  virtual std::optional<stat_request> witness_of(bool /*found*/) const { return std::nullopt; }
  /// Makes all that was found a condition of the request. False: nothing is there to make one of,
  /// and the call ends with that.
  virtual bool pin(const sighting& seen) = 0;
  /// What was found is the call's value.
  virtual void take_found(sighting seen) = 0;

  object_age age_of(const object_metadata& found, std::optional<timestamp> stamp) const noexcept {
    // What a condition that was looked up does not hold for came after the look.
    if (refused_pin()) return object_age::newer;
    return stamp && is_past(past_, *stamp, found) ? object_age::older : moment_.age_of(stamp);
  }
  bool last_wins() const noexcept { return last_wins_; }

 private:
  void begin_look(const error& e, bool may_repeat, bool refused);
  void look(const stat_request& at, object_store::completion<looked_object> done);
  void look_at_object();
  void saw_object(result<looked_object> found, time_point asked);
  void look_at_source(stat_request about);
  void note_time(const looked_object& found, time_point asked);
  void conclude_look();
  bool refused_pin() const noexcept { return pinned_ && why_ && why_->http_status() == 412; }
  error replaced() const;
  void remove_damaged(const error& e);

  bool last_wins_{false};
  bool pinned_{false};      ///< a look has made conditions
  bool may_repeat_{false};  ///< the retry rules allow another attempt
  bool refused_{false};     ///< not carried out, as the service says
  int looks_{0};            ///< since begin_look()
  std::optional<error> why_{};
  sighting seen_{};
  first_moment moment_{};
  std::uint64_t past_{0};  ///< when the call began: see known_past
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/looking_call.ipp>
#endif
