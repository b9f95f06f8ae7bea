#pragma once

#include <dataflux/result.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// The settings of one section: names in lower case, of nested ones with the outer name in front
/// ("s3.endpoint_url").
using aws_section = std::map<std::string, std::string, std::less<>>;
/// By "KIND NAME".
using aws_sections = std::map<std::string, aws_section, std::less<>>;

/// What AWS's two files of profiles say (s3-protocol.md 6.3). They are read as AWS's own tools read
/// them: a line is
/// `[section]`, `name = value` or a nested `name = value` behind blanks; `#` and `;` begin a
/// comment in the first column and behind a blank; a section that comes again goes on; what is none
/// of these is passed over, since these files belong to people and to other tools.
///
/// Bounds: 1 MiB a file (environment::read_file), 4,096 sections and 65,536 settings of each.
class aws_profiles {
 public:
  /// ~/.aws/config: [default], [profile NAME], [sso-session NAME], [services NAME].
  /// Errors: invalid_argument beyond the bounds.
  result<void> add_config(std::string_view text);
  /// ~/.aws/credentials: [NAME]. After the other: its settings win. The three of a pair of keys are
  /// taken from one file.
  result<void> add_credentials(std::string_view text);

  /// Null when there is no such section.
  const aws_section* profile(std::string_view name) const { return find("profile", name); }
  const aws_section* sso_session(std::string_view name) const { return find("sso-session", name); }
  const aws_section* services(std::string_view name) const { return find("services", name); }

 private:
  const aws_section* find(std::string_view kind, std::string_view name) const;

  aws_sections sections_{};
};

/// Of a section, nothing when it is not there or empty.
std::optional<std::string> setting(const aws_section* of, std::string_view name);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/aws_profiles.ipp>
#endif
