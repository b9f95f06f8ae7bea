#pragma once

#include <dataflux/auth/token_cache.hpp>
#include <dataflux/buffer.hpp>
#include <dataflux/gcs/client_options.hpp>
#include <dataflux/gcs/detail/pace_line.hpp>
#include <dataflux/gcs/endpoint.hpp>
#include <dataflux/gcs/verb.hpp>
#include <dataflux/http/pacing.hpp>
#include <dataflux/http/retry.hpp>
#include <dataflux/http/transport.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/ref.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

/// The one that is asked for, else the one that the credentials say.
std::string quota_project_of(const client_options& o, const auth::credentials_ptr& c);

class call;
class read_call;

/// What all calls of one client share, and the list of those that are under way.
class client_core final : public ref_counted {
 public:
  client_core(client_options o, gcs::endpoint e, std::shared_ptr<http::transport> t,
              auth::credentials_ptr credentials);

  const client_options options;
  const gcs::endpoint where;
  const std::string user_agent;
  const std::string quota_project;
  std::unique_ptr<auth::token_cache> tokens;
  http::retry_budget retry_budget{};
  buffer_pool buffers{};
  counters totals{};
  const std::uint64_t generation;

  /// The endpoint has answered a call.
  bool answered() const noexcept { return answered_.load(std::memory_order_relaxed); }
  void has_answered() noexcept {
    if (!answered()) answered_.store(true, std::memory_order_relaxed);
  }
  bool forked() const noexcept;
  call_context context() const noexcept { return {where, options.user_project, quota_project}; }
  /// Uniform in [0, 1) and 128 bits; from a generator of the calling thread.
  static double random();
  static call_id random_id();

  /// Stays valid as long as the core. Cost: a lock and a tree search.
  pace_line& line_of(std::string_view bucket, pacing_class c);
  /// False once the client is being closed: the call must end at once.
  bool enter(call& c);
  void leave(call& c) noexcept;
  /// Cancels all calls and waits until the last one has left.
  void close();
  /// After close(). Work that the transport's threads still have may start calls meanwhile: they
  /// are posted, find themselves stopped and end.
  void end_transport();
  http::transport& transport() const noexcept { return *transport_; }

  /// Reads are the steady stream of a training job: their call objects are used again, with the
  /// capacity of their strings.
  ref<read_call> take_read_call();
  bool put_back(read_call& c) noexcept;

 private:
  std::shared_ptr<http::transport> owned_transport_;
  http::transport* const transport_;  ///< valid until its destructor has ended its threads
  std::atomic<bool> answered_{false};
  http::pacing pacing_{};
  std::mutex lines_mutex_{};
  std::map<const http::pacing::lane*, pace_line> lines_{};
  std::mutex mutex_{};
  std::condition_variable empty_{};
  call* first_{nullptr};
  std::size_t active_{0};
  bool closing_{false};
  std::vector<read_call*> spare_reads_{};

  ~client_core() override;
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail
