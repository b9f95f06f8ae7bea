#pragma once

#include <dataflux/http/detail/trust_places.hpp>

#include <array>
#include <cstdlib>

#include <unistd.h>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Debian, Ubuntu, Arch, Gentoo; Fedora, RHEL 7 and later; SUSE; RHEL 6; CentOS and newer RHEL;
/// Alpine.
inline constexpr std::array<const char*, 6> usual_files{
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem"};
inline constexpr std::array<const char*, 2> usual_folders{"/etc/ssl/certs", "/etc/pki/tls/certs"};

DATAFLUX_INLINE trust_places find_trust_places(const std::string& given, trust_machine& machine) {
  if (!given.empty()) return {.file = given};
  const auto named = [&](const char* name) { return machine.variable(name).value_or(""); };
  trust_places places{named("SSL_CERT_FILE"), named("SSL_CERT_DIR"), {}};
  if (!places.file.empty()) places.named_by = "SSL_CERT_FILE";
  if (!places.folders.empty()) {
    places.named_by += places.file.empty() ? "SSL_CERT_DIR" : " and SSL_CERT_DIR";
  }
  if (!places.named_by.empty()) return places;
  const auto there = [&](const std::string& path) {
    return !path.empty() && machine.readable(path);
  };
  if (there(machine.built_in_file)) return {.file = machine.built_in_file};
  for (const char* file : usual_files) {
    if (there(file)) return {.file = file};
  }
  if (there(machine.built_in_folder)) return {.folders = machine.built_in_folder};
  for (const char* folder : usual_folders) {
    if (there(folder)) return {.folders = folder};
  }
  return {};
}

DATAFLUX_INLINE trust_places find_trust_places(const std::string& given, const char* built_in_file,
                                               const char* built_in_folder) {
  const auto text = [](const char* said) { return std::string(said != nullptr ? said : ""); };
  trust_machine here{
      .variable = [](const char* name) -> std::optional<std::string> {
        const char* const value = std::getenv(name);
        if (value == nullptr) return std::nullopt;
        return value;
      },
      .readable = [](const std::string& path) { return ::access(path.c_str(), R_OK) == 0; },
      .built_in_file = text(built_in_file),
      .built_in_folder = text(built_in_folder)};
  return find_trust_places(given, here);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
