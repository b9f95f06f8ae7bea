#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Application Default Credentials (protocol.md 4.1): the search of Google's own libraries, in the
/// same order. Then keys of AWS, and of stores that speak S3: the search of AWS's own tools.
namespace dataflux::inline DATAFLUX_ABI {

struct adc_options {
  /// The billed project, in place of GOOGLE_CLOUD_QUOTA_PROJECT and the file's own.
  std::string quota_project{};
  /// OAuth scopes, separated by spaces. People's credentials keep the scopes of their login.
  std::string scopes{storage_scope};
  /// The universe of the endpoint; credentials of another one are refused. Empty: any. The default
  /// one: that of GOOGLE_CLOUD_UNIVERSE_DOMAIN, where it is set.
  std::string universe_domain{default_universe};
  /// Kinds to accept, by the `type` of the file and "compute_engine"; empty = all. Restrict them
  /// for files from others: some kinds name URLs to call and programs to run. Those of
  /// `source_credentials` in a file count, too. An unknown kind is invalid_argument, before
  /// anything is read.
  std::vector<std::string> allowed_kinds{};
  /// Exchange a service account's assertion for a token instead of signing the token here.
  bool exchange_service_account{false};
  /// Hosts that a file may send its secrets to, beside those of googleapis.com, of its universe and
  /// of this machine; and those of the variable DATAFLUX_TOKEN_HOSTS, with commas between.
  std::vector<std::string> token_hosts{};
};

/// Credentials and their endpoint.
struct default_credentials {
  credentials_ptr credentials{};
  /// The emulator named by STORAGE_EMULATOR_HOST: the base of every path of both APIs, and the
  /// only endpoint that may speak plain HTTP. Null: the public service. When it is set,
  /// `credentials` are anonymous, so that no real token can ever be sent there.
  std::shared_ptr<const detail::http::origin> emulator{};
};

/// Finds credentials, in this order:
/// 1. STORAGE_EMULATOR_HOST: anonymous.
/// 2. GOOGLE_APPLICATION_CREDENTIALS: that file; a missing or broken one is an error, and the
///    search ends. An empty variable counts as not set.
/// 3. application_default_credentials.json in $CLOUDSDK_CONFIG, or else in ~/.config/gcloud.
/// 4. The metadata server, unless NO_GCE_CHECK=true. It is assumed to exist if GCE_METADATA_HOST is
///    set or the machine's product name begins with "Google"; otherwise the first token finds out.
///
/// The project is that of GOOGLE_CLOUD_PROJECT, GCLOUD_PROJECT or the file. Where the server of
/// step 4 does not answer each further token looks for it again.
///
/// Errors: unauthenticated when nothing is found, or the file of step 2 cannot be read.
/// invalid_argument for a broken file or variable, a refused kind or universe, and a host that may
/// not get secrets. failed_precondition for a program that may not run. unimplemented for the kind
/// that load_credentials_file() names.
///
/// Lifetime: `machine` outlives the credentials, which may read files and run programs by it.
///
/// Threads: any may call.
///
/// Cost: reads files and variables, without network calls.
result<default_credentials> find_default_credentials(
    const adc_options& options = {},
    const detail::auth::environment& machine = detail::auth::process_environment());

/// Loads one credentials file: service_account, authorized_user, external_account,
/// external_account_authorized_user, or impersonated_service_account over any of these.
///
/// Errors: as above. gdch_service_account is known and refused with unimplemented.
///
/// Lifetime, Threads, Cost: as above; one file is read.
result<credentials_ptr> load_credentials_file(
    const std::string& path, const adc_options& options = {},
    const detail::auth::environment& machine = detail::auth::process_environment());

/// No credentials: for public buckets and for emulators. Requests carry no Authorization, and never
/// wait for a token. Cost: one allocation.
credentials_ptr make_anonymous_credentials();

/// Tokens from a function of the application, such as from a broker, a vault or another library. It
/// is called when a token is needed, and again 165 to 225 s before that token expires, on a thread
/// for blocking steps. Meanwhile calls use the current token. The function must not use the client.
/// A failure is remembered as token_cache says: calls without a valid token get it.
///
/// Errors, from the calls of the client: those of `get`; invalid_argument for a token that is
/// empty, has control characters or has expired, or is of a file; internal if it throws.
///
/// Threads: one call at a time for each client that has these credentials.
credentials_ptr make_token_provider(std::function<result<access_token>()> get);

/// The access token that a file has, which somebody replaces in time. It is read when a token is
/// needed, every five minutes or so, and when the service has refused the last one. Line ends
/// behind the token are no part of it.
///
/// Errors, from the calls of the client: unauthenticated when it cannot be read; invalid_argument
/// for what is no token. Lifetime: `machine` outlives the credentials.
credentials_ptr make_token_file(std::string path, const detail::auth::environment& machine =
                                                      detail::auth::process_environment());

/// What downscoped tokens may do at a bucket, at most.
struct access_rule {
  std::string bucket{};
  /// Such as "roles/storage.objectViewer".
  std::vector<std::string> roles{};
  /// An expression of CEL, such as
  /// "resource.name.startsWith('projects/_/buckets/BUCKET/objects/PREFIX')"; empty = any object.
  std::string condition{};
};

struct access_boundary {
  /// One to ten.
  std::vector<access_rule> rules{};
  /// Of the service that exchanges tokens: https, or http at a loopback address. Empty: that of the
  /// source's universe.
  std::string token_url{};
};

/// Tokens that may do less than those of `source`, for processes that are trusted less: a broker
/// hands them out. The service takes access tokens with the scope cloud-platform: load a service
/// account with that scope and exchange_service_account.
///
/// Errors: invalid_argument for a boundary without rules or with more than ten, a rule without a
/// bucket or a role, and a source without tokens. From the calls of the client: those of the source
/// and of the exchange.
result<credentials_ptr> make_downscoped_credentials(credentials_ptr source,
                                                    const access_boundary& boundary);

/// Tokens that the application sets by gcs::client::set_token(). `needed` is called when a token is
/// needed: at first, 165 to 225 s before the last one expires, and when the service refused it;
/// empty = no call. Calls without a valid token wait until `limit` (0 = 60 s) has
/// passed since that call of `needed`; gcs::client::fail_token() ends that wait. A program that
/// sets its tokens in time need not listen.
///
/// Errors, from the calls of the client: unauthenticated, retryable, when no token came in time;
/// that of fail_token().
///
/// Threads: `needed` runs on an I/O thread: it must not block or throw; it may call set_token().
credentials_ptr make_set_tokens(std::function<void()> needed = {}, duration limit = {});

/// The same credentials, whose tokens all processes of this user on this machine share by a folder:
/// of 64 processes that begin at once, one asks for a token, and the others take it.
///
/// A token is shared by those alone whose credentials are the same: kind, principal, key or login,
/// scopes and endpoint. A process that needs a new one takes what is in the folder, unless that is
/// stale, or the one that it had before, which the service may have refused. Else it asks, and
/// holds a lock meanwhile. The others wait for that, for 20 s at most; then they ask themselves, as
/// they do where the folder fails.
///
/// Some credentials are given back as they are. Their tokens cost no request (self-signed ones of
/// a service account), or nothing is sent. Or only the token shows whose it is: those of the
/// metadata server, which keeps them itself, and of functions of the application.
///
/// `folder` is on a disk of this machine, such as /dev/shm or /run/user/1000. Tokens lie in a
/// folder of their own there, which nobody else may look into (0700), in files of 0600.
///
/// Errors: failed_precondition for a folder on a file system of several machines (NFS and its
/// like), and for one in which others may replace what is not theirs. The same for an own folder
/// that is another user's or may be looked into, or what is missing. Else those of the file system.
/// `observer` gets a warning of each later failure, which ends nothing.
///
/// Lifetime: `observer`, which may be null, outlives the credentials. Threads: any. Cost: looks at
/// the folder; then some system calls for each new token, on the thread for blocking steps.
result<credentials_ptr> share_tokens(credentials_ptr of, const std::string& folder,
                                     dataflux::observer* observer = nullptr);

/// The origin that a value of STORAGE_EMULATOR_HOST means: scheme optional (http), a trailing slash
/// and "/storage/v1" dropped (protocol.md 4.10). Errors: invalid_argument, for any other path too.
result<detail::http::origin> parse_emulator_host(std::string_view value);

struct aws_options {
  /// A profile of AWS's two files. It goes before keys in variables, as a profile that AWS_PROFILE
  /// names does not. Empty: AWS_PROFILE, AWS_DEFAULT_PROFILE, "default".
  std::string profile{};
  /// Before AWS_REGION, AWS_DEFAULT_REGION and the profile's region.
  std::string region{};
};

/// Credentials and what belongs to them.
struct aws_credentials {
  /// Their flow ends with access_keys. facts().kind says where they come from: "aws_environment",
  /// "aws_web_identity", "aws_profile", "aws_role", "aws_sso", "aws_process", "aws_container",
  /// "aws_instance".
  credentials_ptr credentials{};
  /// Empty when nothing names one: then keys of an instance have it (access_keys::region).
  std::string region{};
  /// Of S3: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, `endpoint_url` of the profile's `services` or
  /// its own. Empty: none of them, or AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true.
  std::string endpoint{};
};

/// Finds credentials, in this order (s3-protocol.md 6.1):
/// 1. AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, with AWS_SESSION_TOKEN.
/// 2. AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN.
/// 3. The profile in $AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) and $AWS_CONFIG_FILE
///    (~/.aws/config): role_arn with source_profile; its own keys; role_arn with
///    credential_source or web_identity_token_file; sso_session; credential_process. A profile that
///    is named and missing ends the search.
/// 4. AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, or _FULL_URI: https, or http to a loopback address,
///    169.254.170.2, 169.254.170.23 or [fd00:ec2::23].
/// 5. The metadata service of the machine, unless AWS_EC2_METADATA_DISABLED=true.
///
/// Anonymous credentials are never found: make_anonymous_credentials() asks for them by name.
///
/// What is read again for each new set of keys: a profile's keys, token files, logins, the output
/// of programs. Keys are renewed from 15 minutes before their end; those without an end when the
/// service refuses them.
///
/// Errors: unauthenticated when nothing is found. invalid_argument for a broken file or variable, a
/// profile that is missing, roles that need each other, and addresses that no secret may go to.
/// unimplemented for what is known and refused: mfa_serial (it needs a prompt) and login_session.
/// Each says what was looked at before. No error shows a secret.
///
/// Lifetime: `machine` outlives the credentials. Threads: any may call. Cost: reads two files and
/// variables, without network calls.
result<aws_credentials> find_aws_credentials(
    const aws_options& options = {},
    const detail::auth::environment& machine = detail::auth::process_environment());

/// Keys that the application has. Errors: invalid_argument for keys that no request can carry.
result<credentials_ptr> make_aws_keys(access_keys keys);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/anonymous.ipp>
#include <dataflux/auth/impl/aws_credentials.ipp>
#include <dataflux/auth/impl/aws_profile_plan.ipp>
#include <dataflux/auth/impl/credentials.ipp>
#include <dataflux/auth/impl/downscoped.ipp>
#include <dataflux/auth/impl/given_tokens.ipp>
#include <dataflux/auth/impl/shared_tokens.ipp>
#endif
