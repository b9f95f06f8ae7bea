#pragma once

#include <emulator/certificate.hpp>
#include <emulator/service.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace emulator {

/// Puts a `service` on sockets. Boost.Beast and Asio stay behind it: they take long to
/// compile.
class listener {
 public:
  /// Listens when it returns. `tls` is nullptr for plain HTTP; with `demands` a client must show a
  /// certificate of its authority. `behind` must outlive this.
  listener(service& behind, const std::string& address, std::uint16_t port, int threads,
           const certificate* tls, bool demands = false);
  /// Ends all connections and joins.
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  std::uint16_t port() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace emulator
