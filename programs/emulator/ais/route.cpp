#include <emulator/ais/route.hpp>
#include <emulator/s3/route.hpp>

#include <algorithm>

namespace emulator::ais {
namespace {

constexpr std::string_view s3_prefix = "/s3";
constexpr std::string_view objects_prefix = "/v1/objects/";
constexpr std::string_view buckets_prefix = "/v1/buckets/";
constexpr std::string_view batch_path = "/v1/ml/moss";

call route_s3_form(const http_request& request, const s3::options& how) {
  http_request inner = request;
  inner.target.remove_prefix(s3_prefix.size());
  if (!inner.target.starts_with('/')) inner.target = "/";
  std::erase_if(inner.headers, [](const header_view& h) { return same_name(h.name, "Host"); });
  return s3::route(inner, how);
}

/// What is cleaned of a name: slashes that follow another.
std::string cleaned(std::string name) {
  const auto both = [](char a, char b) { return a == '/' && b == '/'; };
  name.erase(std::unique(name.begin(), name.end(), both), name.end());
  return name;
}

std::string_view object_verb(std::string_view method) {
  if (method == "GET") return "objects.media";
  if (method == "HEAD") return "objects.get";
  if (method == "PUT") return "objects.insert";
  return method == "DELETE" ? "objects.delete" : "unknown";
}

}  // namespace

call route(const http_request& request, const s3::options& how) {
  const std::size_t question = std::min(request.target.find('?'), request.target.size());
  const std::string_view path = request.target.substr(0, question);
  if (path == s3_prefix || path.starts_with("/s3/")) return route_s3_form(request, how);
  call out;
  out.path = path;
  out.form = error_form::ais;
  out.query =
      query_parameters{request.target.substr(std::min(question + 1, request.target.size()))};
  if (path.starts_with("/_emulator/")) {
    out.verb = "control";
    out.form = error_form::json;
  } else if (path.starts_with(objects_prefix)) {
    const std::string_view rest = path.substr(objects_prefix.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    out.bucket = percent_decode(rest.substr(0, slash));
    out.object = cleaned(percent_decode(rest.substr(std::min(slash + 1, rest.size()))));
    if (!out.object.empty()) out.verb = object_verb(request.method);
  } else if (path.starts_with(buckets_prefix)) {
    out.bucket = percent_decode(path.substr(buckets_prefix.size()));
    if (request.method == "GET") out.verb = "objects.list";
    if (request.method == "HEAD") out.verb = "buckets.get";
  } else if (path == batch_path || path.starts_with(std::string{batch_path} + "/")) {
    if (path.size() > batch_path.size()) {
      out.bucket = percent_decode(path.substr(batch_path.size() + 1));
    }
    if (request.method == "GET") out.verb = "objects.getBatch";
  }
  return out;
}

bool is_redirected(const call& asked) { return asked.query.has("pid"); }

std::string redirect_of(const http_request& request, std::uint64_t stamp) {
  const std::size_t question = std::min(request.target.find('?'), request.target.size());
  std::string path;
  for (std::size_t i = 0; i < question; ++i) {
    const std::string_view code = request.target.substr(i, 3);
    if (code.size() < 3 || code[0] != '%') {
      path += request.target[i];
      continue;
    }
    i += 2;
    if (same_name(code, "%2B")) {
      path += '+';
    } else if (code == "%09") {
      path += '\t';
    } else {
      const bool ascii = code[1] < '8';
      path += ascii ? std::string{code} : lower_case(code);
    }
  }
  std::string query{request.target.substr(question)};
  query += query.empty() ? "?" : "&";
  return request.base() + path + query + "pid=emulated-gateway&utm=" + std::to_string(stamp);
}

}  // namespace emulator::ais
