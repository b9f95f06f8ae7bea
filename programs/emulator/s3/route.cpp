#include <emulator/s3/key_services.hpp>
#include <emulator/s3/route.hpp>
#include <emulator/verbs.hpp>

#include <algorithm>
#include <span>

namespace emulator::s3 {
namespace {

struct sub_verb {
  std::string_view method;
  std::string_view parameter;  ///< empty: none of those above it
  std::string_view verb;
};

constexpr sub_verb bucket_verbs[] = {{"GET", "location", "buckets.location"},
                                     {"GET", "versioning", "buckets.getVersioning"},
                                     {"PUT", "versioning", "buckets.setVersioning"},
                                     {"GET", "object-lock", "buckets.getObjectLock"},
                                     {"PUT", "object-lock", "buckets.setObjectLock"},
                                     {"GET", "requestPayment", "buckets.getRequestPayment"},
                                     {"PUT", "requestPayment", "buckets.setRequestPayment"},
                                     {"GET", "encryption", "buckets.getEncryption"},
                                     {"PUT", "encryption", "buckets.setEncryption"},
                                     {"DELETE", "encryption", "buckets.setEncryption"},
                                     {"GET", "uploads", "multipart.list"},
                                     {"GET", "versions", "objects.versions"},
                                     {"POST", "delete", "objects.deleteMany"},
                                     {"GET", "", "objects.list"},
                                     {"HEAD", "", "buckets.get"},
                                     {"PUT", "", "buckets.insert"},
                                     {"DELETE", "", "buckets.delete"},
                                     {"POST", "", "unknown"},
                                     {"PATCH", "", "unknown"},
                                     {"OPTIONS", "", "unknown"},
                                     {"TRACE", "", "unknown"}};

constexpr sub_verb object_verbs[] = {{"POST", "uploads", "multipart.initiate"},
                                     {"PUT", "uploadId", "multipart.part"},
                                     {"POST", "uploadId", "multipart.complete"},
                                     {"DELETE", "uploadId", "multipart.abort"},
                                     {"GET", "uploadId", "multipart.list_parts"},
                                     {"GET", "tagging", "objects.getTags"},
                                     {"PUT", "tagging", "objects.setTags"},
                                     {"DELETE", "tagging", "objects.setTags"},
                                     {"POST", "restore", "objects.restore"},
                                     {"GET", "", "objects.media"},
                                     {"HEAD", "", "objects.get"},
                                     {"PUT", "", "objects.insert"},
                                     {"DELETE", "", "objects.delete"},
                                     {"POST", "", "unknown"},
                                     {"PATCH", "", "unknown"}};

/// Parameters that choose what S3 has and we have not.
constexpr std::string_view lacking_parameters[] = {"accelerate",
                                                   "acl",
                                                   "attributes",
                                                   "analytics",
                                                   "cors",
                                                   "intelligent-tiering",
                                                   "inventory",
                                                   "legal-hold",
                                                   "lifecycle",
                                                   "logging",
                                                   "metadataTable",
                                                   "metrics",
                                                   "notification",
                                                   "ownershipControls",
                                                   "policy",
                                                   "policyStatus",
                                                   "publicAccessBlock",
                                                   "renameObject",
                                                   "replication",
                                                   "retention",
                                                   "select",
                                                   "session",
                                                   "tagging",
                                                   "torrent",
                                                   "website",
                                                   "abac",
                                                   "metadataConfiguration",
                                                   "object-lock"};

std::string_view verb_in(std::span<const sub_verb> table, std::string_view method,
                         const query_parameters& query) {
  bool named = false;
  for (const sub_verb& each : table) {
    if (!each.parameter.empty()) {
      if (!query.has(each.parameter)) continue;
      named = true;
      if (each.method == method) return each.verb;
    } else if (each.method == method && !named) {
      return each.verb;
    }
  }
  return "unknown";
}

void route_service(call& out, std::string_view method) {
  if (method == "GET") out.verb = "buckets.list";
}

void route_copy(call& out, std::string_view header) {
  copy_source source = parse_copy_source(header);
  out.verb = out.verb == "multipart.part" ? "multipart.copyPart" : "objects.copy";
  out.to_bucket = std::move(out.bucket);
  out.to_object = std::move(out.object);
  out.bucket = std::move(source.bucket);
  out.object = std::move(source.key);
  out.item = std::move(source.version);
}

}  // namespace

copy_source parse_copy_source(std::string_view text) {
  copy_source out;
  static constexpr std::string_view version = "?versionId=";
  if (const std::size_t at = text.rfind(version); at != std::string_view::npos) {
    out.version = percent_decode(text.substr(at + version.size()));
    text = text.substr(0, at);
  }
  const std::string decoded = percent_decode(text);
  std::string_view rest = decoded;
  if (rest.starts_with('/')) rest.remove_prefix(1);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  out.bucket = rest.substr(0, slash);
  out.key = rest.substr(std::min(slash + 1, rest.size()));
  return out;
}

std::string bucket_of_host(std::string_view host, const options& how) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']') == std::string_view::npos) {
    host = host.substr(0, colon);
  }
  const auto before = [host](std::string_view domain) -> std::string {
    const std::string end = "." + std::string{domain};
    return host.ends_with(end) ? std::string{host.substr(0, host.size() - end.size())} : "";
  };
  if (!how.domain.empty()) {
    if (std::string bucket = before(how.domain); !bucket.empty()) return bucket;
    if (host == how.domain) return {};
  }
  if (std::string bucket = before("localhost"); !bucket.empty()) return bucket;
  // BUCKET.s3.REGION.amazonaws.com, BUCKET.s3-fips.dualstack.REGION..., BUCKET.s3-accelerate...
  if (!host.ends_with(".amazonaws.com") && !host.ends_with(".amazonaws.com.cn")) return {};
  std::size_t at = host.find(".s3.");
  if (at == std::string_view::npos) at = host.find(".s3-");
  return at == std::string_view::npos ? std::string{} : std::string{host.substr(0, at)};
}

