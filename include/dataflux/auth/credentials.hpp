#pragma once

#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/token_flow.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Application Default Credentials (protocol.md 4.1): the search that every client of the cloud
/// makes, in the same order, so that what works for gcloud's libraries works here.
namespace dataflux::inline DATAFLUX_ABI::auth {

struct adc_options {
  /// The project that is billed, before GOOGLE_CLOUD_QUOTA_PROJECT and the file's own.
  std::string quota_project{};
  /// OAuth scopes, separated by spaces. People's credentials keep the scopes of their login.
  std::string scopes{storage_scope};
  /// The universe of the endpoint; credentials of another one are refused. Empty: any.
  std::string universe_domain{default_universe};
  /// Kinds to accept, by the `type` of the file and "compute_engine"; empty = all. Restrict them
  /// when somebody else supplies the file: some kinds name URLs to call and programs to run. A name
  /// of no kind is refused (invalid_argument), before anything is read.
  std::vector<std::string> allowed_kinds{};
  /// Exchange a service account's assertion for a token instead of signing the token here.
  bool exchange_service_account{false};
};

/// Credentials, and the endpoint that they are for.
struct default_credentials {
  credentials_ptr credentials{};
  /// The emulator named by STORAGE_EMULATOR_HOST: the base of every path of both APIs, and the
  /// only endpoint that may speak plain HTTP. Null: the public service. When it is set,
  /// `credentials` are anonymous, so that no real token can ever be sent there.
  std::shared_ptr<const http::origin> emulator{};
};

/// Finds credentials, in this order:
/// 1. STORAGE_EMULATOR_HOST: anonymous.
/// 2. GOOGLE_APPLICATION_CREDENTIALS: that file; a missing or broken one is an error, with no way
///    on. Set but empty counts as not set.
/// 3. application_default_credentials.json in $CLOUDSDK_CONFIG, or else in ~/.config/gcloud.
/// 4. The metadata server, unless NO_GCE_CHECK=true. It is taken for certain if GCE_METADATA_HOST
///    is set or the machine's product name begins with "Google"; otherwise the first token asks.
///
/// Errors: unauthenticated when there is nothing to be found, or the file of step 2 cannot be read;
/// invalid_argument for a broken file or variable and for a refused kind or universe;
/// unimplemented for the kinds that load_credentials_file() names.
///
/// Lifetime: `machine` is used in this call alone.
///
/// Threads: any may call.
///
/// Cost: reads files and variables, and asks nothing of the network.
result<default_credentials> find_default_credentials(
    const adc_options& options = {}, const environment& machine = process_environment());

/// Loads one credentials file of any supported kind: service_account, authorized_user.
///
/// Errors: as above. external_account, external_account_authorized_user,
/// impersonated_service_account and gdch_service_account are known and refused with unimplemented.
///
/// Lifetime, Threads, Cost: as above; one file is read.
result<credentials_ptr> load_credentials_file(const std::string& path,
                                              const adc_options& options = {},
                                              const environment& machine = process_environment());

/// No credentials: for public buckets and for emulators. Requests carry no Authorization, and
/// there is never a token to wait for. Cost: one allocation.
credentials_ptr make_anonymous_credentials();

/// Tokens that a function of the application gets, such as from a broker, a vault or another
/// library. It is called when a token is needed, and again 165 to 225 s before that one ends, on a
/// thread for steps that block: it may take its time, while calls go on with the token that is
/// there. It must not use the client. A failure is remembered as token_cache says: calls that find
/// no good token get it.
///
/// Errors, from the calls of the client: those of `get`; invalid_argument for a token that is
/// empty, has control characters or has expired, or is of a file; internal if it throws.
///
/// Threads: one call at a time for each client that has these credentials.
credentials_ptr make_token_provider(std::function<result<access_token>()> get);

/// Tokens that the application sets by gcs::client::set_token(). `needed` is called when one is
/// wanted: at first, 165 to 225 s before the last one ends, and when the service refused it; empty
/// = nobody is told. Calls that find no good token wait for it, up to `limit` from then (0 = 60 s);
/// gcs::client::fail_token() ends that wait when there will be none.
/// A program that sets its tokens in time need not listen.
///
/// Errors, from the calls of the client: unauthenticated, retryable, when no token came in time;
/// that of fail_token().
///
/// Threads: `needed` runs on an I/O thread: it must not block or throw; it may call set_token().
credentials_ptr make_set_tokens(std::function<void()> needed = {}, duration limit = {});

/// The origin that a value of STORAGE_EMULATOR_HOST means: scheme optional (http), a trailing slash
/// and "/storage/v1" dropped (protocol.md 4.10). Errors: invalid_argument, for any other path too.
result<http::origin> parse_emulator_host(std::string_view value);

}  // namespace dataflux::inline DATAFLUX_ABI::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/anonymous.ipp>
#include <dataflux/auth/impl/credentials.ipp>
#include <dataflux/auth/impl/given_tokens.ipp>
#endif
