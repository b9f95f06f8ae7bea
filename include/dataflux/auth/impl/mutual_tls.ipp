#pragma once

#include <dataflux/auth/detail/mutual_tls.hpp>
#include <dataflux/auth/detail/workload_certificate.hpp>
#include <dataflux/codec/detail/json.hpp>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

namespace mutual_tls_detail {

inline constexpr const char* use_certificate = "GOOGLE_API_USE_CLIENT_CERTIFICATE";
inline constexpr const char* use_endpoint = "GOOGLE_API_USE_MTLS_ENDPOINT";
inline constexpr std::chrono::seconds provider_limit{30};

inline bool is(const std::string& text, std::string_view word) {
  return http::equals_ignoring_case(text, word);
}

/// Whether a certificate is looked for.
inline result<bool> wanted(const environment& machine) {
  if (const auto said = set_variable(machine, use_certificate)) {
    if (is(*said, "true")) return true;
    if (is(*said, "false")) return false;
    return error{errc::invalid_argument,
                 std::string(use_certificate) + " is neither \"true\" nor \"false\""};
  }
  return set_variable(machine, "GOOGLE_API_CERTIFICATE_CONFIG") &&
         find_workload_certificate(machine).has_value();
}

inline result<bool> endpoints(const environment& machine, bool has_certificate) {
  const auto said = set_variable(machine, use_endpoint);
  if (!said || is(*said, "auto")) return has_certificate;
  if (is(*said, "always")) return true;
  if (is(*said, "never")) return false;
  return error{errc::invalid_argument,
               std::string(use_endpoint) + " is none of \"always\", \"never\", \"auto\""};
}

/// The words of the command; empty: the file names none.
inline std::vector<std::string> command_in(std::string_view json) {
  std::vector<std::string> words;
  const auto document = codec::json_document::parse(as_bytes(json));
  if (!document) return words;
  for (const codec::json_value word : document->root().find("cert_provider_command").elements()) {
    const auto text = word.text();
    if (!text || text->find('\0') != std::string_view::npos) return {};
    words.emplace_back(*text);
  }
  return words;
}

/// By the program of endpoint verification; nothing where the machine has none.
inline result<client_certificate> of_device(const environment& machine) {
  const auto home = set_variable(machine, "HOME");
  if (!home) return client_certificate{};
  const std::string path = *home + "/.secureConnect/context_aware_metadata.json";
  auto json = machine.read_file(path);
  if (!json) {
    if (json.error().code() == errc::not_found) return client_certificate{};
    return std::move(json).error();
  }
  const std::vector<std::string> command = command_in(*json);
  if (command.empty()) {
    return error{errc::invalid_argument,
                 path + ": field \"cert_provider_command\" is missing, or no list of words"};
  }
  auto output = machine.run({.words = command, .limit = provider_limit});
  if (!output) {
    // What is missing is no object of whoever calls.
    const errc code = output.error().code();
    return error{code == errc::not_found ? errc::failed_precondition : code,
                 path + ": " + output.error().message()};
  }
  auto found = read_provided_certificate(*output);
  if (!found) return error{found.error().code(), path + ": " + found.error().message()};
  return found;
}

inline result<client_certificate> look_for_one(const environment& machine) {
  auto workload = find_workload_certificate(machine);
  if (workload) {
    return client_certificate{.certificate_file = std::move(workload->certificate_file),
                              .key_file = std::move(workload->key_file)};
  }
  if (workload.error().code() != errc::not_found) return std::move(workload).error();
  return of_device(machine);
}

/// One block of PEM, with its lines of dashes.
struct pem_block {
  std::string_view kind{};
  std::string_view whole{};
  std::string_view content{};
};

/// The next one; its text is taken off.
inline std::optional<pem_block> next_block(std::string_view& text) {
  constexpr std::string_view begin{"-----BEGIN "};
  constexpr std::string_view dashes{"-----"};
  const std::size_t first = text.find(begin);
  if (first == std::string_view::npos) return std::nullopt;
  const std::string_view from = text.substr(first);
  const std::size_t kind_end = from.find(dashes, begin.size());
  if (kind_end == std::string_view::npos) return std::nullopt;
  pem_block found{.kind = from.substr(begin.size(), kind_end - begin.size())};
  const std::string end = std::string("-----END ").append(found.kind).append(dashes);
  const std::size_t content = kind_end + dashes.size();
  const std::size_t last = from.find(end, content);
  if (last == std::string_view::npos) return std::nullopt;
  found.whole = from.substr(0, last + end.size());
  found.content = from.substr(content, last - content);
  text = from.substr(found.whole.size());
  return found;
}

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks{" \t\r\n"};
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace mutual_tls_detail

DATAFLUX_INLINE result<client_certificate> read_provided_certificate(std::string_view output) {
  namespace d = mutual_tls_detail;
  client_certificate found;
  bool encrypted = false;
  while (const auto block = d::next_block(output)) {
    if (block->kind == "CERTIFICATE") {
      found.certificate.append(block->whole).append("\n");
    } else if (block->kind.ends_with("PRIVATE KEY") && found.key.empty()) {
      found.key.append(block->whole).append("\n");
      encrypted = block->kind.starts_with("ENCRYPTED") ||
                  block->content.find("ENCRYPTED") != std::string_view::npos;
    } else if (block->kind == "PASSPHRASE" && found.key_password.empty()) {
      found.key_password = d::trimmed(block->content);
    } else {
      return error{errc::invalid_argument, "the program gives more than a certificate and its key"};
    }
  }
  if (found.certificate.empty() || found.key.empty()) {
    return error{errc::invalid_argument, "the program gives no certificate with its key (PEM)"};
  }
  if (encrypted != !found.key_password.empty()) {
    return error{errc::invalid_argument,
                 encrypted ? "the program gives an encrypted key, and no passphrase"
                           : "the program gives a passphrase, and a key that is not encrypted"};
  }
  return found;
}

DATAFLUX_INLINE result<mutual_tls> find_mutual_tls(const environment& machine,
                                                   const client_certificate& given) {
  namespace d = mutual_tls_detail;
  mutual_tls found{.certificate = given};
  const auto wanted = d::wanted(machine);
  if (!wanted) return wanted.error();
  if (given.empty() && *wanted) {
    auto one = d::look_for_one(machine);
    if (!one) return std::move(one).error();
    found.certificate = *std::move(one);
  }
  const auto endpoints = d::endpoints(machine, !found.certificate.empty());
  if (!endpoints) return endpoints.error();
  found.endpoints = *endpoints;
  return found;
}

DATAFLUX_INLINE std::string mutual_tls_host(std::string_view host) {
  for (const std::string_view service : {"oauth2", "sts", "iamcredentials"}) {
    const std::string usual = std::string(service).append(".googleapis.com");
    if (host == usual) return std::string(service).append(".mtls.googleapis.com");
  }
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
