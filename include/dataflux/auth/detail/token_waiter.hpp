#pragma once

#include <dataflux/auth/detail/authorization_value.hpp>
#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// Whoever waits for a token for a call of its own has room for the answer.
struct token_waiter {
  std::uint64_t number{0};
  scheduler* where{nullptr};
  authorization_handler handler{};
  result<authorization_ptr> outcome{authorization_ptr{}};

  void answer() {
    if (outcome) {
      handler(std::string_view{(*outcome)->text});
    } else {
      handler(std::move(outcome).error());
    }
  }
};

/// Tells it on its executor.
inline void deliver(std::unique_ptr<token_waiter> to, const result<authorization_ptr>& outcome) {
  to->outcome = outcome;
  scheduler& where = *to->where;
  where.post([to = std::move(to)] { to->answer(); });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
