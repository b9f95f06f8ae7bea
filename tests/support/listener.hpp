#pragma once

#include <dataflux/error.hpp>
#include <dataflux/observer.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

namespace dataflux::test {

/// Keeps all that a client says.
class listener final : public observer {
 public:
  void on_log(log_level, std::string_view line) noexcept override { keep(line); }
  void on_request(const request_event& e) noexcept override {
    for (const std::string_view text : {e.verb, e.bucket, e.object}) keep(text);
  }
  void on_retry(const retry_event& e) noexcept override {
    keep(e.verb);
    hear(*e.cause);
  }
  void hear(const error& e) {
    ++errors_;
    for (const std::string& text : {e.to_string(), e.message(), e.reason(), e.request_id()}) {
      keep(text);
    }
  }
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }
  int errors() const { return errors_; }

 private:
  void keep(std::string_view what) {
    const std::scoped_lock lock(mutex_);
    text_.append(what).append("\n");
  }
  mutable std::mutex mutex_{};
  std::string text_{};
  std::atomic<int> errors_{0};
};

}  // namespace dataflux::test
