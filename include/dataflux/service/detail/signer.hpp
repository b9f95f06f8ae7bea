#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>
#include <dataflux/unique_function.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// What an attempt is signed with: a bearer token, a pair of keys. Borrowed for the duration of the
/// call that hands it out.
struct credential_view {
  /// What goes along as it is; no error shows it. Empty: nothing is to be hidden.
  std::string_view secret{};
  /// The signer's own; tells one credential from another.
  std::uint64_t number{0};
};

/// What a call keeps of it, from the beginning of an attempt to its end.
struct credential {
  std::string secret{};
  std::uint64_t number{0};

  void assign(const credential_view& from) {
    secret.assign(from.secret);
    number = from.number;
  }
};

/// A request that is about to go out: method, origin, target, header fields and body are as they
/// will be sent, but for what the signer adds.
struct outgoing {
  http::request& request;
  /// The body's SHA-256 in hexadecimal, where the verb has one. Empty: nobody has made one, and
  /// the signer makes it of request.body, or signs without it.
  std::string_view body_digest{};
  /// Where the bucket is: see dialect::region_of().
  std::string_view region{};
  /// When it goes out, by the scheduler's clock.
  time_point now{};
};

/// An attempt that the service did not carry out, 4xx.
struct refusal {
  int status{0};
  std::string_view reason{};  ///< the service's, verbatim; a reply to HEAD has none
  std::string_view date{};    ///< the reply's Date field, as it came; empty = none
  duration age{0};            ///< since the attempt was signed
};

/// Called once with what to sign with, or with the reason why there is none.
using credential_handler = unique_function<void(result<credential_view>)>;

/// Names a waiting call until its handler ran; zero names none.
enum class signer_wait : std::uint64_t { none = 0 };

/// Says in the name of whom requests are sent: it sees each one before it goes out.
///
/// An attempt first has its credential: at once (try_get), or it waits for one (await), and holds
/// no connection and no turn meanwhile. Then it waits for its turn; then the request is built and
/// signed, at the last moment, so that a time in the signature is that of sending. A refusal that
/// another signature may mend leads to one more attempt at once; a second one in a row ends the
/// call.
///
/// Threads: all members may be called from any thread. Lifetime: the transport outlives the signer,
/// and so does the executor of every waiting call. Destruction ends all waits with errc::cancelled.
class signer {
 public:
  signer() = default;
  signer(const signer&) = delete;
  signer& operator=(const signer&) = delete;
  virtual ~signer() = default;

  /// What is good at `now` (of the scheduler's clock); nullopt: await() then. Never blocks. The
  /// view is valid until this thread calls try_get() again, on any signer.
  virtual std::optional<credential_view> try_get(time_point now) = 0;
  /// Runs `handler` on `executor`, never from inside this call, once there is a credential or an
  /// error.
  virtual signer_wait await(scheduler& executor, credential_handler handler) = 0;
  /// Destroys a waiting handler without calling it. False if it has run, or is about to.
  virtual bool cancel(signer_wait wait) noexcept = 0;

  /// Adds the header fields that say who sends; all others are there. On the executor of the call,
  /// for each attempt anew. An error ends the call; it shows no secret.
  virtual result<void> sign(const outgoing& out, const credential& with) = 0;
  /// The service has refused what was signed so. True: another attempt may do better, since the
  /// credential was dropped for another one, or the clock corrected.
  virtual bool refused(const credential& with, const refusal& why) = 0;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
