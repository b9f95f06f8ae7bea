#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/aws_profiles.hpp>
#include <dataflux/auth/detail/aws_sources.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {
struct aws_options;
struct aws_credentials;
}  // namespace dataflux::inline DATAFLUX_ABI

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// The two files of profiles.
struct aws_files {
  std::string config{};
  std::string credentials{};

  static aws_files of(const environment& machine);
  /// Both; one that is missing is empty. Errors name the file.
  result<aws_profiles> read(const environment& machine) const;
  /// "/h/.aws/credentials and /h/.aws/config", for messages.
  std::string both() const;
};

/// The keys that a profile itself has; without an id when it has none. Errors: invalid_argument for
/// an id without a secret and the other way round.
result<access_keys> keys_of_profile(const aws_section& profile);

/// Decides, by variables and files alone, where keys come from. Used once, by one thread.
class aws_planner {
 public:
  aws_planner(const aws_options& options, const environment& machine)
      : options_(options), machine_(machine), files_(aws_files::of(machine)) {}

  result<aws_credentials> plan();
  /// For who proves by AWS's keys who he is elsewhere: variables, a web identity, the endpoint of a
  /// container, then the machine's metadata service; no profile.
  result<credentials_ptr> workload_keys(instance_options machine);

 private:
  /// Credentials, an error that ends the search, or null: it goes on.
  using found = result<credentials_ptr>;

  found search();
  found of_variables();
  found of_web_identity();
  found of_container();
  found of_instance(bool expected);

  // aws_profile_plan.ipp
  found of_profile(const std::string& name, bool named);
  found own_keys(const std::string& name, const aws_section& profile);
  found of_role(const std::string& name, const aws_section& profile);
  found source_of(const std::string& name, const aws_section& profile);
  found of_login(const std::string& name, const aws_section& profile);
  found of_process(const std::string& name, const aws_section& profile);

  credentials_facts facts(std::string_view kind, std::string path = {}) const;
  credentials_facts profile_facts(std::string_view kind, const std::string& name) const;
  error bad_profile(const std::string& name, std::string_view what,
                    errc code = errc::invalid_argument) const;
  /// Notes why a place was passed over.
  found pass(std::string_view why);
  /// What STS needs for a role; `profile` may be null.
  result<role_options> role(const aws_section* profile, std::string arn, std::string session) const;
  /// As variables or the profile name it.
  std::optional<std::string> configured_endpoint(const char* variable,
                                                 std::string_view service) const;
  /// Of a service: as it is configured, else the public one, "https://HOST.REGION.SUFFIX".
  result<http::url> endpoint(const char* variable, std::string_view service, std::string_view host,
                             const std::string& region) const;
  std::string sts_region() const { return region_.empty() ? "us-east-1" : region_; }

  const aws_options& options_;
  const environment& machine_;
  const aws_files files_;
  aws_profiles profiles_{};
  std::string profile_name_{};
  std::string region_{};
  std::string passed_over_{};
  /// Profiles of roles that led here.
  std::vector<std::string> seen_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
