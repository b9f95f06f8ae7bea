#pragma once

#include <dataflux/gcs/detail/head_facts.hpp>
#include <dataflux/http/detail/message.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// A reply written down by a test. Names and values must outlive it.
inline dataflux::detail::http::reply_head head_of(
    int status, std::vector<dataflux::detail::http::reply_head::field> fields,
    std::optional<std::uint64_t> length = std::nullopt) {
  dataflux::detail::http::reply_head head;
  head.assign(status, std::move(fields), length);
  return head;
}

inline dataflux::detail::service::reply_facts facts_of(
    const dataflux::detail::http::reply_head& head) {
  dataflux::detail::service::reply_facts facts;
  dataflux::detail::gcs::gather_facts(head, facts);
  return facts;
}

/// A whole reply that owns its facts; the body is borrowed.
struct scripted_reply {
  dataflux::detail::service::reply_facts facts;
  std::string_view body;

  scripted_reply(int status, std::string_view text,
                 std::vector<dataflux::detail::http::reply_head::field> fields = {})
      : facts(facts_of(head_of(status, std::move(fields), text.size()))), body(text) {}
  dataflux::detail::service::whole_reply whole() const {
    return {facts, dataflux::as_bytes(body), body.size()};
  }
};
