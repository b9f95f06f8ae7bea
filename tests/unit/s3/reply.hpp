#pragma once

#include <dataflux/http/detail/message.hpp>
#include <dataflux/s3/detail/head_facts.hpp>
#include <dataflux/service/detail/reply_facts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace s3_test {

/// A reply written down by a test. Names and values must outlive it.
inline dataflux::detail::http::reply_head head_of(
    int status, std::vector<dataflux::detail::http::reply_head::field> fields,
    std::optional<std::uint64_t> length = std::nullopt) {
  dataflux::detail::http::reply_head head;
  head.assign(status, std::move(fields), length);
  return head;
}

/// A whole reply that owns its facts and its body.
struct scripted_reply {
  dataflux::detail::service::reply_facts facts{};
  std::string body;

  scripted_reply(int status, std::string_view text,
                 std::vector<dataflux::detail::http::reply_head::field> fields = {})
      : body(text) {
    dataflux::detail::s3::gather_facts(head_of(status, std::move(fields), text.size()), facts);
  }
  dataflux::detail::service::whole_reply whole() const {
    return {facts, dataflux::as_bytes(body), body.size()};
  }
};

}  // namespace s3_test
