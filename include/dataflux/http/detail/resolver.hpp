#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>

#include <memory>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::http::detail {

/// Turns names into addresses on one thread of its own, shared by the I/O threads of a transport;
/// answers are kept for `ttl`. libcurl's resolver would ask anew for every connection and can block
/// the event loop when a connect is given up.
/// Destruction does not wait for a look-up under way: its thread ends by itself.
class resolver {
 public:
  using addresses = std::shared_ptr<const std::vector<std::string>>;
  using answer = unique_function<void(result<addresses>)>;

  explicit resolver(duration ttl);
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;
  ~resolver();

  /// Calls `done` on `where` with all addresses of `host`, in the system's order of preference, or
  /// an error (unavailable). Thread-safe. Literals are answered without the thread.
  void resolve(const std::string& host, scheduler& where, answer done);

 private:
  struct state;
  static void serve(std::shared_ptr<state> shared);
  std::shared_ptr<state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::http::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/resolver.ipp>
#endif
