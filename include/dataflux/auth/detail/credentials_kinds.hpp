#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/result.hpp>

#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {
struct adc_options;
}  // namespace dataflux::inline DATAFLUX_ABI

/// Which kinds of credentials there are, and what is asked of all of them.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Is each of the allowed kinds one? Errors: invalid_argument.
result<void> validate(const adc_options& options);

/// Errors: invalid_argument for a kind that the caller does not accept.
result<void> allowed(const adc_options& options, std::string_view kind);

/// The option, or what variables say in its place.
std::string quota_project_of(const adc_options& options, const environment& machine);
std::string universe_of(const adc_options& options, const environment& machine);
/// What variables say; empty: nothing.
std::string project_of(const environment& machine);

/// Credentials of the content of a file. Errors: those of load_credentials_file(). Lifetime:
/// `machine` outlives them.
result<credentials_ptr> parse_credentials(const std::string& json, const std::string& path,
                                          const adc_options& options, const environment& machine);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/credentials_kinds.ipp>
#endif
