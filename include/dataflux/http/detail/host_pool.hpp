#pragma once

#include <dataflux/http/detail/resolver.hpp>
#include <dataflux/http/detail/transport.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

class connection;

/// Exchanges that wait for a connection, first come first served; linked through the exchanges.
class wait_line {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  exchange& front() const noexcept { return *first_; }
  std::size_t size() const noexcept { return size_; }
  void push_back(ref<exchange> e) noexcept;
  void push_front(ref<exchange> e) noexcept;
  ref<exchange> remove(exchange& e) noexcept;
  /// Whether `e`, which is in the line, is one of the first `count`. Cost: `count` steps.
  bool among_first(const exchange& e, std::size_t count) const noexcept;

 private:
  exchange* first_{nullptr};
  exchange* last_{nullptr};
  std::size_t size_{0};
};

/// The connections of one I/O thread to one origin, and who waits for them.
struct host_pool {
  std::shared_ptr<const origin> to{};
  wait_line waiting{};
  std::vector<connection*> idle{};  ///< most recently used last, and taken first
  std::size_t connecting{0};
  std::size_t established{0};
  resolver::addresses addresses{};
  time_point addresses_until{};
  std::size_t next_address{0};
  bool resolving{false};
  time_point no_connect_before{};  ///< after a failed connect, while other connections live
  /// The last connect that failed, for those whom time runs out.
  transport_failure failure{transport_failure::none};
  std::string failure_detail{};
  time_point failed_at{};
};

/// The connections that a host has and wants, where they are too few for all hosts.
struct host_claim {
  std::size_t connections{0};
  time_point waiting_since{never};  ///< the first of its line
};

/// Who gets the next connection: whoever has none, then whose first has waited longest.
bool comes_first(const host_claim& one, const host_claim& other) noexcept;

/// Whether a host whose own exchanges wait gives up a connection that has just done its work, so
/// that `other` can have one. The cost is a handshake, so that hosts which are busy at once come to
/// rest at even shares instead of passing connections to and fro: it is given to a host without
/// any, or to one that has waited longer and has fewer even afterwards. The last one is given only
/// to who has waited longer, which is first come, first served.
bool gives_way(const host_claim& holder, const host_claim& other) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/host_pool.ipp>
#endif
