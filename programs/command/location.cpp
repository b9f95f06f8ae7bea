#include "location.hpp"

#include <dataflux/store/bucket_requests.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::result;

std::string location::to_string() const {
  if (where == kind::stream) return "-";
  return is_object() ? shown_url(scheme, bucket, name) : path;
}

std::string_view scheme_of(std::string_view text) noexcept {
  for (const std::string_view each : {"gs", "s3", "ais"}) {
    if (text.starts_with(each) && text.substr(each.size()).starts_with("://")) return each;
  }
  return {};
}

result<location> parse_location(std::string_view text) {
  if (text.empty()) return error(errc::invalid_argument, "an empty name; give a path or gs://...");
  if (text == "-") return location{.where = location::kind::stream};
  if (const std::string_view scheme = scheme_of(text); !scheme.empty()) {
    text.remove_prefix(scheme.size() + 3);
    auto slash = std::min(text.find('/'), text.size());
    // An access point's is arn:aws:s3:REGION:ACCOUNT:accesspoint/NAME.
    if (text.starts_with("arn:")) slash = std::min(text.find('/', slash + 1), text.size());
    location out{.where = location::kind::object,
                 .scheme = scheme,
                 .bucket = std::string(text.substr(0, slash))};
    if (slash < text.size()) out.name = text.substr(slash + 1);
    if (auto valid = dataflux::validate_bucket_name(out.bucket); !valid) return valid.error();
    return out;
  }
  const auto colon = text.find("://");
  if (colon != std::string_view::npos && colon > 0 &&
      std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon),
                  [](unsigned char c) { return std::isalnum(c) != 0; })) {
    return error(errc::invalid_argument,
                 "\"" + std::string(text) +
                     "\" is neither gs://bucket/name (s3://, ais://) nor a path; for a file of "
                     "that name write ./" +
                     std::string(text));
  }
  return location{.path = std::string(text)};
}

result<location> parse_object_location(std::string_view text) {
  auto out = parse_location(text);
  if (!out || out->is_object()) return out;
  return error(errc::invalid_argument,
               "\"" + std::string(text) +
                   "\" is not in a bucket; write gs://bucket/name, s3:// or ais://bucket/name");
}

std::int64_t location::generation() const noexcept {
  constexpr std::size_t least = 10;
  const auto hash = name.rfind('#');
  if (hash == std::string::npos || hash == 0 || name.size() - hash - 1 < least) return 0;
  std::int64_t number = 0;
  const auto* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + hash + 1, end, number);
  return read.ec == std::errc() && read.ptr == end && number > 0 ? number : 0;
}

namespace {

/// Whoever may not list does not learn it.
bool is_folder(dataflux::object_store& store, const location& where, const std::stop_token& stop) {
  const auto page = store.list_page({.bucket = where.bucket,
                                     .prefix = folder_prefix(where.name),
                                     .max_results = 1,
                                     .limits = {.stop = stop}});
  return page && !page->objects.empty();
}

}  // namespace

result<dataflux::object_metadata> find_object(dataflux::object_store& store, const location& where,
                                              const std::stop_token& stop,
                                              std::string_view of_folders) {
  if (where.name.empty()) {
    return error(errc::invalid_argument, where.to_string() + " is a bucket; `ls` lists it");
  }
  dataflux::stat_request look{
      .bucket = where.bucket, .object = where.name, .limits = {.stop = stop}};
  auto found = store.stat(look);
  if (found || found.error().code() != errc::not_found) return found;
  if (const std::int64_t generation = where.generation(); generation != 0) {
    look.object.resize(look.object.rfind('#'));
    look.generation = generation;
    return store.stat(look);
  }
  if (is_folder(store, where, stop)) {
    return error(errc::not_found, (where.to_string() + " is a folder; ").append(of_folders));
  }
  return found;
}

result<void> check_own(const dataflux::object_store& store, std::string_view scheme,
                       std::string_view what) {
  if (scheme == store.traits().scheme) return {};
  return error(errc::invalid_argument,
               "the " + std::string(what) + " is of " + std::string(scheme) +
                   "://, and this command is of " + std::string(store.traits().scheme) +
                   "://: one that lies in a bucket of the other service is to be "
                   "copied here, and given by its path");
}

std::string folder_prefix(std::string_view name) {
  std::string out{name};
  if (!out.empty() && out.back() != '/') out += '/';
  return out;
}

std::string last_component(std::string_view name) {
  if (name.ends_with('/')) name.remove_suffix(1);
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos) {
    name.remove_prefix(slash + 1);
  }
  return name == "." || name == ".." ? std::string() : std::string(name);
}

std::string shown_url(std::string_view scheme, std::string_view bucket, std::string_view name) {
  return std::string{scheme}.append("://").append(bucket).append("/").append(shown_name(name));
}

std::string shown_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
      continue;
    }
    static constexpr char hex[] = "0123456789abcdef";
    out.append("\\x").append(1, hex[byte >> 4U]).append(1, hex[byte & 15U]);
  }
  return out;
}

}  // namespace cli
