#pragma once

#include <dataflux/auth/detail/token_flow.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/http/detail/transport.hpp>
#include <dataflux/observer.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

struct token_cache_options {
  /// The wall clock; empty = the system's.
  unique_function<system_time()> wall_clock{};
  /// Of the jitter; zero = by chance.
  std::uint64_t seed{0};
  /// The service takes keys that sign requests, and no tokens: credentials of the other sort are
  /// invalid_argument at the first call.
  bool keys{false};
  /// Tokens come from the endpoints that ask for a client certificate (mutual_tls_host()).
  bool mutual_tls{false};
  /// Told in a warning when a refresh fails, also when no call notices because the old token is
  /// still good. Outlives the transport.
  dataflux::observer* observer{nullptr};
};

/// Called once with the value of the Authorization field (of keys: with their id), valid during the
/// call and empty for anonymous credentials, or with the reason why there is none.
using authorization_handler = unique_function<void(result<std::string_view>)>;

/// Names a waiting call until its handler ran; zero names none.
enum class authorization_wait : std::uint64_t { none = 0 };

/// Keeps one token, or one set of keys, fresh for all calls of a client.
///
///     if (auto value = cache.try_get(executor.now())) {
///       if (!value->empty()) request.headers.add("Authorization", *value);
///     } else {
///       cache.await(executor, [self](result<std::string_view> value) { self->go_on(value); });
///     }
///
/// One refresh is under way at most, whoever asks (protocol.md 4.9). A token is stale from 225 s
/// before its end, plus up to 60 s of jitter: the next try_get() starts a refresh and still gets
/// the old one. It is gone 10 s before its end: calls wait, without holding a connection. When a
/// refresh fails while the old token is good, the old one stays and the next refresh comes 10 s
/// later, then 20, 40 and 60 s. Keys are stale from 15 minutes before their end, or from the last
/// quarter of their life. When there is no good token, those who wait get the error, and so
/// does whoever asks within the next second, so that an outage is not made worse.
///
/// This machine's clock may be wrong. The Date of a refusal shows by how much: of one by the
/// service (correct_clock()), and of one by an endpoint for tokens, which is asked once more then.
/// A token of the endpoint lasts for as long as its reply says, whatever any clock says.
///
/// Threads: all members may be called from any thread. Lifetime: the transport outlives the
/// cache, and so does the executor of every waiting call. Destruction cancels the refresh and ends
/// all waits with errc::cancelled; it does not block, and may happen in a handler.
class token_cache {
 public:
  /// `creds` null: tokens come from set_token() only, and a call that finds none fails with
  /// unauthenticated. Sends nothing yet.
  token_cache(credentials_ptr creds, http::transport& transport, token_cache_options options = {});
  token_cache(const token_cache&) = delete;
  token_cache& operator=(const token_cache&) = delete;
  ~token_cache();

  /// The Authorization field's value ("Bearer ..."), empty for anonymous credentials; nullopt when
  /// there is no token that is good at `now` (of the scheduler's clock): await() then.
  ///
  /// The view is valid until this thread calls try_get() on any cache again; each thread keeps a
  /// copy of its own, until it ends or needs the place. Cost: one atomic load and no lock, except
  /// at this thread's first call for a new token.
  std::optional<std::string_view> try_get(time_point now);

  /// The same of keys: null when there are none that are good at `now`. Those of anonymous
  /// credentials have no id: nothing is signed.
  const access_keys* try_keys(time_point now);

  /// Runs `handler` on `executor`, never from inside this call, once there is a token or an error.
  /// Joins the refresh that is under way, or starts one.
  authorization_wait await(scheduler& executor, authorization_handler handler);
  /// Destroys a waiting handler without calling it. False if it has run, or is about to.
  bool cancel(authorization_wait wait) noexcept;

  /// The service refused this value (401), or keys of this id: forget it, so that the next call
  /// gets a fresh one. Does nothing if the value is not the current one any more: somebody else was
  /// quicker. Nor when it is the one that was refused within the last 1 s, and came again.
  void invalidate(std::string_view authorization);

  /// What the service has refused (401) was signed `age` before its reply, which has this Date.
  /// Where that shows that this machine's clock is wrong, the next tokens are signed with the right
  /// time. Only of a reply from whom the token was for.
  void correct_clock(std::string_view date, duration age);

  /// Is there another value than this one, or somebody to get one from? Else a call whose value was
  /// refused (401) need not ask again.
  bool renewable(std::string_view authorization) const;

  /// Is this what calls get now? Cost: as try_get().
  bool is_current(std::string_view authorization) const;

  /// The token that is good at `now`, with its end; nullopt where there is none, or none is sent. A
  /// refresh begins as try_get() begins one, and also where there is none.
  std::optional<access_token> current(time_point now);

  /// A token that the application acquired. Ends all waits; replaced by a refresh in time if there
  /// are credentials. Errors: invalid_argument for an empty value or one that is no field value.
  result<void> set_token(const access_token& token);

  /// The application could not acquire a token that it sets. What a failed refresh does, with this
  /// error. Errors: failed_precondition where tokens are not the application's to set.
  result<void> fail_token(const error& why);

 private:
  /// Drives one flow at a time on one executor of the transport, and hands its outcome to all who
  /// wait. It is at rest, or a refresh is under way (running_).
  ///
  /// At rest a call of await() without a good token begins a refresh, and so does the first
  /// try_get() after `due_`. advance() runs on the executor: it resumes the flow, which asks for an
  /// exchange (submit), a wait (sleep), or work that blocks (block_on, on a helper thread), and
  /// each of those comes back to advance(). The flow's last step is a token or an error. finish()
  /// then notes it, sets the next due time, and posts the outcome to the executors of all who wait.
  ///
  /// close() ends all waits, the timer and the exchange; every step finds closed_. It outlives its
  /// cache by as long as an exchange or a blocking step is still under way, and touches neither
  /// transport nor executors then. The mutex guards what calls and steps share; flow and exchange
  /// are the executor's.
  class refresher;
  ref<refresher> refresher_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/token_cache.ipp>
#include <dataflux/auth/impl/token_cache_faces.ipp>
#include <dataflux/auth/impl/token_cache_steps.ipp>
#endif
