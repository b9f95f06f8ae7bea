#pragma once

#include <dataflux/s3/detail/verb.hpp>

#include <support/catch.hpp>
#include <unit/s3/reply.hpp>

#include <string>
#include <string_view>

/// Builds requests and parses replies of verbs, without a client.
namespace s3_test {

namespace s3 = dataflux::detail::s3;
namespace http = dataflux::detail::http;

inline constexpr s3::call_id known_id{0x0123456789abcdefU, 0xfedcba9876543210U};
inline constexpr std::string_view known_mark{"0123456789abcdeffedcba9876543210"};

inline s3::bucket_places& places() {
  static s3::bucket_places all{s3::endpoint::make({}).value(), "us-east-1"};
  return all;
}

inline s3::call_context usual_context() { return {places()}; }

template <class Verb>
http::request built(const typename Verb::request& r, const typename Verb::state& state,
                    const s3::call_context& context) {
  http::request out;
  out.target = "left over";
  out.headers.add("left", "over");
  Verb::build(context, r, state, out);
  CHECK(out.headers.valid());
  CHECK(out.body.valid());
  return out;
}

template <class Verb>
http::request built(const typename Verb::request& r, const typename Verb::state& state) {
  return built<Verb>(r, state, usual_context());
}

template <class Verb>
typename Verb::state prepared(const typename Verb::request& r) {
  auto state = Verb::prepare(r, known_id);
  REQUIRE(state);
  return *std::move(state);
}

/// "PUT host/target" and the fields.
inline std::string shown(const http::request& r) {
  return std::string(http::to_string(r.method)) + " " + r.origin->host + r.target + "\r\n" +
         std::string(r.headers.wire());
}

inline std::string body_text(const http::request& r) {
  std::string text;
  for (const auto part : r.body.parts()) text += dataflux::as_text(part);
  return text;
}

}  // namespace s3_test
