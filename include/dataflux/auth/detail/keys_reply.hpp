#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/token_flow.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// What the sources of AWS's keys answer, read strictly. Pure. Errors are internal, say what is
/// wrong and quote nothing.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Whether it may be a region, which becomes a part of host names: one label, of a-z, 0-9 and '-'.
bool is_region(std::string_view text) noexcept;

/// More is no answer with keys.
inline constexpr std::size_t longest_keys_reply = std::size_t{64} << 10;

/// Of visible ASCII alone, and no longer; empty, too.
bool is_key_text(std::string_view text, std::size_t longest) noexcept;
inline constexpr std::size_t longest_session_token = std::size_t{16} << 10;

/// When an answer came, by this machine's clock and by the sender's.
struct answer_time {
  system_time now{};
  /// The reply's Date. The life of keys is counted from it, so that a wrong clock of this machine
  /// neither ends them early nor keeps them too long.
  std::optional<timestamp> served{};

  static answer_time of(const http_reply& reply, system_time now);
  /// When keys end, by this machine's clock.
  system_time end(timestamp expires) const noexcept;
};

/// Keys whose texts can be sent: of visible ASCII, each of 4 KiB at most, the session token of 16.
result<access_keys> make_keys(std::string_view id, std::string_view secret,
                              std::string_view session_token);

/// The members of a JSON object that hold keys.
struct keys_names {
  std::string_view id{"AccessKeyId"};
  std::string_view secret{"SecretAccessKey"};
  std::string_view session_token{"Token"};
  std::string_view expires{"Expiration"};
};

/// Keys in an object. Their end is RFC 3339 with a zone, or a number of milliseconds; keys without
/// one have no end. Members may be null.
result<access_keys> read_keys(codec::json_value from, const keys_names& names,
                              const answer_time& when);

/// The JSON of a credential_process (s3-protocol.md 6.6): {"Version": 1, "AccessKeyId", ...}.
result<access_keys> read_process_keys(std::string_view json, system_time now);

/// The XML of AssumeRole and AssumeRoleWithWebIdentity (s3-protocol.md 6.4): keys in `Credentials`
/// of `<action>Result`.
result<access_keys> read_role_keys(std::string_view xml, std::string_view action,
                                   const answer_time& when);

/// The code of an `<ErrorResponse>` of STS, and its message; empty for anything else.
struct sts_refusal {
  std::string code{};
  std::string message{};
};
sts_refusal read_sts_refusal(std::string_view xml);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/keys_reply.ipp>
#endif
