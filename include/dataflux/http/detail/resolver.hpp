#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Turns names into addresses, shared by the I/O threads of a transport; answers are kept for
/// `ttl`. libcurl's resolver would ask anew for every connection and can block the event loop when
/// a connect is given up.
///
/// A name that is being asked for is not asked for again: whoever wants it meanwhile gets the same
/// answer, good or bad. Each question under way has a thread, so that a name whose servers are dead
/// keeps only those back who want it; threads are started when they are needed, `most_threads` at
/// most, and stay for the next question.
/// Destruction does not wait for look-ups under way: their threads end by themselves.
class resolver {
 public:
  using addresses = std::shared_ptr<const std::vector<std::string>>;
  using answer = unique_function<void(result<addresses>)>;
  /// Asks whoever knows; may block.
  using source = std::function<result<addresses>(const std::string& host)>;
  static constexpr std::size_t most_threads = 8;

  /// Asks the system.
  explicit resolver(duration ttl);
  resolver(duration ttl, source ask);
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;
  ~resolver();

  /// Calls `done` on `where` with all addresses of `host`, in the source's order of preference, or
  /// an error (unavailable). Thread-safe. Literals are answered without a question.
  void resolve(const std::string& host, scheduler& where, answer done);

 private:
  struct state;
  static void serve(std::shared_ptr<state> shared);
  std::shared_ptr<state> state_;
};

/// "host:port:address,[address]", as curl wants to be told what a name stands for.
std::string addresses_text(const std::string& host, std::uint16_t port,
                           const std::vector<std::string>& addresses);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/resolver.ipp>
#endif
