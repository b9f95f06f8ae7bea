#include <emulator/limits.hpp>
#include <emulator/service_error.hpp>
#include <emulator/verbs.hpp>

#include <algorithm>

namespace emulator {
namespace {

/// Names remembered before those that may be written again are forgotten.
constexpr std::size_t most_names = 100'000;

service_error too_fast(const std::string& message) {
  return {429, "rateLimitExceeded", "SlowDown", message};
}

}  // namespace

void rate_limits::check(const call& asked, time_point now) {
  const bool limited = options_.requests_per_second > 0 || options_.writes_per_name_second > 0;
  if (!limited || asked.bucket.empty()) return;
  const std::lock_guard lock{mutex_};
  if (options_.requests_per_second > 0) check_bucket(asked.bucket, now);
  if (options_.writes_per_name_second > 0) check_name(asked, now);
}

void rate_limits::check_bucket(const std::string& bucket, time_point now) {
  const double rate = options_.requests_per_second;
  const double most = std::max(rate, 1.0);
  allowance& held = buckets_.try_emplace(bucket, allowance{most, now}).first->second;
  const std::chrono::duration<double> passed = now - held.at;
  held.saved = std::min(most, held.saved + passed.count() * rate);
  held.at = now;
  if (held.saved < 1.0) {
    throw too_fast("The rate of requests to the bucket " + bucket +
                   " is too high. Please reduce your request rate.");
  }
  held.saved -= 1.0;
}

void rate_limits::check_name(const call& asked, time_point now) {
  const verb_row* const row = find_verb(asked.verb);
  if (row == nullptr || !row->writes) return;
  const bool copy = !asked.to_object.empty();
  const std::string name =
      (copy ? asked.to_bucket : asked.bucket) + "/" + (copy ? asked.to_object : asked.object);
  const auto pause = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(1.0 / options_.writes_per_name_second));
  if (names_.size() >= most_names) {
    std::erase_if(names_, [&](const auto& line) { return now - line.second >= pause; });
  }
  const auto [at, fresh] = names_.try_emplace(name, now);
  if (fresh) return;
  if (now - at->second < pause) {
    throw too_fast("The object " + name +
                   " exceeded the rate limit for object mutation operations (create, update, and "
                   "delete). Please reduce your request rate.");
  }
  at->second = now;
}

std::chrono::nanoseconds pacer::after(std::uint64_t bytes, time_point now) {
  if (rate_ == 0) return std::chrono::nanoseconds{0};
  const auto cost = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(rate_)));
  const std::lock_guard lock{mutex_};
  free_at_ = std::max(free_at_, now) + cost;
  return free_at_ - now;
}

}  // namespace emulator
