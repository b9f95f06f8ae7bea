#pragma once

#include <dataflux/detail/buffer.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/http/detail/pacing.hpp>
#include <dataflux/http/detail/retry.hpp>
#include <dataflux/http/detail/transport.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/detail/dialect.hpp>
#include <dataflux/service/detail/last_writer.hpp>
#include <dataflux/service/detail/pace_line.hpp>
#include <dataflux/service/detail/signer.hpp>
#include <dataflux/service/detail/verb.hpp>
#include <dataflux/service/detail/verb_latencies.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// How calls are made: a client's options, with their defaults filled in by the client.
struct call_options {
  retry_policy retry{};
  duration connect_timeout{};
  duration first_byte_timeout{};
  duration complete_timeout{};  ///< in place of it, for verbs with verb_info::slow_reply
  duration stall_timeout{};
  std::uint64_t least_throughput{};  ///< bytes a second over `throughput_window`
  duration throughput_window{};
  /// Before the library's own User-Agent.
  std::string user_agent{};
  dataflux::observer* observer{nullptr};
};

class call;

/// What all calls of one client share, and the list of those that are under way.
class client_core final : public ref_counted {
 public:
  client_core(call_options o, std::unique_ptr<const service::dialect> how,
              std::unique_ptr<service::signer> who, std::shared_ptr<http::transport> t);

  const call_options options;
  const std::unique_ptr<const service::dialect> dialect;
  /// Null once the client has ended.
  std::unique_ptr<service::signer> signer;
  /// Those header fields that all requests have.
  const http::header_list own_fields;
  http::retry_budget retry_budget{};
  buffer_pool buffers{};
  counters totals{};
  verb_latencies latencies;
  known_past past{};
  const detail::process_stamp born{};

  /// The endpoint has answered a call.
  bool answered() const noexcept { return answered_.load(std::memory_order_relaxed); }
  void has_answered() noexcept {
    if (!answered()) answered_.store(true, std::memory_order_relaxed);
  }
  bool forked() const noexcept;
  /// Uniform in [0, 1) and 128 bits; from a generator of the calling thread.
  static double random();
  static call_id random_id();

  /// Stays valid as long as the core. Cost: a lock and a tree search.
  pace_line& line_of(std::string_view bucket, pacing_class c);
  /// What the clients say of it.
  result<void> limit_rate(std::string_view bucket, std::string_view kind, double rate);
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

/// The end of a client: cancels its calls and waits for them, but on a thread of the transport.
/// Then the end comes soon after, on another thread. Without one, or in the child of a fork, the
/// core is leaked. `core` is the client's own: what its threads still begin finds it until then.
void end_core(ref<client_core>& core) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
