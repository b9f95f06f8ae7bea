#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/unique_function.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

/// Credentials without input or output: they say what to do (send a request, wait, run a blocking
/// step) and are told the outcome, until there is a token or an error. Nothing here reads a clock,
/// opens a socket or spawns a thread, so every path runs in a test; token_cache drives it.
namespace dataflux::inline DATAFLUX_ABI::auth {

/// The wall clock: tokens are issued and expire by it.
using system_time = std::chrono::system_clock::time_point;

/// What goes behind "Authorization: Bearer ", a secret, and when the service stops accepting it.
struct access_token {
  std::string value{};
  system_time expires{};
};

/// May it go behind "Authorization: Bearer " at `now`? Errors: invalid_argument when it is empty,
/// has control characters, has expired, or is JSON, a URL or a path: "./", "../", "~/" or "file:"
/// before it, ".json" behind it, or "/" before it where there is such a file. Looks for that one
/// alone.
result<void> check_token(const access_token& token, system_time now);

/// What a flow may know at one step.
struct flow_moment {
  system_time now{};
  /// Uniform in [0, 1); spreads retries.
  double random{0};
};

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

/// What to do next. An access_token or an error is the end.
using flow_step = std::variant<http_step, wait_step, blocking_step, access_token, error>;

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
/// access_token or an error; not again after that. Retries are part of the flow. Dropping a flow
/// at any point is fine. Not thread-safe; it must not outlive its credentials.
class token_flow {
 public:
  token_flow() = default;
  token_flow(const token_flow&) = delete;
  token_flow& operator=(const token_flow&) = delete;
  virtual ~token_flow() = default;

  /// Cost: building one request; for service accounts an RSA signature (about 1 ms).
  virtual flow_step resume(flow_event event, const flow_moment& moment) = 0;
};

/// The default universe: where the endpoints of the public service live.
inline constexpr std::string_view default_universe = "googleapis.com";

/// What is known about credentials apart from the secrets in them.
struct credentials_facts {
  /// The `type` of the file, or "anonymous", "compute_engine".
  std::string kind{};
  /// The file they came from, for messages; empty when they came from no file.
  std::string path{};
  /// The project that is billed and whose quota counts (header x-goog-user-project); may be empty.
  std::string quota_project{};
  /// The project of the account, empty when unknown.
  std::string project{};
  std::string universe_domain{default_universe};

  /// "service_account credentials from /path/key.json", for messages.
  std::string describe() const;
};

/// The identity of the caller. Immutable after construction and thread-safe; holds secrets, prints
/// none.
class credentials {
 public:
  explicit credentials(credentials_facts facts) : facts_(std::move(facts)) {}
  credentials(const credentials&) = delete;
  credentials& operator=(const credentials&) = delete;
  virtual ~credentials() = default;

  const credentials_facts& facts() const noexcept { return facts_; }
  /// True if requests carry no Authorization at all; start() is not called then.
  virtual bool anonymous() const noexcept { return false; }
  /// True if the application sets each token, so that it may also say that there is none.
  virtual bool set_by_application() const noexcept { return false; }
  /// Begins to acquire a token. Does nothing by itself: see token_flow::resume.
  virtual std::unique_ptr<token_flow> start() const = 0;

 private:
  credentials_facts facts_;
};

/// Shared by every client and cache that uses them.
using credentials_ptr = std::shared_ptr<const credentials>;

}  // namespace dataflux::inline DATAFLUX_ABI::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/token_flow.ipp>
#endif
