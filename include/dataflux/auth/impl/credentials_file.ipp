#pragma once

#include <dataflux/auth/detail/credentials_file.hpp>
#include <dataflux/http/detail/message.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

namespace credentials_file_detail {

inline error broken(const std::string& path, std::string_view what) {
  std::string text = path.empty() ? "credentials: " : "credentials file " + path + ": ";
  return {errc::invalid_argument, text.append(what)};
}

/// It is shown in messages, and tokens go below it: nothing else may pass for one.
inline bool is_domain(std::string_view text) noexcept {
  return text.size() <= 253 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string_view::npos;
}

/// An address that the network of a machine gives to its services.
inline bool is_of_machine(const http::origin& where) noexcept {
  if (where.is_loopback() || where.host == "fd00:ec2::254") return true;
  return where.host.starts_with("169.254.") &&
         where.host.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace credentials_file_detail

DATAFLUX_INLINE result<credentials_file> credentials_file::parse(std::string_view json,
                                                                 std::string path,
                                                                 file_context context) {
  namespace d = credentials_file_detail;
  auto document = codec::json_document::parse(as_bytes(json));
  if (!document) return d::broken(path, "it is not valid JSON");
  if (document->root().kind() != codec::json_kind::object) {
    return d::broken(path, "it is not a JSON object");
  }
  return credentials_file{std::move(*document), std::move(path), std::move(context)};
}

DATAFLUX_INLINE error credentials_file::broken(std::string_view what) const {
  return credentials_file_detail::broken(path_, what);
}

DATAFLUX_INLINE error credentials_file::broken_field(std::string_view field,
                                                     std::string_view what) const {
  std::string text = "field \"" + inside_;
  text.append(field).append("\" ").append(what);
  return broken(text);
}

DATAFLUX_INLINE bool credentials_file::has(std::string_view field) const noexcept {
  const codec::json_value value = document_.root().find(field);
  return value && value.kind() != codec::json_kind::null;
}

DATAFLUX_INLINE result<std::string> credentials_file::optional(std::string_view field,
                                                               std::string_view fallback) const {
  if (!has(field)) return std::string{fallback};
  const auto text = document_.root().find(field).text();
  if (!text) return broken_field(field, "is no string");
  return std::string{text->empty() ? fallback : *text};
}

DATAFLUX_INLINE result<std::string> credentials_file::required(std::string_view field) const {
  auto text = optional(field);
  if (text && text->empty()) return broken_field(field, "is missing or empty");
  return text;
}

DATAFLUX_INLINE result<std::int64_t> credentials_file::number(std::string_view field,
                                                              std::int64_t fallback,
                                                              std::int64_t least,
                                                              std::int64_t most) const {
  if (!has(field)) return fallback;
  const auto value = document_.root().find(field).int64();
  if (value && *value >= least && *value <= most) return *value;
  return broken_field(field,
                      "is no number from " + std::to_string(least) + " to " + std::to_string(most));
}

DATAFLUX_INLINE result<bool> credentials_file::flag(std::string_view field) const {
  if (!has(field)) return false;
  const auto value = document_.root().find(field).boolean();
  if (!value) return broken_field(field, "is neither true nor false");
  return *value;
}

DATAFLUX_INLINE result<std::vector<std::string>> credentials_file::texts(
    std::string_view field) const {
  std::vector<std::string> found;
  if (!has(field)) return found;
  const codec::json_value value = document_.root().find(field);
  bool good = value.kind() == codec::json_kind::array;
  for (const codec::json_value& each : value.elements()) {
    const auto text = each.text();
    good = good && text && !text->empty();
    if (good) found.emplace_back(*text);
  }
  if (!good) return broken_field(field, "is no array of strings");
  return found;
}

DATAFLUX_INLINE result<std::vector<std::pair<std::string, std::string>>> credentials_file::pairs(
    std::string_view field) const {
  std::vector<std::pair<std::string, std::string>> found;
  if (!has(field)) return found;
  const codec::json_value value = document_.root().find(field);
  bool good = value.kind() == codec::json_kind::object;
  for (const codec::json_member& each : value.members()) {
    const auto text = each.value.text();
    good = good && text.has_value();
    if (good) found.emplace_back(each.key, *text);
  }
  if (!good) return broken_field(field, "is no object of strings");
  return found;
}

DATAFLUX_INLINE result<credentials_file> credentials_file::object(std::string_view field) const {
  const codec::json_value value = document_.root().find(field);
  if (value.kind() != codec::json_kind::object) {
    return broken_field(field, has(field) ? "is no object" : "is missing or empty");
  }
  auto of_file = universe();
  if (!of_file) return std::move(of_file).error();
  const std::string text = value.to_string();
  auto document = codec::json_document::parse(as_bytes(text));
  if (!document) return broken_field(field, "is no object");
  credentials_file inner{std::move(*document), path_, context_};
  inner.inside_ = inside_ + std::string{field} + ".";
  inner.universe_ = std::move(*of_file);
  return inner;
}

DATAFLUX_INLINE result<http::url> credentials_file::endpoint(std::string_view field,
                                                             std::string_view fallback) const {
  auto text = fallback.empty() ? required(field) : optional(field, fallback);
  if (!text) return std::move(text).error();
  auto url = http::parse_url(*text);
  if (!url) return broken_field(field, "is no URL");
  const http::origin& where = url->origin;
  if (where.is_loopback()) return url;
  if (!where.tls) return broken_field(field, "must be an https URL: secrets are sent to it");
  auto own = universe();
  if (!own) return std::move(own).error();
  if (context_.hosts.may_get_secrets(where.host, *own)) return url;
  return broken_field(
      field,
      "names " + where.host +
          ", and secrets go to hosts of googleapis.com, of the file's "
          "universe_domain and to this machine alone: if that host may have them, name it in "
          "adc_options::token_hosts or the variable " +
          std::string{token_hosts_variable});
}

DATAFLUX_INLINE result<http::url> credentials_file::source(std::string_view field) const {
  auto text = required(field);
  if (!text) return std::move(text).error();
  auto url = http::parse_url(*text);
  if (!url) return broken_field(field, "is no URL");
  const bool of_machine = credentials_file_detail::is_of_machine(url->origin);
  if (of_machine) url->origin.direct = !url->origin.tls;
  if (of_machine || url->origin.tls || context_.hosts.names(url->origin.host)) return url;
  return broken_field(
      field, "is a plain http URL of " + url->origin.host +
                 ": a token comes by https, or from this machine or its metadata service; if that "
                 "network is safe, name the host in adc_options::token_hosts or the variable " +
                 std::string{token_hosts_variable});
}

DATAFLUX_INLINE result<void> credentials_file::expect_type(std::string_view type) const {
  auto found = required("type");
  if (!found) return std::move(found).error();
  if (*found == type) return {};
  return broken_field("type", "is not \"" + std::string{type} + "\"");
}

DATAFLUX_INLINE result<std::string> credentials_file::universe() const {
  auto found = optional("universe_domain", universe_.empty() ? default_universe : universe_);
  if (found && !credentials_file_detail::is_domain(*found)) {
    return broken_field("universe_domain", "is no domain name");
  }
  return found;
}

DATAFLUX_INLINE result<credentials_facts> credentials_file::facts(std::string_view kind,
                                                                  std::string quota_project) const {
  auto quota = optional("quota_project_id");
  if (!quota) return std::move(quota).error();
  auto project = optional("project_id");
  if (!project) return std::move(project).error();
  auto domain = universe();
  if (!domain) return std::move(domain).error();
  if (!quota_project.empty()) quota = std::move(quota_project);
  if (!context_.project.empty()) project = context_.project;
  return credentials_facts{std::string{kind}, path_, std::move(*quota), std::move(*project),
                           std::move(*domain)};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
