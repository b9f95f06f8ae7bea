#pragma once

#include <dataflux/gcs/detail/verb.hpp>

#include <support/catch.hpp>
#include <unit/gcs/reply.hpp>

#include <string>
#include <string_view>

/// Builds requests and parses replies of verbs, without a client.
inline constexpr dataflux::detail::gcs::call_id known_id{0x0123456789abcdefU, 0xfedcba9876543210U};
inline constexpr std::string_view known_mark{"0123456789abcdeffedcba9876543210"};

inline const dataflux::detail::gcs::endpoint& real_service() {
  static const auto where = *dataflux::detail::gcs::endpoint::for_universe();
  return where;
}

template <class Verb>
dataflux::detail::http::request built(const typename Verb::request& r,
                                      const typename Verb::state& state,
                                      std::string_view user_project = {},
                                      std::string_view quota_project = {}) {
  dataflux::detail::http::request out;
  out.target = "left over";
  out.headers.add("left", "over");
  Verb::build({real_service(), user_project, quota_project}, r, state, out);
  CHECK(out.headers.valid());
  CHECK(out.body.valid());
  return out;
}

/// As the client does it: the state is made, then used.
template <class Verb>
dataflux::detail::http::request built(const typename Verb::request& r) {
  static typename Verb::state state;  // bodies borrow from it
  auto prepared = Verb::prepare(r, known_id);
  REQUIRE(prepared);
  state = *std::move(prepared);
  return built<Verb>(r, state);
}

inline std::string body_text(const dataflux::detail::http::request& r) {
  std::string text;
  for (const auto part : r.body.parts()) text += dataflux::as_text(part);
  return text;
}
