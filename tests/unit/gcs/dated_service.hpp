#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/gcs/client.hpp>

#include <support/memory_transport.hpp>
#include <support/virtual_client.hpp>

#include <chrono>
#include <cstdio>
#include <utility>

/// A client in virtual time, and a service whose clock says no more than the second, by its Date.
/// The last member of what `answer` refers to.
class dated_service : public dataflux::test::virtual_client<dataflux::gcs::client> {
 public:
  explicit dated_service(answering service)
      : virtual_client(
            dataflux::gcs::client_options{.credentials = dataflux::make_anonymous_credentials(),
                                          .endpoint = "https://service.test"},
            std::move(service)) {}

  dataflux::timestamp now() const {
    using namespace std::chrono_literals;
    return dataflux::timestamp(
        1'000'000'300ms +
        std::chrono::duration_cast<std::chrono::milliseconds>(time.now() - dataflux::time_point{}));
  }
  void date(dataflux::detail::http::memory_reply& reply) const {
    using namespace std::chrono_literals;
    const auto when = now();
    const auto minute = std::chrono::floor<std::chrono::minutes>(when).time_since_epoch() % 60min;
    const auto second = std::chrono::floor<std::chrono::seconds>(when).time_since_epoch() % 60s;
    char line[40];
    std::snprintf(line, sizeof line, "Mon, 12 Jan 1970 13:%02d:%02d GMT",
                  static_cast<int>(minute.count()), static_cast<int>(second.count()));
    reply.headers.emplace_back("Date", line);
  }
};
