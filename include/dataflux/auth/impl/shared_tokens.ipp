#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/auth/detail/signing_identity.hpp>
#include <dataflux/auth/detail/token_file.hpp>
#include <dataflux/auth/detail/token_flow.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

/// A flow first looks into the file (looking), on the thread for blocking steps. There it finds a
/// token, which is the end; or it gets the lock, and runs the flow of the credentials themselves
/// (asking), whose token it puts into the file (keeping); or another process has the lock, and it
/// looks again after a while (waiting). Where the folder fails, or the wait has been long, it asks
/// without a lock.
namespace dataflux::inline DATAFLUX_ABI {

namespace detail::auth {

inline constexpr std::chrono::seconds lock_patience{20};
inline constexpr std::chrono::milliseconds first_look_again{50};
inline constexpr std::chrono::milliseconds last_look_again{500};

/// What the flows of one client share.
struct token_sharing {
  token_sharing(credentials_ptr of, std::string at, std::string digest,
                dataflux::observer* observer)
      : source(std::move(of)), folder(std::move(at)), identity(std::move(digest)), told(observer) {}

  const credentials_ptr source;
  const std::string folder;
  const std::string identity;
  dataflux::observer* const told;
  std::mutex mutex{};
  /// The token that this client had last: never taken from the file again.
  std::string last{};

  bool is_last(const std::string& token) {
    std::scoped_lock lock(mutex);
    return token == last;
  }
  void gave(const std::string& token) {
    std::scoped_lock lock(mutex);
    last = token;
  }
  void warn(const error& why) const {
    if (told == nullptr) return;
    told->on_log(log_level::warning,
                 "the cache of tokens fails, so this process asks by itself: " + why.to_string());
  }
};

/// One look into the file; its work is done on the thread for blocking steps.
struct file_look {
  file_look(std::string folder, std::string identity)
      : file(std::move(folder), std::move(identity)) {}

  token_file file;
  std::optional<kept_token> found{};
  bool locked{false};

  /// A token, or the lock, or neither, which is another's.
  result<void> look(token_sharing& with, system_time now) {
    for (bool again : {true, false}) {
      auto kept = file.read();
      if (!kept) return std::move(kept).error();
      if (*kept && (*kept)->is_fresh(now) && !with.is_last((*kept)->token.value)) {
        found = *std::move(kept);
        file.unlock();
        return {};
      }
      if (!again) break;
      auto got = file.try_lock();
      if (!got) return std::move(got).error();
      if (!*got) return {};
    }
    locked = true;
    return {};
  }
};

class shared_token_flow final : public token_flow {
 public:
  explicit shared_token_flow(std::shared_ptr<token_sharing> with) : with_(std::move(with)) {}

  flow_step resume(flow_event event, const flow_moment& moment) override {
    switch (phase_) {
      case phase::waiting:
        return look(moment);
      case phase::looking:
        return after_look(std::get<result<std::string>>(event), moment);
      case phase::asking:
        return after_asking(asks_->resume(std::move(event), moment), moment);
      case phase::keeping:
        break;
    }
    if (const auto& kept = std::get<result<std::string>>(event); !kept) with_->warn(kept.error());
    return give(std::move(*token_));
  }

 private:
  enum class phase { waiting, looking, asking, keeping };

  flow_step look(const flow_moment& moment) {
    phase_ = phase::looking;
    look_ = std::make_shared<file_look>(with_->folder, with_->identity);
    return blocking_step{[look = look_, with = with_, now = moment.local]() -> result<std::string> {
      if (auto good = look->look(*with, now); !good) return std::move(good).error();
      return std::string();
    }};
  }

  flow_step after_look(const result<std::string>& done, const flow_moment& moment) {
    if (!done) {
      with_->warn(done.error());
      look_.reset();
      return ask(moment);
    }
    if (look_->found) {
      access_token token = look_->found->token;
      if (!check_token(token, moment.local)) return ask(moment);
      token.expires = in_time_of_service(token.expires, moment);
      return give(std::move(token));
    }
    if (look_->locked || waited_ >= lock_patience) return ask(moment);
    phase_ = phase::waiting;
    const auto wait = std::chrono::duration<double>(pause_) * (0.5 + moment.random);
    pause_ = std::min<duration>(2 * pause_, last_look_again);
    waited_ += std::chrono::duration_cast<duration>(wait);
    return wait_step{std::chrono::duration_cast<duration>(wait)};
  }

  flow_step ask(const flow_moment& moment) {
    phase_ = phase::asking;
    asks_ = with_->source->start();
    return after_asking(asks_->resume(std::monostate{}, moment), moment);
  }

  flow_step after_asking(flow_step step, const flow_moment& moment) {
    if (std::holds_alternative<error>(step) && look_ != nullptr) look_->file.unlock();
    auto* const token = std::get_if<access_token>(&step);
    if (token == nullptr) return step;
    if (look_ == nullptr) return give(std::move(*token));
    phase_ = phase::keeping;
    token_ = std::move(*token);
    kept_token kept{*token_, moment.local};
    kept.token.expires -= moment.now - moment.local;  // by the clock that all of them have
    return blocking_step{[look = look_, kept = std::move(kept)]() -> result<std::string> {
      auto done = look->file.put(kept);
      look->file.unlock();
      if (!done) return std::move(done).error();
      return std::string();
    }};
  }

  flow_step give(access_token token) {
    with_->gave(token.value);
    return token;
  }

  const std::shared_ptr<token_sharing> with_;
  phase phase_{phase::waiting};
  std::shared_ptr<file_look> look_{};
  std::unique_ptr<token_flow> asks_{};
  std::optional<access_token> token_{};
  duration pause_{first_look_again};
  duration waited_{0};
};

class shared_credentials final : public credentials {
 public:
  explicit shared_credentials(std::shared_ptr<token_sharing> with)
      : credentials(with->source->facts()), with_(std::move(with)) {}
  std::string token_identity() const override { return with_->source->token_identity(); }
  signing_identity signs_as() const override { return with_->source->signs_as(); }
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new shared_token_flow(with_));
  }

 private:
  const std::shared_ptr<token_sharing> with_;
};

}  // namespace detail::auth

DATAFLUX_INLINE result<credentials_ptr> share_tokens(credentials_ptr of, const std::string& folder,
                                                     dataflux::observer* observer) {
  namespace d = detail::auth;
  std::string identity = of->token_identity();
  if (identity.empty() || of->anonymous()) return of;
  identity.insert(
      0, "dataflux token 1\n" + of->facts().kind + "\n" + of->facts().universe_domain + "\n");
  const auto digest = d::sha256_of(identity);
  if (!digest) return digest.error();
  std::string name;
  d::append_digest(name, *digest);
  if (auto good = d::token_file(folder, name).check(); !good) {
    // What is missing is no object of whoever calls.
    const errc code = good.error().code();
    return error{code == errc::not_found ? errc::failed_precondition : code,
                 "the cache of tokens: " + good.error().message()};
  }
  auto with = std::make_shared<d::token_sharing>(std::move(of), folder, std::move(name), observer);
  return credentials_ptr{std::make_shared<d::shared_credentials>(std::move(with))};
}

}  // namespace dataflux::inline DATAFLUX_ABI
