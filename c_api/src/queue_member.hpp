#pragma once

#include "client.hpp"
#include "queue.hpp"

#include <cstdint>
#include <memory>
#include <mutex>

namespace dataflux_c {

/// What is under way for a client and told to a queue: what operations and streams share. It keeps
/// both; the client cancels it when it is closed.
class queue_member : public record_source, public cancellable {
 public:
  explicit queue_member(std::uint64_t tag) noexcept : tag_(tag) {}

  /// Takes part in a queue, under a number; null = in none.
  result<void> join(std::shared_ptr<client_state> client, std::shared_ptr<queue_state> queue,
                    const std::shared_ptr<queue_member>& self);

 protected:
  /// No record of it comes any more.
  void leave();
  /// Says whose bucket it is about. A stop that the client's end has asked for is told as that.
  void complete_failure(error& why) const {
    quietly([&] {
      if (client_ != nullptr) why.with_scheme(client_->client->traits().scheme);
    });
    if (why.code() == errc::cancelled && client_ != nullptr && client_->closed()) {
      why.with_message("the client was closed");
    }
  }
  /// The last record.
  dataflux_record end_record() const noexcept;

  const std::uint64_t tag_;
  std::shared_ptr<client_state> client_{};
  std::shared_ptr<queue_state> queue_{};
  std::uint64_t number_{0};  ///< in the queue
  std::mutex mutex_{};
  bool cancelled_{false};  ///< perhaps before it had begun
};

}  // namespace dataflux_c
