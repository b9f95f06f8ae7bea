#include <emulator/route.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace emulator {
namespace {

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> out;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    out.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return out;
}

/// After "/storage/v1/b": [bucket [, "o" [, object]]], each one raw segment.
void route_json(call& out, std::string_view method, std::string_view path, bool download) {
  const auto parts = segments(path);
  if (parts.empty()) {
    if (method == "POST") out.verb = "buckets.insert";
    return;
  }
  out.bucket = percent_decode(parts[0]);
  if (parts.size() == 1) {
    if (method == "GET") out.verb = "buckets.get";
    return;
  }
  if (parts[1] != "o" || parts.size() > 3) return;
  if (parts.size() == 2) {
    if (method == "GET") out.verb = "objects.list";
    return;
  }
  out.object = percent_decode(parts[2]);
  const bool media = download || out.query.get("alt") == "media";
  if (method == "GET" && media) {
    out.verb = "objects.media";
    out.form = error_form::text;
  } else if (method == "GET") {
    out.verb = "objects.get";
  } else if (method == "DELETE") {
    out.verb = "objects.delete";
  }
}

void route_upload(call& out, std::string_view method, std::string_view path) {
  const auto parts = segments(path);
  if (parts.size() != 2 || parts[1] != "o" || method != "POST") return;
  out.bucket = percent_decode(parts[0]);
  out.object = out.query.get("name");
  out.verb = "objects.insert";
}

void route_xml(call& out, std::string_view method, std::string_view path) {
  out.xml = true;
  out.form = error_form::xml;
  path.remove_prefix(1);
  const std::size_t slash = std::min(path.find('/'), path.size());
  out.bucket = percent_decode(path.substr(0, slash));
  out.object = percent_decode(path.substr(std::min(slash + 1, path.size())));
  const bool uploads = out.query.has("uploads");
  const bool upload_id = out.query.has("uploadId");
  if (out.object.empty()) {
    if (method == "GET" && uploads) out.verb = "multipart.list";
    return;
  }
  if (method == "POST" && uploads) {
    out.verb = "multipart.initiate";
  } else if (method == "POST" && upload_id) {
    out.verb = "multipart.complete";
  } else if (method == "PUT" && (upload_id || out.query.has("partNumber"))) {
    out.verb = "multipart.part";
    out.part = static_cast<int>(std::clamp<std::int64_t>(
        parse_integer(out.query.get("partNumber")).value_or(0), 0, 100000));
  } else if (method == "DELETE" && upload_id) {
    out.verb = "multipart.abort";
  } else if (method == "GET" && upload_id) {
    out.verb = "multipart.list_parts";
  } else if (method == "GET") {
    out.verb = "objects.media";
  } else if (method == "HEAD") {
    out.verb = "objects.get";
  } else if (method == "PUT") {
    out.verb = "objects.insert";
  } else if (method == "DELETE") {
    out.verb = "objects.delete";
  }
}

}  // namespace

call route(const http_request& request) {
  call out;
  const std::size_t question = std::min(request.target.find('?'), request.target.size());
  const std::string_view path = request.target.substr(0, question);
  out.query =
      query_parameters{request.target.substr(std::min(question + 1, request.target.size()))};

  struct prefix_route {
    std::string_view prefix;
    bool download;
  };
  static constexpr std::array<prefix_route, 2> json{
      {{"/storage/v1/b", false}, {"/download/storage/v1/b", true}}};
  static constexpr std::string_view upload = "/upload/storage/v1/b";
  const auto under = [&path](std::string_view prefix) {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
  };
  for (const auto& candidate : json) {
    if (!under(candidate.prefix)) continue;
    route_json(out, request.method, path.substr(candidate.prefix.size()), candidate.download);
    return out;
  }
  if (under(upload)) {
    route_upload(out, request.method, path.substr(upload.size()));
  } else if (path == "/token" && request.method == "POST") {
    out.verb = "token";
  } else if (under("/computeMetadata") || path == "/") {
    out.verb = "metadata";
    out.form = error_form::text;
  } else if (path.starts_with('/')) {
    route_xml(out, request.method, path);
  }
  return out;
}

}  // namespace emulator
