#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/token_flow.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "test_key.hpp"

namespace test {

/// Goes through a flow to its end: blocking steps are run, waits are over at once, and requests are
/// answered in turn; the last answer stands for all further ones.
class flow_play {
 public:
  using answer = std::function<dataflux::detail::auth::flow_event()>;

  explicit flow_play(std::vector<answer> answers) : answers_(std::move(answers)) {}

  std::vector<dataflux::detail::auth::http_step> sent{};
  int waits{0};
  dataflux::system_time now{some_time()};

  dataflux::detail::auth::flow_step operator()(const dataflux::credentials& credentials) {
    return run(*credentials.start());
  }

  dataflux::detail::auth::flow_step run(dataflux::detail::auth::token_flow& flow) {
    namespace auth = dataflux::detail::auth;
    auth::flow_step step = flow.resume({}, {now, 0.5});
    for (;;) {
      if (auto* const http = std::get_if<auth::http_step>(&step)) {
        sent.push_back(std::move(*http));
        const answer& next = answers_.at(std::min(next_, answers_.size() - 1));
        ++next_;
        step = flow.resume(next(), {now, 0.5});
      } else if (auto* const block = std::get_if<auth::blocking_step>(&step)) {
        auto outcome = block->work();
        step = flow.resume(std::move(outcome), {now, 0.5});
      } else if (std::holds_alternative<auth::wait_step>(step)) {
        ++waits;
        step = flow.resume({}, {now, 0.5});
      } else {
        return step;
      }
    }
  }

  std::string where(std::size_t i) const {
    const auto& request = sent.at(i).request;
    return request.origin->to_string() + request.target;
  }

 private:
  std::vector<answer> answers_;
  std::size_t next_{0};
};

inline flow_play::answer says(int status, std::string body) {
  return [status, body = std::move(body)] { return reply(status, body); };
}
inline flow_play::answer no_answer(bool retryable = true) {
  return [retryable] {
    dataflux::error e{dataflux::errc::unavailable, "connect failed"};
    return dataflux::detail::auth::flow_event{
        dataflux::result<dataflux::detail::auth::http_reply>{e.with_retryable(retryable)}};
  };
}

/// The token's value, or "error: ...".
inline std::string told(const dataflux::detail::auth::flow_step& step) {
  if (const auto* const token = std::get_if<dataflux::access_token>(&step)) return token->value;
  return "error: " + std::get<dataflux::error>(step).to_string();
}

}  // namespace test
