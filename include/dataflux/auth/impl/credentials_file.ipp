#pragma once

#include <dataflux/auth/detail/credentials_file.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

namespace credentials_file_detail {
inline error broken(const std::string& path, std::string_view what) {
  std::string text = path.empty() ? "credentials: " : "credentials file " + path + ": ";
  return {errc::invalid_argument, text.append(what)};
}
inline std::string quoted(std::string_view field) {
  return std::string{"\""}.append(field).append("\"");
}
}  // namespace credentials_file_detail

DATAFLUX_INLINE result<credentials_file> credentials_file::parse(std::string_view json,
                                                                 std::string path) {
  namespace d = credentials_file_detail;
  auto document = codec::json_document::parse(as_bytes(json));
  if (!document) return d::broken(path, "it is not valid JSON");
  if (document->root().kind() != codec::json_kind::object) {
    return d::broken(path, "it is not a JSON object");
  }
  return credentials_file{std::move(*document), std::move(path)};
}

DATAFLUX_INLINE error credentials_file::broken(std::string_view what) const {
  return credentials_file_detail::broken(path_, what);
}

DATAFLUX_INLINE result<std::string> credentials_file::optional(std::string_view field,
                                                               std::string_view fallback) const {
  const codec::json_value value = document_.root().find(field);
  if (!value || value.kind() == codec::json_kind::null) return std::string{fallback};
  const auto text = value.text();
  if (!text) return broken("field " + credentials_file_detail::quoted(field) + " is no string");
  return std::string{text->empty() ? fallback : *text};
}

DATAFLUX_INLINE result<std::string> credentials_file::required(std::string_view field) const {
  auto text = optional(field);
  if (text && text->empty()) {
    return broken("field " + credentials_file_detail::quoted(field) + " is missing or empty");
  }
  return text;
}

DATAFLUX_INLINE result<http::url> credentials_file::endpoint(std::string_view field,
                                                             std::string_view fallback) const {
  auto text = optional(field, fallback);
  if (!text) return std::move(text).error();
  auto url = http::parse_url(*text);
  const std::string name = "field " + credentials_file_detail::quoted(field);
  if (!url) return broken(name + " is no URL");
  if (!url->origin.tls && !url->origin.is_loopback()) {
    return broken(name + " must be an https URL: secrets are sent to it");
  }
  return url;
}

DATAFLUX_INLINE result<void> credentials_file::expect_type(std::string_view type) const {
  auto found = required("type");
  if (!found) return std::move(found).error();
  if (*found == type) return {};
  return broken("field \"type\" is not \"" + std::string{type} + "\"");
}

DATAFLUX_INLINE result<credentials_facts> credentials_file::facts(std::string_view kind,
                                                                  std::string quota_project) const {
  auto quota = optional("quota_project_id");
  if (!quota) return std::move(quota).error();
  auto project = optional("project_id");
  if (!project) return std::move(project).error();
  auto universe = optional("universe_domain", default_universe);
  if (!universe) return std::move(universe).error();
  // It is shown in messages, so nothing else may pass for one.
  if (universe->size() > 253 ||
      universe->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") != std::string::npos) {
    return broken("field \"universe_domain\" is no domain name");
  }
  if (!quota_project.empty()) quota = std::move(quota_project);
  return credentials_facts{std::string{kind}, path_, std::move(*quota), std::move(*project),
                           std::move(*universe)};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
