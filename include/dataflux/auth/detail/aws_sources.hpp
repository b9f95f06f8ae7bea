#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

/// The places that AWS's keys come from: each is credentials whose flow ends with access_keys. They
/// are constructed without a look at anything. `facts` name them in errors. `machine` outlives
/// them: files, programs and tokens are read again for each set of keys.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// These keys. Errors of its flow: unauthenticated when they have ended.
credentials_ptr make_static_keys(credentials_facts facts, access_keys keys);

/// What `get` reads, on the thread for blocking steps. Errors of its flow: those of `get`.
credentials_ptr make_read_keys(credentials_facts facts, std::function<result<access_keys>()> get);

/// What a program writes: `words` are its path and arguments. It has a minute.
credentials_ptr make_process_keys(credentials_facts facts, std::vector<std::string> words,
                                  const environment& machine);

/// The service that gives out the keys of a role (STS).
struct role_options {
  /// Its address.
  http::url sts{};
  /// What requests to it are signed for.
  std::string region{};
  std::string arn{};
  /// Shown in the account's logs; empty = "dataflux-" and the time.
  std::string session{};
  std::string external_id{};
  /// How long the keys are good; 0 = as STS has it, an hour.
  std::chrono::seconds life{0};
};

/// Those of a role that `source` may assume (s3-protocol.md 6.4). Its flow runs that of `source`
/// first.
credentials_ptr make_role_keys(credentials_facts facts, role_options role, credentials_ptr source);

/// Those of a role, for a token that somebody else issued and a file has
/// (s3-protocol.md 6.5). The file is read for each try: whoever issues tokens replaces it.
credentials_ptr make_web_identity_keys(credentials_facts facts, role_options role,
                                       std::string token_file, const environment& machine);

/// The endpoint of a container or a pod.
struct container_options {
  http::url endpoint{};
  /// The Authorization field; of the file, if one is named.
  std::string token{};
  std::string token_file{};
};

/// Those of a container's task, or of a pod (s3-protocol.md 6.9). Three tries of 2 s.
credentials_ptr make_container_keys(credentials_facts facts, container_options options,
                                    const environment& machine);

/// The metadata service of a machine (IMDS).
struct instance_options {
  http::origin service{.tls = false, .host = "169.254.169.254", .port = 80, .direct = true};
  /// The machine is known to have one: it gets three tries from the beginning.
  bool expected{false};
  /// Ask only with a session token: never as the first version of the service was asked.
  bool tokens_only{false};
  /// Also ask where the machine is; or ask for nothing else, and the keys are empty.
  bool with_region{false};
  bool region_alone{false};
  /// Where it says the name of the role, and behind it the keys; where the region, or the zone,
  /// which is a region with a letter behind it.
  std::string roles_target{"/latest/meta-data/iam/security-credentials/"};
  std::string region_target{"/latest/meta-data/placement/region"};
  bool region_is_zone{false};
  /// Said when nothing answers; empty for a plain statement.
  std::string absent_message{};
};

/// Those of a machine's role (s3-protocol.md 6.10). A first flow that nothing answers ends after 2
/// s with unauthenticated and `absent_message`; once it has answered, it gets three tries. Keys
/// that have ended are used on, as AWS's own clients do: while the service cannot renew them, it
/// may still take them.
credentials_ptr make_instance_keys(credentials_facts facts, instance_options options);

/// A login by IAM Identity Center.
struct sso_options {
  /// With the login's token.
  std::string cache_file{};
  std::string account{};
  std::string role{};
  http::url portal{};  ///< gives keys for the token
  http::url oidc{};    ///< gives a new token for the refresh token
  /// What to run when the login is over.
  std::string advice{};
};

/// Those of a role that a login may use (s3-protocol.md 6.7). The login's token is renewed from 15
/// minutes before its end, and its file replaced, if the file has what that takes.
credentials_ptr make_sso_keys(credentials_facts facts, sso_options options,
                              const environment& machine);

/// 40 digits: the name of a login's file is made so.
std::string sha1_hex(std::string_view text);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/aws_container.ipp>
#include <dataflux/auth/impl/aws_instance.ipp>
#include <dataflux/auth/impl/aws_role.ipp>
#include <dataflux/auth/impl/aws_sources.ipp>
#include <dataflux/auth/impl/aws_sso.ipp>
#endif
