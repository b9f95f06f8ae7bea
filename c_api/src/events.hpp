#pragma once

#include "client.hpp"

#include <dataflux/exec/operation.hpp>
#include <dataflux/store/object_store.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace dataflux_c {

/// How far a call is, told by events. Those leave out what comes soon after another, but for the
/// end: what was left out by then is told there. Any thread.
class call_progress {
 public:
  call_progress(std::shared_ptr<dataflux::event_ring> ring, std::uint64_t tag, std::string what,
                std::string bucket, std::string object) noexcept
      : ring_(std::move(ring)),
        tag_(tag),
        what_(std::move(what)),
        bucket_(std::move(bucket)),
        object_(std::move(object)) {}

  /// So much more is known to come.
  void expect(std::uint64_t more) noexcept { total_ += more; }
  void add(std::uint64_t more) noexcept { tell(done_ += more); }
  void reach(std::uint64_t done) noexcept { tell(done_ = done); }
  void end() noexcept;
  /// Of one that has ended well, and whose total was not known.
  void end(std::uint64_t total) noexcept {
    total_ = total;
    end();
  }

 private:
  void tell(std::uint64_t done, bool last = false) noexcept;

  const std::shared_ptr<dataflux::event_ring> ring_;
  const std::uint64_t tag_;
  const std::string what_;
  const std::string bucket_;
  const std::string object_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
  std::atomic<std::uint64_t> whole_{0};  ///< told as the end
};

/// Null if it is not `wanted`. Errors: failed_precondition where the client keeps no events.
result<std::shared_ptr<call_progress>> progress_of(const dataflux_client* client, bool wanted,
                                                   std::uint64_t tag, std::string what,
                                                   std::string bucket, std::string object);

/// For the `progress` of a request; empty without one.
inline std::function<void(std::uint64_t)> adding_to(std::shared_ptr<call_progress> how_far) {
  if (how_far == nullptr) return {};
  return [how_far = std::move(how_far)](std::uint64_t more) { how_far->add(more); };
}

/// Begins an operation by `start(done)`, and tells the end of its progress, if there is any, before
/// that of the operation. `end(how_far, value)` does it for one that has ended well.
template <class T, class Start, class End>
dataflux::operation<T> submit_told(dataflux::call_limits& limits,
                                   std::shared_ptr<call_progress> how_far, Start start, End end) {
  return dataflux::start_operation<T>(limits, [&](dataflux::object_store::completion<T> done) {
    if (how_far == nullptr) return start(std::move(done));
    start([how_far = std::move(how_far), done = std::move(done),
           end = std::move(end)](result<T> outcome) mutable {
      if (outcome) {
        end(*how_far, *outcome);
      } else {
        how_far->end();
      }
      done(std::move(outcome));
    });
  });
}

}  // namespace dataflux_c
