#include <emulator/route.hpp>

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

constexpr std::array<method_verb, 2> bucket_collection{
    {{"GET", "buckets.list"}, {"POST", "buckets.insert"}}};
constexpr std::array<method_verb, 4> one_bucket{{{"GET", "buckets.get"},
                                                 {"DELETE", "buckets.delete"},
                                                 {"PATCH", "buckets.patch"},
                                                 {"PUT", "buckets.update"}}};
constexpr std::array<method_verb, 4> one_object{{{"GET", "objects.get"},
                                                 {"DELETE", "objects.delete"},
                                                 {"PATCH", "objects.patch"},
                                                 {"PUT", "objects.update"}}};

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

/// What lies below a bucket, an object or a project: a collection, and one item of it.
struct collection {
  std::string_view segment;
  std::array<method_verb, 2> whole;
  std::array<method_verb, 4> item;
};
constexpr std::array<collection, 3> of_bucket{
    {{"acl",
      {{{"GET", "bucketAccessControls.list"}, {"POST", "bucketAccessControls.insert"}}},
      {{{"GET", "bucketAccessControls.get"},
        {"PATCH", "bucketAccessControls.patch"},
        {"PUT", "bucketAccessControls.update"},
        {"DELETE", "bucketAccessControls.delete"}}}},
     {"defaultObjectAcl",
      {{{"GET", "defaultObjectAccessControls.list"},
        {"POST", "defaultObjectAccessControls.insert"}}},
      {{{"GET", "defaultObjectAccessControls.get"},
        {"PATCH", "defaultObjectAccessControls.patch"},
        {"PUT", "defaultObjectAccessControls.update"},
        {"DELETE", "defaultObjectAccessControls.delete"}}}},
     {"notificationConfigs",
      {{{"GET", "notifications.list"}, {"POST", "notifications.insert"}}},
      {{{"GET", "notifications.get"}, {"DELETE", "notifications.delete"}}}}}};
constexpr std::array<collection, 1> of_object{
    {{"acl",
      {{{"GET", "objectAccessControls.list"}, {"POST", "objectAccessControls.insert"}}},
      {{{"GET", "objectAccessControls.get"},
        {"PATCH", "objectAccessControls.patch"},
        {"PUT", "objectAccessControls.update"},
        {"DELETE", "objectAccessControls.delete"}}}}}};
constexpr std::array<collection, 1> of_project{
    {{"hmacKeys",
      {{{"GET", "hmacKeys.list"}, {"POST", "hmacKeys.create"}}},
      {{{"GET", "hmacKeys.get"}, {"PUT", "hmacKeys.update"}, {"DELETE", "hmacKeys.delete"}}}}}};

/// Routes by the segment number `at`, and by the one behind it; false when there is no such.
template <std::size_t Count>
bool route_collection(call& out, std::string_view method,
                      const std::array<collection, Count>& table, const path_segments& parts,
                      std::size_t at) {
  if (parts.size() <= at || parts.size() > at + 2) return false;
  const auto found = std::ranges::find(table, parts[at], &collection::segment);
  if (found == table.end()) return false;
  const bool whole = parts.size() == at + 1;
  if (!whole) out.item = percent_decode(parts[at + 1]);
  out.verb = whole ? verb_of(found->whole, method) : verb_of(found->item, method);
  return true;
}

/// After "/storage/v1/projects": project, then what is asked of it.
void route_project(call& out, std::string_view method, std::string_view path) {
  const path_segments parts = segments(path);
  if (parts.size() < 2) return;
  out.project = percent_decode(parts[0]);
  if (route_collection(out, method, of_project, parts, 1)) return;
  if (parts.size() == 2 && parts[1] == "serviceAccount" && method == "GET") {
    out.verb = "serviceAccount.get";
  }
}

/// parts: bucket "iam" ["testPermissions"]
void route_policy(call& out, std::string_view method, const path_segments& parts) {
  if (parts.size() == 2 && method == "GET") out.verb = "buckets.getIamPolicy";
  if (parts.size() == 2 && method == "PUT") out.verb = "buckets.setIamPolicy";
  const bool test = parts.size() == 3 && parts[2] == "testPermissions";
  if (test && method == "GET") out.verb = "buckets.testPermissions";
}

