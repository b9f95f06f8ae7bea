#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>
#include <dataflux/unique_function.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

/// Credentials without input or output: they say what to do (send a request, wait, run a blocking
/// step) and are told the outcome, until there is a token or an error. Nothing here reads a clock,
/// opens a socket or spawns a thread, so every path runs in a test; token_cache drives it.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// May it go behind "Authorization: Bearer " at `now`? Errors: invalid_argument when it is empty,
/// has control characters, has expired, or is JSON, a URL or a path: "./", "../", "~/" or "file:"
/// before it, ".json" behind it, or "/" before it where there is such a file. Looks for that one
/// alone.
result<void> check_token(const access_token& token, system_time now);

/// What a flow may know at one step.
struct flow_moment {
  /// The service's time, as far as it is known: what tokens are signed and end by.
  system_time now{};
  /// Uniform in [0, 1); spreads retries.
  double random{0};
  /// What this machine's clock says: what the application's tokens end by, and those in a file.
  system_time local{now};
};

/// The end of a token that an application or a file has told, by the service's time. One without an
/// end has none.
inline system_time in_time_of_service(system_time local_end, const flow_moment& moment) noexcept {
  constexpr auto far = std::chrono::years(100);
  if (local_end > moment.local + far) return local_end;
  return local_end + (moment.now - moment.local);
}

/// Send this request and resume with a result<http_reply>.
struct http_step {
  /// Its body is empty: whoever sends it points it at `body` once the step has come to rest. An
  /// origin marked `direct` (the metadata server) must be reached without a proxy.
  http::request request{};
  std::string body{};
  /// For the whole exchange, waiting for a connection included.
  duration timeout{std::chrono::seconds(30)};
  /// May be sent twice without harm.
  bool idempotent{true};
};

/// Resume after this time.
struct wait_step {
  duration wait{};
};

/// Run this on a thread that may block (a file, an executable), and resume with what it gave.
struct blocking_step {
  unique_function<result<std::string>()> work{};
};

/// What to do next. A token, keys or an error is the end.
using flow_step =
    std::variant<http_step, wait_step, blocking_step, access_token, access_keys, error>;

/// A reply of any status. The body is cut off at 1 MiB by failing the exchange.
struct http_reply {
  int status{0};
  http::header_list headers{};
  std::string body{};
};

/// What became of the last step: nothing to tell (the first call, and after a wait), an HTTP reply,
/// or a blocking step's outcome. An exchange that ended without a reply is an error whose
/// retryable() says whether another try makes sense.
using flow_event = std::variant<std::monostate, result<http_reply>, result<std::string>>;

/// One acquisition of one token, step by step.
///
/// Call resume() with an empty event first, then with the outcome of each step, until it gives an
/// access_token, access_keys or an error; not again after that. Retries are part of the flow.
/// Dropping a flow at any point is fine. Not thread-safe; it must not outlive its credentials.
class token_flow {
 public:
  token_flow() = default;
  token_flow(const token_flow&) = delete;
  token_flow& operator=(const token_flow&) = delete;
  virtual ~token_flow() = default;

  /// Cost: building one request; for service accounts an RSA signature (about 1 ms).
  virtual flow_step resume(flow_event event, const flow_moment& moment) = 0;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/token_flow.ipp>
#endif
