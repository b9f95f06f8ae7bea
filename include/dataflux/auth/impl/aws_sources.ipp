#pragma once

#include <dataflux/auth/detail/aws_sources.hpp>
#include <dataflux/auth/detail/keys_flow.hpp>
#include <dataflux/auth/detail/keys_reply.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

class static_keys_flow final : public keys_flow {
 public:
  static_keys_flow(const credentials_facts& facts, const access_keys& keys)
      : keys_flow(facts, 1), keys_(keys) {}

 private:
  flow_step ask(const flow_moment& moment) override {
    if (keys_.expires > moment.now) return keys_;
    return end(failure(errc::unauthenticated, "the keys have expired: get new ones"));
  }
  flow_step replied(const http_reply&, const flow_moment& moment) override { return ask(moment); }

  const access_keys& keys_;
};

class static_keys final : public credentials {
 public:
  static_keys(credentials_facts facts, access_keys keys)
      : credentials(std::move(facts)), keys_(std::move(keys)) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new static_keys_flow(this->facts(), keys_));
  }

 private:
  access_keys keys_;
};

using keys_reader = std::function<result<access_keys>()>;

class read_keys_flow final : public keys_flow {
 public:
  read_keys_flow(const credentials_facts& facts, std::shared_ptr<const keys_reader> get)
      : keys_flow(facts, 1), get_(std::move(get)) {}

 private:
  flow_step ask(const flow_moment&) override {
    return blocking_step{[get = get_, into = got_]() -> result<std::string> {
      *into = (*get)();
      return std::string();
    }};
  }
  flow_step read(result<std::string>&& text, const flow_moment& moment) override {
    if (!text) return end(std::move(text).error());
    if (!*got_) return end(failure(got_->error().code(), got_->error().message()));
    if ((*got_)->expires > moment.now) return std::move(**got_);
    return end(failure(errc::unauthenticated, "the keys have expired: get new ones"));
  }
  flow_step replied(const http_reply&, const flow_moment& moment) override { return ask(moment); }

  const std::shared_ptr<const keys_reader> get_;
  const std::shared_ptr<result<access_keys>> got_{
      std::make_shared<result<access_keys>>(access_keys{})};
};

class keys_that_are_read final : public credentials {
 public:
  keys_that_are_read(credentials_facts facts, keys_reader get)
      : credentials(std::move(facts)), get_(std::make_shared<const keys_reader>(std::move(get))) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new read_keys_flow(this->facts(), get_));
  }

 private:
  const std::shared_ptr<const keys_reader> get_;
};

class process_flow final : public keys_flow {
 public:
  process_flow(const credentials_facts& facts, const std::vector<std::string>& words,
               const environment& machine)
      : keys_flow(facts, 1), words_(words), machine_(machine) {}

 private:
  flow_step ask(const flow_moment&) override {
    return blocking_step{[words = words_, &machine = machine_] {
      return machine.run({.words = words, .limit = std::chrono::minutes(1)});
    }};
  }
  flow_step read(result<std::string>&& text, const flow_moment& moment) override {
    if (!text) return end(failure(text.error().code(), text.error().message()));
    auto keys = read_process_keys(*text, moment.now);
    if (!keys) {
      return end(failure(errc::invalid_argument, "the output of program \"" + words_.front() +
                                                     "\": " + keys.error().message()));
    }
    if (keys->expires > moment.now) return std::move(*keys);
    return end(failure(errc::unauthenticated,
                       "program \"" + words_.front() + "\" gave keys that had expired"));
  }
  flow_step replied(const http_reply&, const flow_moment& moment) override { return ask(moment); }

  const std::vector<std::string>& words_;
  const environment& machine_;
};

class process_keys final : public credentials {
 public:
  process_keys(credentials_facts facts, std::vector<std::string> words, const environment& machine)
      : credentials(std::move(facts)), words_(std::move(words)), machine_(machine) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new process_flow(this->facts(), words_, machine_));
  }

 private:
  std::vector<std::string> words_;
  const environment& machine_;
};

DATAFLUX_INLINE credentials_ptr make_static_keys(credentials_facts facts, access_keys keys) {
  return std::make_shared<static_keys>(std::move(facts), std::move(keys));
}

DATAFLUX_INLINE credentials_ptr make_read_keys(credentials_facts facts,
                                               std::function<result<access_keys>()> get) {
  return std::make_shared<keys_that_are_read>(std::move(facts), std::move(get));
}

DATAFLUX_INLINE credentials_ptr make_process_keys(credentials_facts facts,
                                                  std::vector<std::string> words,
                                                  const environment& machine) {
  return std::make_shared<process_keys>(std::move(facts), std::move(words), machine);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
