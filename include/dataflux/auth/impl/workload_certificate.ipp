#pragma once

#include <dataflux/auth/detail/workload_certificate.hpp>
#include <dataflux/codec/detail/json.hpp>

#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

namespace workload_certificate_detail {

inline error broken(const std::string& path, std::string_view what) {
  return {errc::invalid_argument,
          std::string("certificate configuration ").append(path).append(": ").append(what)};
}

inline result<std::string> path_in(codec::json_value workload, std::string_view field,
                                   const std::string& path) {
  const auto text = workload.find(field).text();
  // A path ends at a zero byte, and what is behind it would not be looked at.
  if (text && !text->empty() && text->find('\0') == std::string_view::npos) {
    return std::string{*text};
  }
  return broken(
      path, "field \"cert_configs.workload." + std::string(field) + "\" is missing, or no path");
}

/// Where there is one; else empty.
inline std::string location_of(const environment& machine) {
  if (auto named = set_variable(machine, "GOOGLE_API_CERTIFICATE_CONFIG")) return *std::move(named);
  std::string folder = gcloud_folder(machine);
  return folder.empty() ? folder : folder.append("/certificate_config.json");
}

}  // namespace workload_certificate_detail

DATAFLUX_INLINE result<workload_certificate> find_workload_certificate(
    const environment& machine, const std::string& location) {
  namespace d = workload_certificate_detail;
  workload_certificate found{.configuration =
                                 location.empty() ? d::location_of(machine) : location};
  const std::string& path = found.configuration;
  if (path.empty()) {
    return error{errc::not_found, "there is no certificate configuration: HOME is not set"};
  }
  auto text = machine.read_file(path);
  if (!text) {
    return error{text.error().code(), "certificate configuration " + text.error().message()};
  }
  const auto document = codec::json_document::parse(as_bytes(*text));
  if (!document) return d::broken(path, "it is not valid JSON");
  const codec::json_value workload = document->root().find("cert_configs").find("workload");
  if (workload.kind() != codec::json_kind::object) {
    return d::broken(path, "it has no \"cert_configs.workload\"");
  }
  auto certificate = d::path_in(workload, "cert_path", path);
  if (!certificate) return std::move(certificate).error();
  auto key = d::path_in(workload, "key_path", path);
  if (!key) return std::move(key).error();
  found.certificate_file = *std::move(certificate);
  found.key_file = *std::move(key);
  return found;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
