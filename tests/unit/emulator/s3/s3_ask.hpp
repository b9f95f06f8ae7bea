#pragma once

#include "../ask.hpp"

#include <utility>

/// Asks an S3 without a socket, and without signatures, which it takes then.
namespace s3_test {

using emulator::header_view;
using emulator::http_reply;
using emulator_test::body_of;
using emulator_test::element_of;
using emulator_test::question;

class s3_service {
 public:
  explicit s3_service(emulator::s3::options how = {}) : service_(options_of(std::move(how))) {
    service_.store().create_bucket("bucket");
  }

  http_reply ask(const question& asked) { return emulator_test::ask(service_, asked); }
  http_reply get(const std::string& target, std::vector<header_view> headers = {}) {
    return ask({.target = target, .headers = std::move(headers)});
  }
  http_reply head(const std::string& target, std::vector<header_view> headers = {}) {
    return ask({.method = "HEAD", .target = target, .headers = std::move(headers)});
  }
  http_reply put(const std::string& target, std::string body = {},
                 std::vector<header_view> headers = {}) {
    return ask({.method = "PUT",
                .target = target,
                .headers = std::move(headers),
                .body = std::move(body)});
  }
  http_reply post(const std::string& target, std::string body = {},
                  std::vector<header_view> headers = {}) {
    return ask({.method = "POST",
                .target = target,
                .headers = std::move(headers),
                .body = std::move(body)});
  }
  http_reply remove(const std::string& target, std::vector<header_view> headers = {}) {
    return ask({.method = "DELETE", .target = target, .headers = std::move(headers)});
  }
  void set_versioning(const std::string& status) {
    put("/bucket?versioning",
        "<VersioningConfiguration><Status>" + status + "</Status></VersioningConfiguration>");
  }
  emulator::service& service() { return service_; }

 private:
  static emulator::service_options options_of(emulator::s3::options how) {
    how.anonymous = true;
    if (how.least_part_size > 1'000'000) how.least_part_size = 4;
    return {.s3 = std::move(how)};
  }
  emulator::service service_;
};

/// The status, and the code of the error document.
inline std::string outcome(const http_reply& reply) {
  return std::to_string(reply.status) + " " + element_of(reply, "Code");
}

/// The texts of all such elements.
inline std::vector<std::string> elements_of(const http_reply& reply, const std::string& name) {
  std::vector<std::string> out;
  const std::string document = body_of(reply);
  const std::string open = "<" + name + ">";
  for (std::size_t at = document.find(open); at != std::string::npos;
       at = document.find(open, at)) {
    at += open.size();
    out.push_back(document.substr(at, document.find('<', at) - at));
  }
  return out;
}

}  // namespace s3_test
