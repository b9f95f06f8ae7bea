#pragma once

#include <dataflux/store/object_store.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <utility>

#include "job.hpp"

/// Writes that the client does not repeat by itself, since it cannot know that twice is as good as
/// once: a copy knows, as the same bytes under the same name are the same object.
namespace cli {

/// Attempts of one request by the client: half a minute on the average where nothing answers, a
/// person waiting.
inline constexpr int patience = 6;

/// Repeating an insert does no harm, whatever became of it.
inline bool worth_again(const dataflux::error& e) noexcept {
  return e.retryable() && e.attempts() < patience;
}

inline constexpr int most_tries = 8;

/// Before try number `tries` + 1: full jitter (protocol.md 3.2).
inline std::chrono::milliseconds jittered_wait(int tries) {
  static thread_local std::minstd_rand engine{std::random_device{}()};
  const int most_ms = std::min(8000, 250 << tries);
  return std::chrono::milliseconds{std::uniform_int_distribution<int>(0, most_ms)(engine)};
}

/// One request and its repetitions.
template <class Request>
class repetition : public std::enable_shared_from_this<repetition<Request>> {
 public:
  using value = typename Request::value;

  repetition(job& from, Request request, dataflux::object_store::completion<value> done)
      : from_(from), request_(std::move(request)), done_(std::move(done)) {}

  void start() {
    from_.store.start(request_, [self = this->shared_from_this()](dataflux::result<value> got) {
      self->ended(std::move(got));
    });
  }

 private:
  void ended(dataflux::result<value> got) {
    if (got || !worth_again(got.error()) || ++tries_ == most_tries || from_.ended()) {
      return done_(std::move(got));
    }
    // A stop during the wait is seen at its end.
    auto& executor = from_.store.executor();
    executor.at(executor.now() + jittered_wait(tries_),
                [self = this->shared_from_this()] { self->start(); });
  }

  job& from_;
  const Request request_;
  dataflux::object_store::completion<value> done_;
  int tries_{0};
};

/// Starts `request`, and again after failures that are worth it. What it points to is the caller's
/// until `done`.
template <class Request>
void start_again(job& from, Request request,
                 dataflux::object_store::completion<typename Request::value> done) {
  std::make_shared<repetition<Request>>(from, std::move(request), std::move(done))->start();
}

}  // namespace cli
