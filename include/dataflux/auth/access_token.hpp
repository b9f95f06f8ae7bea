#pragma once

#include <dataflux/detail/config.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::auth {
class token_flow;
struct signing_identity;
}  // namespace detail::auth

/// The wall clock: tokens are issued and expire by it.
using system_time = std::chrono::system_clock::time_point;

/// What goes behind "Authorization: Bearer ", a secret, and when the service stops accepting it.
struct access_token {
  std::string value{};
  system_time expires{};
};

/// Keys of an AWS account or of a role: they sign requests, and never go along with one. Secrets,
/// but for `id`.
struct access_keys {
  std::string id{};
  std::string secret{};
  /// Sent with each request; empty for keys of a person.
  std::string session_token{};
  /// Far in the future: they have no end that is known.
  system_time expires{system_time::max()};
  /// Where the machine is that they are of; empty when unknown. From the metadata service of an
  /// instance alone, and where no region is configured.
  std::string region{};
};

/// The default universe: where the endpoints of the public service live.
inline constexpr std::string_view default_universe = "googleapis.com";

/// What storage clients ask for: read and write objects, but not change who may.
inline constexpr std::string_view storage_scope =
    "https://www.googleapis.com/auth/devstorage.read_write";

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
  /// What the search looked at before these, and why it went on; for messages, may be empty.
  std::string passed_over{};

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
  /// True if the application sets each token, so that it may also say that it has no token.
  virtual bool set_by_application() const noexcept { return false; }
  /// All that its tokens depend on, for the cache that processes share (share_tokens()): kind,
  /// principal, key or login, scopes, endpoint. A secret. Empty: its tokens are not shared, since
  /// only they themselves show whose they are, as those of the metadata server.
  virtual std::string token_identity() const { return {}; }
  /// The account that URLs are signed for; none, unless a kind says otherwise.
  DATAFLUX_INLINE virtual detail::auth::signing_identity signs_as() const;
  /// Begins to acquire a token. Does nothing by itself: see token_flow::resume.
  virtual std::unique_ptr<detail::auth::token_flow> start() const = 0;

 private:
  credentials_facts facts_;
};

/// Shared by every client and cache that uses them.
using credentials_ptr = std::shared_ptr<const credentials>;

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/detail/token_flow.hpp>
#include <dataflux/auth/impl/access_token.ipp>
#endif
