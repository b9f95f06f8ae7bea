#include <emulator/federation.hpp>
#include <emulator/route.hpp>
#include <emulator/verbs.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace emulator {
namespace {

using path_segments = std::vector<std::string_view>;

path_segments segments(std::string_view path) {
  path_segments out;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    out.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  if (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

struct method_verb {
  std::string_view method;
  std::string_view verb;
};

template <std::size_t Count>
std::string_view verb_of(const std::array<method_verb, Count>& table, std::string_view method) {
  const auto at = std::ranges::find(table, method, &method_verb::method);
  return at == table.end() ? std::string_view{"unknown"} : at->verb;
}

struct lacking_feature {
  std::string_view segment;
  std::string_view what;
};
/// Of a bucket, by the segment behind it.
constexpr std::array<lacking_feature, 5> lacking_of_bucket{
    {{"folders", "folders"},
     {"managedFolders", "managed folders"},
     {"anywhereCaches", "caches"},
     {"operations", "long-running operations"},
     {"restore", "restoring buckets"}}};
/// Of an object, by the segment behind it.
constexpr std::array<lacking_feature, 1> lacking_of_object{{{"iam", "IAM policies of objects"}}};
/// The XML API's subresources, by the parameter that names them.
constexpr std::array<lacking_feature, 15> lacking_by_parameter{
    {{"acl", "access control lists over XML"},
     {"cors", "CORS settings"},
     {"defaultObjectAcl", "access control lists over XML"},
     {"delete", "deleting several objects over XML"},
     {"encryption", "encryption settings"},
     {"encryptionConfig", "encryption settings"},
     {"lifecycle", "lifecycle rules"},
     {"location", "the location of a bucket over XML"},
     {"logging", "logging settings"},
     {"storageClass", "the storage class of a bucket over XML"},
     {"tagging", "labels over XML"},
     {"versioning", "versioning settings over XML"},
     {"versions", "a listing of versions over XML"},
     {"websiteConfig", "website settings"},
     {"billing", "billing settings over XML"}}};

template <std::size_t Count>
bool route_lacking(call& out, const std::array<lacking_feature, Count>& table,
                   std::string_view segment) {
  const auto at = std::ranges::find(table, segment, &lacking_feature::segment);
  if (at == table.end()) return false;
  out.verb = "unmodelled";
  out.lacking = at->what;
  return true;
}

/// What the service has and we have not, by a path behind "/storage/v1/b".
bool route_unmodelled(call& out, std::string_view method, const path_segments& parts) {
  if (parts.size() < 2) return false;
  if (route_lacking(out, lacking_of_bucket, parts[1])) return true;
  if (parts[1] != "o") return false;
  if (parts.size() > 3) return route_lacking(out, lacking_of_object, parts[3]);
  static constexpr std::array<lacking_feature, 1> of_all{{{"watch", "watching for changes"}}};
  return parts.size() == 3 && method == "POST" && route_lacking(out, of_all, parts[2]);
}

/// A path behind "/storage/v1": what a row of verbs.cpp says of it.
void route_json(call& out, std::string_view method, std::string_view path, bool download) {
  const path_segments parts = segments(path);
  const bool of_bucket = parts.size() > 1 && parts[0] == "b";
  if (of_bucket) {
    out.bucket = percent_decode(parts[1]);
    if (parts.size() > 3 && parts[2] == "o") out.object = percent_decode(parts[3]);
  }
  auto found = match_path(method, path);
  const bool known = found && found->row != nullptr;
  if (!known && of_bucket && route_unmodelled(out, method, {parts.begin() + 1, parts.end()}))
    return;
  if (!found) return;
  for (auto& [name, text] : found->names) {
    if (name == "to_bucket") out.to_bucket = std::move(text);
    if (name == "to_object") out.to_object = std::move(text);
    if (name == "item") out.item = std::move(text);
    if (name == "project") out.project = std::move(text);
  }
  if (found->row == nullptr) return;
  out.verb = found->row->name;
  if (out.verb == "objects.bulkRestore") out.object.clear();
  if (out.verb == "objects.move") out.to_bucket = out.bucket;
  if (out.verb == "objects.get" && (download || out.query.get("alt") == "media")) {
    out.verb = "objects.media";
    out.form = error_form::text;
  }
}

/// The verbs on a session's address, which the JSON and the XML API share.
void route_session(call& out, const http_request& request, std::string_view method) {
  if (method == "DELETE") {
    out.verb = "resumable.cancel";
  } else if (method == "PUT" || method == "POST") {
    const bool query = request.header("Content-Range").starts_with("bytes */");
    out.verb = query ? "resumable.status" : "resumable.chunk";
  }
}

void route_upload(call& out, const http_request& request, std::string_view method,
                  std::string_view path) {
  const path_segments parts = segments(path);
  if (parts.size() != 2 || parts[1] != "o") return;
  out.bucket = percent_decode(parts[0]);
  out.object = out.query.get("name");
  if (out.query.has("upload_id")) return route_session(out, request, method);
  if (method != "POST" && method != "PUT") return;
  out.verb = out.query.get("uploadType") == "resumable" ? "resumable.start" : "objects.insert";
}

void route_multipart(call& out, std::string_view method) {
  if (out.query.has("uploads")) {
    if (method == "POST") out.verb = "multipart.initiate";
    return;
  }
  static constexpr std::array<method_verb, 4> verbs{{{"POST", "multipart.complete"},
                                                     {"PUT", "multipart.part"},
                                                     {"DELETE", "multipart.abort"},
                                                     {"GET", "multipart.list_parts"}}};
  out.verb = verb_of(verbs, method);
  if (method == "PUT") {
    out.part = static_cast<int>(std::clamp<std::int64_t>(
        parse_integer(out.query.get("partNumber")).value_or(0), 0, 100000));
  }
}

/// A copy by the XML API names its source in a header: "/bucket/object", maybe encoded.
void route_xml_copy(call& out, std::string_view source) {
  if (source.starts_with('/')) source.remove_prefix(1);
  const std::size_t slash = std::min(source.find('/'), source.size());
  out.verb = "objects.copy";
  out.to_bucket = std::move(out.bucket);
  out.to_object = std::move(out.object);
  out.bucket = percent_decode(source.substr(0, slash));
  out.object = percent_decode(source.substr(std::min(slash + 1, source.size())));
}

void route_xml(call& out, const http_request& request, std::string_view method) {
  out.xml = true;
  out.form = error_form::xml;
  const std::string_view path = out.path.substr(1);
  const std::size_t slash = std::min(path.find('/'), path.size());
  out.bucket = percent_decode(path.substr(0, slash));
  out.object = percent_decode(path.substr(std::min(slash + 1, path.size())));
  for (const lacking_feature& each : lacking_by_parameter) {
    if (out.query.has(each.segment) && route_lacking(out, lacking_by_parameter, each.segment)) {
      return;
    }
  }
  if (out.object.empty()) {
    if (method == "GET") out.verb = out.query.has("uploads") ? "multipart.list" : "objects.list";
    if (method == "HEAD") out.verb = "buckets.get";
    if (method == "POST") out.verb = "objects.form";
    return;
  }
  if (out.query.has("upload_id")) return route_session(out, request, method);
  const bool part = method == "PUT" && out.query.has("partNumber");
  if (part || out.query.has("uploads") || out.query.has("uploadId")) {
    return route_multipart(out, method);
  }
  if (method == "POST" && same_name(request.header("x-goog-resumable"), "start")) {
    out.verb = "resumable.start";
    return;
  }
  static constexpr std::array<method_verb, 4> verbs{{{"GET", "objects.media"},
                                                     {"HEAD", "objects.get"},
                                                     {"PUT", "objects.insert"},
                                                     {"DELETE", "objects.delete"}}};
  out.verb = verb_of(verbs, method);
  const std::string_view source = request.header("x-goog-copy-source");
  if (out.verb == "objects.insert" && !source.empty()) route_xml_copy(out, source);
}

struct prefix_route {
  enum class api { json, download, upload };
  std::string_view prefix;
  api which;
};
constexpr std::array<prefix_route, 5> prefixes{
    {{"/storage/v1/b", prefix_route::api::json},
     {"/storage/v1/projects", prefix_route::api::json},
     {"/download/storage/v1/b", prefix_route::api::download},
     {"/upload/storage/v1/b", prefix_route::api::upload},
     {"/resumable/upload/storage/v1/b", prefix_route::api::upload}}};
constexpr std::string_view version = "/storage/v1";

}  // namespace

call route(const http_request& request) {
  call out;
  const std::size_t question = std::min(request.target.find('?'), request.target.size());
  out.path = request.target.substr(0, question);
  out.query =
      query_parameters{request.target.substr(std::min(question + 1, request.target.size()))};
  std::string_view method = request.method;
  if (method == "POST") {
    const std::string_view other = request.header("X-HTTP-Method-Override");
    if (!other.empty()) method = other;
  }
  const auto under = [path = out.path](std::string_view prefix) {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
  };
  for (const prefix_route& candidate : prefixes) {
    if (!under(candidate.prefix)) continue;
    if (candidate.which == prefix_route::api::upload) {
      route_upload(out, request, method, out.path.substr(candidate.prefix.size()));
    } else {
      const std::size_t behind = out.path.find(version) + version.size();
      route_json(out, method, out.path.substr(behind),
                 candidate.which == prefix_route::api::download);
    }
    return out;
  }
  if (under("/retry_test") || out.path == "/retry_tests") {
    out.verb = "retry_test";
    const std::size_t slash = std::min(out.path.rfind('/') + 1, out.path.size());
    if (slash > 1) out.item = percent_decode(out.path.substr(slash));
  } else if (out.path == "/token" && method == "POST") {
    out.verb = "token";
  } else if (const auto verb = identity_verb(request, out.item); !verb.empty()) {
    out.verb = verb;
  } else if (under("/batch") && method == "POST") {
    out.verb = "batch";
  } else if (under("/_emulator")) {
    out.verb = "control";
  } else if (under("/computeMetadata") || (out.path == "/" && method != "POST")) {
    out.verb = "metadata";
    out.form = error_form::text;
  } else if (out.path.starts_with('/')) {
    route_xml(out, request, method);
  }
  return out;
}

}  // namespace emulator
