#pragma once

#include <dataflux/detail/timeout_text.hpp>
#include <dataflux/error.hpp>

#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What many requests end with whose common deadline has passed: the error of the one that
/// was tried most often. It tells what was met until then, which says more than that the time has
/// passed. Not thread-safe.
class late_failure {
 public:
  /// Of a request that has ended; only those that the deadline has ended count.
  void note(const error& why) {
    if (why.code() != errc::deadline_exceeded) return;
    if (!most_ || why.attempts() > most_->attempts()) most_ = why;
  }
  error tell() const {
    return most_ ? *most_ : error(errc::deadline_exceeded, std::string{timeout_text});
  }

 private:
  std::optional<error> most_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
