#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/token_flow.hpp>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::auth {

class no_token_flow final : public token_flow {
 public:
  flow_step resume(flow_event, const flow_moment&) override {
    return error{errc::failed_precondition, "anonymous credentials have no token"};
  }
};

class anonymous_credentials final : public credentials {
 public:
  anonymous_credentials() : credentials(credentials_facts{.kind = "anonymous"}) {}
  bool anonymous() const noexcept override { return true; }
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new no_token_flow());
  }
};

}  // namespace detail::auth

DATAFLUX_INLINE credentials_ptr make_anonymous_credentials() {
  return std::make_shared<detail::auth::anonymous_credentials>();
}

}  // namespace dataflux::inline DATAFLUX_ABI
