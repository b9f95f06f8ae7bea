#include <emulator/digest.hpp>
#include <emulator/v4.hpp>

#include <algorithm>

namespace emulator {
namespace {

/// Without white space at the ends, and with one space for what is inside.
std::string collapsed(std::string_view value) {
  std::string out;
  for (const char c : trim(value)) {
    const bool space = c == ' ' || c == '\t';
    if (space && out.ends_with(' ')) continue;
    out += space ? ' ' : c;
  }
  return out;
}

std::string canonical_query(const query_parameters& query, std::string_view signature_name) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [key, value] : query.values()) {
    if (same_name(key, signature_name)) continue;
    lines.emplace_back(percent_encode(key), percent_encode(value));
  }
  std::ranges::sort(lines);
  std::string out;
  for (const auto& [key, value] : lines) {
    if (!out.empty()) out += '&';
    out.append(key).append("=").append(value);
  }
  return out;
}

}  // namespace

std::optional<v4_credential> v4_credential::parse(std::string_view text) {
  v4_credential out;
  for (std::string* field : {&out.terminator, &out.service, &out.location, &out.date}) {
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos) return std::nullopt;
    *field = text.substr(slash + 1);
    if (field->empty()) return std::nullopt;
    text = text.substr(0, slash);
  }
  if (text.empty()) return std::nullopt;
  out.id = text;
  return out;
}

std::optional<v4_credential> v4_credential::parse_google(std::string_view text) {
  auto out = parse(text);
  if (!out || out->service != "storage" || out->terminator != "goog4_request") return std::nullopt;
  return out;
}

std::optional<stored_object::time_point> parse_v4_time(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  const auto cut = [text](std::size_t at, std::size_t count) {
    return std::string{text.substr(at, count)};
  };
  return parse_time(cut(0, 4) + "-" + cut(4, 2) + "-" + cut(6, 2) + "T" + cut(9, 2) + ":" +
                    cut(11, 2) + ":" + cut(13, 2) + "Z");
}

std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t end = std::min(text.find(mark), text.size());
    out.emplace_back(text.substr(0, end));
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

std::string v4_header_value(const http_request& request, std::string_view name) {
  std::string out;
  for (const header_view& h : request.headers) {
    if (!same_name(h.name, name)) continue;
    if (!out.empty()) out += ',';
    out += collapsed(h.value);
  }
  return out;
}

std::string v4_canonical_request(const http_request& request, const query_parameters& query,
                                 const v4_canonical_parts& parts) {
  std::string out{request.method};
  out.append("\n").append(parts.path).append("\n");
  out.append(canonical_query(query, parts.signature_name)).append("\n");
  for (const std::string& name : split(parts.signed_headers, ';')) {
    std::string value = v4_header_value(request, name);
    if (parts.without_port && name == "host") {
      value.resize(std::min(value.rfind(':'), value.size()));
    }
    out.append(name).append(":").append(value).append("\n");
  }
  out.append("\n").append(parts.signed_headers).append("\n").append(parts.payload);
  return out;
}

std::string v4_signing_key(std::string_view prefix, std::string_view secret,
                           std::string_view scope) {
  std::string key = std::string{prefix} + std::string{secret};
  while (!scope.empty()) {
    const std::size_t end = std::min(scope.find('/'), scope.size());
    key = hmac_sha256(key, scope.substr(0, end));
    scope.remove_prefix(std::min(end + 1, scope.size()));
  }
  return key;
}

}  // namespace emulator
