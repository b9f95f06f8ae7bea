#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/keys_flow.hpp>
#include <dataflux/detail/or_default.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::auth {

using token_getter = std::function<result<access_token>()>;

inline result<access_token> get_safely(const token_getter& get) {
  try {
    return get();
  } catch (...) {  // what it says may hold a secret
    return error{errc::internal, "the application's function for tokens threw an exception"};
  }
}

class provided_token_flow final : public token_flow {
 public:
  explicit provided_token_flow(std::shared_ptr<const token_getter> get) : get_(std::move(get)) {}
  flow_step resume(flow_event event, const flow_moment& moment) override {
    if (std::holds_alternative<std::monostate>(event)) {
      return blocking_step{[get = get_, into = got_]() -> result<std::string> {
        *into = get_safely(*get);
        return std::string();
      }};
    }
    // The helper thread itself may be missing.
    auto& step = std::get<result<std::string>>(event);
    if (!step) return std::move(step).error();
    if (!*got_) return std::move(*got_).error();
    access_token token = std::move(**got_);
    if (auto good = check_token(token, moment.local); !good) return std::move(good).error();
    token.expires = in_time_of_service(token.expires, moment);
    return token;
  }

 private:
  const std::shared_ptr<const token_getter> get_;
  const std::shared_ptr<result<access_token>> got_{
      std::make_shared<result<access_token>>(access_token{})};
};

class provided_tokens final : public credentials {
 public:
  explicit provided_tokens(token_getter get)
      : credentials(credentials_facts{.kind = "token provider"}),
        get_(std::make_shared<const token_getter>(std::move(get))) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new provided_token_flow(get_));
  }

 private:
  const std::shared_ptr<const token_getter> get_;
};

/// Nothing says when the token in a file ends: it is read again after so long, less what a token is
/// renewed ahead of its end.
inline constexpr std::chrono::minutes file_token_life{9};

class token_file_flow final : public keys_flow {
 public:
  token_file_flow(const credentials_facts& facts, const environment& machine)
      : keys_flow(facts, 3), machine_(machine) {}

 private:
  flow_step ask(const flow_moment&) override {
    return blocking_step{
        [path = facts().path, &machine = machine_] { return machine.read_file(path); }};
  }
  flow_step read(result<std::string>&& text, const flow_moment& moment) override {
    if (!text) {
      // It is missing for a moment while it is replaced.
      error why = failure(errc::unauthenticated, text.error().message());
      return again_or(why.with_retryable(text.error().code() == errc::not_found), moment);
    }
    while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
    access_token token{std::move(*text), moment.now + file_token_life};
    if (auto good = check_token(token, moment.now); !good) {
      return end(failure(good.error().code(), good.error().message()));
    }
    return token;
  }
  flow_step replied(const http_reply&, const flow_moment& moment) override { return ask(moment); }

  const environment& machine_;
};

class token_in_file final : public credentials {
 public:
  token_in_file(std::string path, const environment& machine)
      : credentials(credentials_facts{.kind = "token file", .path = std::move(path)}),
        machine_(machine) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new token_file_flow(this->facts(), machine_));
  }

 private:
  const environment& machine_;
};

/// It ends by the token that is set (token_cache::set_token() drops a flow that waits), or here.
class awaited_token_flow final : public token_flow {
 public:
  awaited_token_flow(const std::function<void()>& needed, duration limit)
      : needed_(needed), limit_(limit) {}
  flow_step resume(flow_event, const flow_moment&) override {
    if (std::exchange(asked_, true)) {
      const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(limit_).count();
      const bool whole = wait % 1000 == 0;
      // The end of the call, which would else wait again for each of its attempts.
      return error{errc::unauthenticated,
                   "the application set no token within " +
                       std::to_string(whole ? wait / 1000 : wait) + (whole ? " s" : " ms") +
                       " after one was needed: token_limit bounds that wait"};
    }
    if (needed_) needed_();
    return wait_step{limit_};
  }

 private:
  const std::function<void()>& needed_;
  const duration limit_;
  bool asked_{false};
};

class awaited_tokens final : public credentials {
 public:
  awaited_tokens(std::function<void()> needed, duration limit)
      : credentials(credentials_facts{.kind = "set tokens"}),
        needed_(std::move(needed)),
        limit_(limit) {}
  bool set_by_application() const noexcept override { return true; }
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new awaited_token_flow(needed_, limit_));
  }

 private:
  const std::function<void()> needed_;
  const duration limit_;
};

}  // namespace detail::auth

DATAFLUX_INLINE credentials_ptr make_token_provider(std::function<result<access_token>()> get) {
  return std::make_shared<detail::auth::provided_tokens>(std::move(get));
}

DATAFLUX_INLINE credentials_ptr make_token_file(std::string path,
                                                const detail::auth::environment& machine) {
  return std::make_shared<detail::auth::token_in_file>(std::move(path), machine);
}

DATAFLUX_INLINE credentials_ptr make_set_tokens(std::function<void()> needed, duration limit) {
  return std::make_shared<detail::auth::awaited_tokens>(
      std::move(needed), detail::or_default<duration>(limit, std::chrono::seconds(60)));
}

}  // namespace dataflux::inline DATAFLUX_ABI
