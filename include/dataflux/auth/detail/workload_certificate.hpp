#pragma once

#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/result.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Where the certificate of a workload and its key lie, PEM both. Whoever issues them replaces the
/// files before they end, so they are read anew whenever they are used.
struct workload_certificate {
  std::string configuration{};  ///< the file that says so
  std::string certificate_file{};
  std::string key_file{};
};

/// Reads certificate_config.json: {"cert_configs":{"workload":{"cert_path","key_path"}}}
/// (protocol.md 4.4). It is `location`; where that is empty, what GOOGLE_API_CERTIFICATE_CONFIG
/// names; else the file in gcloud's folder.
///
/// Errors name the file and the field, and quote no value: not_found when there is no such file;
/// invalid_argument for a broken one, and for one without a workload; else those of reading.
///
/// Lifetime: `machine` is used during this call only. Threads: any. Cost: one file is read.
result<workload_certificate> find_workload_certificate(const environment& machine,
                                                       const std::string& location = {});

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/workload_certificate.ipp>
#endif
