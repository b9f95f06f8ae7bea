#pragma once

#include <dataflux/error.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/http/detail/pacing.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/service/detail/reply_facts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// What every verb of a service has in common.
///
/// A verb is a struct of static functions: how its request is built, how its reply is read. It has
/// no clock and no socket; the call machine (service/detail/call.hpp) owns both and treats all
/// verbs alike. What all verbs of one service share is its dialect (service/detail/dialect.hpp).
///
// clang-format off
///     struct X_verb {
///       using request = X_request;  // what the caller asked for
///       using value = ...;          // what the caller gets
///       using state = ...;          // what is made once per call and used by each attempt
///       static constexpr verb_info info;
///       static constexpr repeat_rule repeat;  // when it may be sent again
///       static call_identity identity(const request&) noexcept;
///       static result<state> prepare(const request&, const call_id&);
///       // `context`: what the dialect's context() gives
///       static void build(const context&, const request&, const state&, http::request& out);
///       static result<value> parse(const request&, const state&, const whole_reply&);
///     };
///
/// And where a verb needs it (detail/verb_call.hpp finds out by itself):
///
///       static constexpr bool recycled = true;  // its calls come in streams, and are used again
///       // Instead of the other prepare(): sets all of the state of an earlier call.
///       static void prepare(const request&, const call_id&, state&);
///       // parse() with a state& that gives a result<std::optional<value>>: nothing = go on with
///       // the next request at once, and advanced() says whether something was achieved. Where
///       // `value` is void it is an optional of anything.
///       static bool advanced(const state&) noexcept;
///       static duration pause(const state&) noexcept;       // before that next request
///       static bool accepts(int status) noexcept;  // besides 2xx
///       // Before the body of a success.
///       static void read_head(const http::request& sent, const http::reply_head&, state&);
///       static void before_retry(state&) noexcept;          // after an attempt that failed
///       static constexpr bool damage_is_repeated = true;  // refused for its checksum: sent again
///       static result<void> check(const context&, const request&);  // as validate()
///       static bool continued(const state&) noexcept;       // may be repeated from now on
///       static std::array<std::string_view, 2> secrets(const request&) noexcept;  // in no error
///       static std::string_view body_digest(const state&) noexcept;  // see service::outgoing
///       // For rows with `looks`: is the object found under identity()'s name the one that the
///       // call was to make? `source`: what became of witness(), for verbs that have one.
///       static bool is_ours(const request&, const state&, const object_metadata& found[,
///                           const result<object_metadata>& source]);
///       static stat_request witness(const request&);
///       static value resolved(object_metadata found);  // for a value that is another type
///       // For rows with `last_writer`: makes what was found a condition; null = there is none.
///       // False: then that is how the call ends.
///       static bool pin(request&, const object_metadata* object, const object_metadata* source);
///       static bool adds_up(const request&) noexcept;  // see looking_call
///       static constexpr bool keeps_content = true;     // what is there is as old as its metadata
///       static constexpr bool proof_is_equality = true; // is_ours() may hold for older ones, too
///       static constexpr bool moves = true;             // told by its source
///       static bool may_be_ours(const request&, const object_metadata& found); // with `moves`
// clang-format on
///
/// The request has passed validate() (store/detail/validate.hpp); build() relies on it. `out` is
/// reused: build() sets every member and keeps the capacity of its strings, so that a call's second
/// attempt allocates nothing. It writes the verb's own header fields; those of every call are added
/// behind by the call, the dialect and, last of all, the signer. `out.body` borrows from request
/// and state: both stay where they are until the exchange is over.
///
/// parse() is for replies of 2xx; all others are read by the dialect's parse_error(). Its errors
/// carry no identity yet. An error that is retryable() comes from a reply that was cut or garbled;
/// one of a write that carries a generation() (data_loss) names the object that was stored damaged
/// and is to be removed.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// What the service counts together when it limits rates.
using pacing_class = http::operation_class;

/// What the service charges. Every attempt that is answered counts.
using billing_class = request_class;

struct verb_info {
  /// For errors, logs and counters: "objects.get".
  std::string_view name{};
  pacing_class pacing{pacing_class::metadata};
  billing_class billing{billing_class::b};
  /// The service may think for minutes before the first byte.
  bool slow_reply{false};
  /// Longest body of a reply worth receiving, in bytes; a longer one is no reply of this verb.
  /// Zero for a body that goes to a sink.
  std::size_t reply_limit{std::size_t{1} << 20U};
};

/// 128 random bits of one logical call, the same for all its attempts.
using call_id = std::array<std::uint64_t, 2>;

/// Names the thing that a call is about, for its errors. Borrowed from the request.
struct call_identity {
  std::string_view verb{};
  std::string_view bucket{};
  std::string_view object{};   ///< empty for a listing
  std::int64_t generation{0};  ///< 0 = the live one
  /// The write was to happen only if the object does not exist: 412 is errc::already_exists then.
  bool create_only{false};
  /// A request to an upload session, whose URL is a secret. So is the service's id of the request
  /// then, since it is the session's: errors are without it.
  bool session{false};
  /// What the object is made of: an object that is not found is that one. No name = of several,
  /// which the reply tells apart.
  std::string_view source_bucket{};
  std::string_view source{};
  std::int64_t source_generation{0};  ///< 0 = the live one
  /// The reply is to a HEAD: one of failure has no body that says why.
  bool head{false};
};

/// The state of a verb that has none.
struct no_state {};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