/// parts: bucket "o" object action ...
void route_object_action(call& out, std::string_view method, const path_segments& parts) {
  const std::string_view action = parts[3];
  if (route_lacking(out, lacking_of_object, action)) return;
  if (route_collection(out, method, of_object, parts, 3)) return;
  if (method != "POST") return;
  if (parts.size() == 4 && action == "compose") {
    out.verb = "objects.compose";
  } else if (parts.size() == 4 && action == "restore") {
    out.verb = "objects.restore";
  } else if (parts.size() == 6 && action == "moveTo" && parts[4] == "o") {
    out.verb = "objects.move";
    out.to_bucket = out.bucket;
    out.to_object = percent_decode(parts[5]);
  } else if (parts.size() == 8 && parts[4] == "b" && parts[6] == "o" &&
             (action == "rewriteTo" || action == "copyTo")) {
    out.verb = action == "copyTo" ? "objects.copy" : "objects.rewrite";
    out.to_bucket = percent_decode(parts[5]);
    out.to_object = percent_decode(parts[7]);
  }
}

/// After "/storage/v1/b": [bucket [, "o" [, object [, action ...]]]], each one raw segment.
void route_json(call& out, std::string_view method, std::string_view path, bool download) {
  const path_segments parts = segments(path);
  if (parts.empty()) {
    out.verb = verb_of(bucket_collection, method);
    return;
  }
  out.bucket = percent_decode(parts[0]);
  if (parts.size() == 1) {
    out.verb = verb_of(one_bucket, method);
    return;
  }
  if (method == "GET" && parts.size() == 2 && parts[1] == "storageLayout") {
    out.verb = "buckets.storageLayout";
  } else if (method == "POST" && parts.size() == 2 && parts[1] == "lockRetentionPolicy") {
    out.verb = "buckets.lockRetentionPolicy";
  } else if (parts[1] == "iam") {
    route_policy(out, method, parts);
  } else if (!route_collection(out, method, of_bucket, parts, 1)) {
    route_lacking(out, lacking_of_bucket, parts[1]);
  }
  if (parts[1] != "o") return;
  if (parts.size() == 2) {
    if (method == "GET") out.verb = "objects.list";
    return;
  }
  if (parts.size() == 3 && method == "POST") {
    static constexpr std::array<lacking_feature, 2> of_all{
        {{"bulkRestore", "restoring many objects at once"}, {"watch", "watching for changes"}}};
    if (route_lacking(out, of_all, parts[2])) return;
  }
  out.object = percent_decode(parts[2]);
  if (parts.size() > 3) return route_object_action(out, method, parts);
  if (method == "GET" && (download || out.query.get("alt") == "media")) {
    out.verb = "objects.media";
    out.form = error_form::text;
  } else {
    out.verb = verb_of(one_object, method);
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
constexpr std::array<prefix_route, 4> prefixes{
    {{"/storage/v1/b", prefix_route::api::json},
     {"/download/storage/v1/b", prefix_route::api::download},
     {"/upload/storage/v1/b", prefix_route::api::upload},
     {"/resumable/upload/storage/v1/b", prefix_route::api::upload}}};

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
    const std::string_view rest = out.path.substr(candidate.prefix.size());
    if (candidate.which == prefix_route::api::upload) {
      route_upload(out, request, method, rest);
    } else {
      route_json(out, method, rest, candidate.which == prefix_route::api::download);
    }
    return out;
  }
  static constexpr std::string_view projects = "/storage/v1/projects";
  if (under(projects)) {
    route_project(out, method, out.path.substr(projects.size()));
  } else if (under("/retry_test") || out.path == "/retry_tests") {
    out.verb = "retry_test";
    const std::size_t slash = std::min(out.path.rfind('/') + 1, out.path.size());
    if (slash > 1) out.item = percent_decode(out.path.substr(slash));
  } else if (out.path == "/token" && method == "POST") {
    out.verb = "token";
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