call route(const http_request& request, const options& how) {
  call out;
  out.form = error_form::s3;
  const std::size_t question = std::min(request.target.find('?'), request.target.size());
  out.path = request.target.substr(0, question);
  out.query =
      query_parameters{request.target.substr(std::min(question + 1, request.target.size()))};
  if (out.path.starts_with("/_emulator/") || !out.path.starts_with('/')) {
    if (out.path.starts_with('/')) {
      out.verb = "control";
      out.form = error_form::json;
    }
    return out;
  }
  std::string_view rest = out.path.substr(1);
  out.bucket = bucket_of_host(request.header("Host"), how);
  if (out.bucket.empty()) {
    if (const std::string_view verb = key_service_verb(request); !verb.empty()) {
      out.verb = verb;
      return out;
    }
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    out.bucket = percent_decode(rest.substr(0, slash));
    rest = rest.substr(std::min(slash + 1, rest.size()));
  }
  out.object = percent_decode(rest);
  if (out.bucket.empty()) {
    if (out.object.empty()) route_service(out, request.method);
    return out;
  }
  out.verb = out.object.empty() ? verb_in(bucket_verbs, request.method, out.query)
                                : verb_in(object_verbs, request.method, out.query);
  const bool known_by_name = out.verb.find("ObjectLock") != std::string_view::npos ||
                             out.verb.find("Tags") != std::string_view::npos;
  for (const std::string_view name : lacking_parameters) {
    if (!out.query.has(name) || known_by_name) continue;
    out.verb = "unmodelled";
    out.lacking = name;
    return out;
  }
  if (out.verb == "multipart.part") {
    out.part = static_cast<int>(std::clamp<std::int64_t>(
        parse_integer(out.query.get("partNumber")).value_or(0), 0, 100000));
  }
  const std::string_view source = request.header("x-amz-copy-source");
  const bool copies = out.verb == "objects.insert" || out.verb == "multipart.part";
  if (copies && !source.empty()) route_copy(out, source);
  return out;
}

}  // namespace emulator::s3
