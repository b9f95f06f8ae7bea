#pragma once

#include "boundary.hpp"

#include <dataflux/ais/client.hpp>
#include <dataflux/cache/disk_cache.hpp>
#include <dataflux/exec/event_ring.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/s3/client.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace dataflux_c {

class client_state;

using any_client =
    std::variant<std::shared_ptr<dataflux::gcs::client>, std::shared_ptr<dataflux::s3::client>,
                 std::shared_ptr<dataflux::ais::client>>;

/// What is cancelled when the client is freed. The client knows it until it is destroyed.
class cancellable : public std::enable_shared_from_this<cancellable> {
 public:
  cancellable() = default;
  cancellable(const cancellable&) = delete;
  cancellable& operator=(const cancellable&) = delete;
  virtual ~cancellable();
  virtual void cancel() noexcept = 0;

 private:
  friend class client_state;
  std::shared_ptr<client_state> watched_by_{};
  bool known_{false};  ///< in the client's list, under the client's lock, as is where
  cancellable* before_{nullptr};
  cancellable* after_{nullptr};
};

/// What lies behind a client: operations and streams keep it alive.
class client_state : public std::enable_shared_from_this<client_state> {
 public:
  client_state(std::shared_ptr<dataflux::event_ring> ring, any_client made,
               const dataflux::transfer_options& o)
      : events(std::move(ring)),
        service(std::move(made)),
        client(store_of(service)),
        context(client, o) {}

  /// Cancels it when the client is closed. failed_precondition if that has come already.
  result<void> watch(cancellable& what);
  void forget(cancellable& what) noexcept;
  bool closed() const;
  void close();

  /// Where the client tells what it does; null = nowhere.
  const std::shared_ptr<dataflux::event_ring> events;
  std::atomic<bool> events_are_read{false};  ///< by a stream, of which there is one at a time
  const any_client service;
  const std::shared_ptr<dataflux::object_store> client;  ///< the same
  const dataflux::transfer_context context;

  result<void> limit_rate(std::string_view bucket, std::string_view kind, double rate) const {
    return std::visit([&](const auto& c) { return c->limit_rate(bucket, kind, rate); }, service);
  }
  std::optional<dataflux::disk_cache> cache{};  ///< set before anybody has the client

  /// Of all that it has.
  dataflux::client_snapshot snapshot() const {
    auto now = std::visit([](const auto& c) { return c->snapshot(); }, service);
    now.memory = context.memory();
    if (cache) now.cache = cache->counters();
    return now;
  }
  /// The operation of a request, which may be one that object_store does not name: unimplemented
  /// where this service lacks it.
  template <class Request>
  dataflux::operation<typename Request::value> submit(Request request) const {
    using value = typename Request::value;
    using done = dataflux::object_store::completion<value>;
    if constexpr (requires(dataflux::object_store & any, done then) {
                    any.start(request, std::move(then));
                  }) {
      return client->submit(std::move(request));
    } else {
      if (const auto* const gcs = std::get_if<std::shared_ptr<dataflux::gcs::client>>(&service)) {
        return (*gcs)->submit(std::move(request));
      }
      return dataflux::start_operation<value>(request.limits, [this](done then) {
        client->executor().post([then = std::move(then),
                                 scheme = client->traits().scheme]() mutable {
          then(error(errc::unimplemented, std::string(scheme == "s3" ? "S3" : "AIStore") +
                                              " has no such call: it is of Google Cloud Storage"));
        });
      });
    }
  }

 private:
  static std::shared_ptr<dataflux::object_store> store_of(const any_client& made) {
    return std::visit([](const auto& c) { return std::shared_ptr<dataflux::object_store>(c); },
                      made);
  }
  void unlink(cancellable& what) noexcept;

  mutable std::mutex mutex_{};
  cancellable* first_{nullptr};  ///< of those watched; a list, so that each leaves at once
  bool closed_{false};
};

}  // namespace dataflux_c

struct dataflux_client : dataflux_c::handle {
  explicit dataflux_client(std::shared_ptr<dataflux_c::client_state> s) noexcept
      : state(std::move(s)) {}
  ~dataflux_client() { state->close(); }
  dataflux_client(const dataflux_client&) = delete;
  dataflux_client& operator=(const dataflux_client&) = delete;
  const std::shared_ptr<dataflux_c::client_state> state;
};
