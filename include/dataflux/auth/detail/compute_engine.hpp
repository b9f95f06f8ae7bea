#pragma once

#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/token_flow.hpp>

#include <chrono>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Where the metadata server is, and how sure that there is one (protocol.md 4.8).
struct compute_engine_options {
  /// host[:port], plain HTTP, never through a proxy.
  std::string host{"metadata.google.internal"};
  /// True if the machine is known to have one. False: the first flow asks `probe_host` first and
  /// fails with unauthenticated and `absent_message` when nothing that calls itself Google answers.
  bool present{true};
  /// An address, so that a machine elsewhere does not wait for a name server.
  std::string probe_host{"169.254.169.254"};
  /// Per probe, and how many of them.
  duration probe_timeout{std::chrono::seconds(3)};
  int probe_tries{3};
  /// Nothing else tells whether there is one, and it may start later than we do: its absence is
  /// retryable().
  bool may_come{false};
  /// Said when there is no metadata server; empty for a plain statement.
  std::string absent_message{};
  /// The account of the machine, by e-mail address or alias.
  std::string account{"default"};
  /// OAuth scopes, separated by spaces. Ignored by machines whose scopes were set at creation.
  std::string scopes{storage_scope};
  /// Refuse tokens of another universe. Empty: any.
  std::string universe_domain{default_universe};
  std::string quota_project{};
  /// Of the account, where something says it.
  std::string project{};
};

/// The account that a machine of the cloud runs as, by its metadata server. Constructing asks
/// nothing of the network.
///
/// The steps of a flow: the probe, if `present` is false; a check of the universe, where only a
/// clear answer that names another one counts; the token. The first two are done until they succeed
/// once, then not again. Errors here: invalid_argument for a host that is no host.
result<credentials_ptr> make_compute_engine_credentials(compute_engine_options options = {});

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/compute_engine.ipp>
#endif
