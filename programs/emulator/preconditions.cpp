#include <emulator/preconditions.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/object_facts.hpp>
#include <emulator/service_error.hpp>

namespace emulator {
namespace {

std::optional<std::int64_t> number(std::string_view text, std::string_view name) {
  if (text.empty()) return std::nullopt;
  const auto value = parse_integer(text);
  if (!value) throw invalid_argument("Invalid value for " + std::string{name});
  return value;
}

bool same_etag(std::string_view asked, const stored_object& live, bool by_s3) {
  if (by_s3) return s3::names_etag(asked, live);
  if (asked == "*") return true;
  if (asked.size() >= 2 && asked.front() == '"' && asked.back() == '"') {
    asked = asked.substr(1, asked.size() - 2);
  }
  return asked == live.etag();
}

}  // namespace

preconditions preconditions::of_query(const query_parameters& query, const http_request& request) {
  const auto get = [&query](std::string_view name) { return number(query.get(name), name); };
  preconditions out;
  out.generation = get("generation");
  out.if_generation_match = get("ifGenerationMatch");
  out.if_generation_not_match = get("ifGenerationNotMatch");
  out.if_metageneration_match = get("ifMetagenerationMatch");
  out.if_metageneration_not_match = get("ifMetagenerationNotMatch");
  out.if_match = request.header("If-Match");
  out.if_none_match = request.header("If-None-Match");
  return out;
}

preconditions preconditions::of_source(const query_parameters& query) {
  const auto get = [&query](std::string_view name) { return number(query.get(name), name); };
  preconditions out;
  out.generation = get("sourceGeneration");
  out.if_generation_match = get("ifSourceGenerationMatch");
  out.if_generation_not_match = get("ifSourceGenerationNotMatch");
  out.if_metageneration_match = get("ifSourceMetagenerationMatch");
  out.if_metageneration_not_match = get("ifSourceMetagenerationNotMatch");
  return out;
}

preconditions preconditions::of_xml(const query_parameters& query, const http_request& request) {
  const auto get = [&request](std::string_view name) { return number(request.header(name), name); };
  preconditions out;
  out.generation = number(query.get("generation"), "generation");
  out.if_generation_match = get("x-goog-if-generation-match");
  out.if_metageneration_match = get("x-goog-if-metageneration-match");
  out.if_match = request.header("If-Match");
  out.if_none_match = request.header("If-None-Match");
  out.if_modified_since = parse_http_date(request.header("If-Modified-Since"));
  out.if_unmodified_since = parse_http_date(request.header("If-Unmodified-Since"));
  return out;
}

preconditions preconditions::of_s3(const http_request& request, const std::string& prefix) {
  preconditions out;
  out.by_s3 = true;
  out.if_match = request.header(prefix + "if-match");
  out.if_none_match = request.header(prefix + "if-none-match");
  out.if_modified_since = parse_http_date(request.header(prefix + "if-modified-since"));
  out.if_unmodified_since = parse_http_date(request.header(prefix + "if-unmodified-since"));
  return out;
}

void preconditions::check_read(const stored_object& live) const {
  if (if_generation_match && *if_generation_match != live.generation) throw condition_not_met();
  if (if_metageneration_match && *if_metageneration_match != live.metageneration) {
    throw condition_not_met();
  }
  if (!if_match.empty() && !same_etag(if_match, live, by_s3)) throw condition_not_met();
  const auto modified = std::chrono::floor<std::chrono::seconds>(live.created);
  if (if_match.empty() && if_unmodified_since && modified > *if_unmodified_since) {
    throw condition_not_met();
  }
  if (if_generation_not_match && *if_generation_not_match == live.generation) throw not_modified();
  if (if_metageneration_not_match && *if_metageneration_not_match == live.metageneration) {
    throw not_modified();
  }
  if (!if_none_match.empty() && same_etag(if_none_match, live, by_s3)) throw not_modified();
  if (if_none_match.empty() && if_modified_since && modified <= *if_modified_since) {
    throw not_modified();
  }
}

void preconditions::check_write(const stored_object* live) const {
  if (by_s3) {
    if (!if_match.empty() && live == nullptr) throw s3::no_such_key();
    if (!if_match.empty() && !s3::names_etag(if_match, *live)) throw condition_not_met();
    if (!if_none_match.empty() && live != nullptr) throw condition_not_met();
  }
  const std::int64_t generation_now = live == nullptr ? 0 : live->generation;
  const std::int64_t metageneration_now = live == nullptr ? 0 : live->metageneration;
  const bool holds =
      (!if_generation_match || *if_generation_match == generation_now) &&
      (!if_generation_not_match || *if_generation_not_match != generation_now) &&
      (!if_metageneration_match || *if_metageneration_match == metageneration_now) &&
      (!if_metageneration_not_match || *if_metageneration_not_match != metageneration_now);
  if (!holds) throw condition_not_met();
}

}  // namespace emulator
