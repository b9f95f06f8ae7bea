#pragma once

#include <dataflux/observer.hpp>

#include <atomic>
#include <string>

#include "voice.hpp"

namespace cli {

/// Tells the person, on standard error, that requests fail and are sent again: else a service that
/// is not there cannot be told from a slow one for half a minute. Nothing is said while others
/// succeed, since most failures are mended by the next try; then one line at most every five
/// seconds.
class retry_notice final : public dataflux::observer {
 public:
  /// `most_attempts` of one request in a row.
  explicit retry_notice(int most_attempts, voice how = voice::usual) noexcept
      : most_(most_attempts), voice_(how) {}

  void on_request(const dataflux::request_event& event) noexcept override;
  void on_retry(const dataflux::retry_event& event) noexcept override;

  /// The line for an event at `now`; empty when nothing is to be said. Thread-safe.
  std::string line(const dataflux::retry_event& event, dataflux::time_point now);

 private:
  const int most_;
  const voice voice_;
  /// When a request succeeded last; at first, when there could have been one.
  std::atomic<dataflux::time_point> good_{dataflux::clock::now()};
  std::atomic<dataflux::time_point> next_{dataflux::time_point::min()};
};

}  // namespace cli
