#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/result.hpp>

#include <string>

/// Keys of AWS, and of stores that speak S3: where AWS's own tools look for them, in their order.
namespace dataflux::inline DATAFLUX_ABI {

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
#include <dataflux/auth/impl/aws_credentials.ipp>
#include <dataflux/auth/impl/aws_profile_plan.ipp>
#endif
