#include "retry_notice.hpp"

#include <terminal/progress.hpp>

#include <chrono>
#include <cstdio>
#include <new>

namespace cli {

void retry_notice::on_request(const dataflux::request_event& event) noexcept {
  const bool good = event.http_status >= 200 && event.http_status < 400;
  if (good) good_.store(event.finished, std::memory_order_relaxed);
}

void retry_notice::on_retry(const dataflux::retry_event& event) noexcept {
  if (voice_ == voice::quiet) return;
  try {
    const std::string text = line(event, dataflux::clock::now());
    if (!text.empty()) print_line(text);
  } catch (const std::bad_alloc&) {
    return;  // a notice is worth no more than that
  }
}

std::string retry_notice::line(const dataflux::retry_event& event, dataflux::time_point now) {
  constexpr std::chrono::seconds patient{1};
  constexpr std::chrono::seconds quiet{5};
  if (event.cause == nullptr || now - good_.load(std::memory_order_relaxed) < patient) return {};
  auto next = next_.load(std::memory_order_relaxed);
  if (now < next || !next_.compare_exchange_strong(next, now + quiet)) return {};
  std::string out = "dataflux: retrying: ";
  for (const char c : event.cause->message()) {
    out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  if (event.cause->http_status() != 0) {
    out.append(" (HTTP ").append(std::to_string(event.cause->http_status())).append(")");
  }
  const int next_attempt = event.attempt + 1;
  out.append("; attempt ").append(std::to_string(next_attempt));
  // Refusals for the rate use time, and no attempts.
  if (next_attempt <= most_) out.append(" of ").append(std::to_string(most_));
  char wait[32];
  std::snprintf(wait, sizeof wait, " in %.1f s",
                std::chrono::duration<double>(event.delay).count());
  return out.append(wait).append("; Ctrl-C ends it");
}

}  // namespace cli
