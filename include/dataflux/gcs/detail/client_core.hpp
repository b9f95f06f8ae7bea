#pragma once

#include <dataflux/auth/detail/token_cache.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/gcs/detail/endpoint.hpp>
#include <dataflux/gcs/detail/last_writer.hpp>
#include <dataflux/gcs/detail/pace_line.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/gcs/detail/verb_latencies.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/http/detail/pacing.hpp>
#include <dataflux/http/detail/retry.hpp>
#include <dataflux/http/detail/transport.hpp>
#include <dataflux/observer.hpp>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

/// The one that is asked for, else the one that the credentials say.
std::string quota_project_of(const client_options& o, const auth::credentials_ptr& c);

/// The one of the credentials, else the one whose quota is used.
std::string project_of(const client_options& o, const auth::credentials_ptr& c);

class call;

/// What all calls of one client share, and the list of those that are under way.
class client_core final : public ref_counted {
 public:
  client_core(client_options o, gcs::endpoint e, std::shared_ptr<http::transport> t,
              auth::credentials_ptr credentials);

  const client_options options;
  const gcs::endpoint where;
  /// Those header fields that all requests have.
  const http::header_list own_fields;
  const std::string quota_project;
  const std::string project;
  std::unique_ptr<auth::token_cache> tokens;
  http::retry_budget retry_budget{};
  buffer_pool buffers{};
  counters totals{};
  verb_latencies latencies;
  known_past past{};
  const dataflux::detail::process_stamp born{};

  /// The endpoint has answered a call.
  bool answered() const noexcept { return answered_.load(std::memory_order_relaxed); }
  void has_answered() noexcept {
    if (!answered()) answered_.store(true, std::memory_order_relaxed);
  }
  bool forked() const noexcept;
  call_context context() const noexcept {
    return {where, options.user_project, quota_project, project};
  }
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
  /// Nothing in the child of a fork.
  client_snapshot look();

  /// A call of that kind that has ended; null where there is none.
  call* take_spare(const verb_info& kind);
  /// Keeps a call that has ended. False: nobody wants it any more.
  bool put_back(call& c) noexcept;

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
  /// Calls that wait for their next use, chained by next_.
  struct spare_calls {
    const verb_info* kind;
    call* first{nullptr};
    std::size_t count{0};
  };
  spare_calls& spares_of(const verb_info& kind);
  std::vector<spare_calls> spares_{};

  DATAFLUX_INLINE ~client_core() override;
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail
