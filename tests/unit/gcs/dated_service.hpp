#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/gcs/client.hpp>

#include <support/memory_transport.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

/// A client in virtual time, and a service whose clock says no more than the second, by its Date.
/// The last member of what `answer` refers to.
class dated_service {
 public:
  using answering = std::function<dataflux::detail::http::memory_reply(
      const dataflux::detail::http::memory_request&)>;

  explicit dated_service(answering answer)
      : net_(std::make_shared<dataflux::detail::http::memory_transport>(time_, std::move(answer))) {
    dataflux::gcs::client_options o{.endpoint = "https://service.test"};
    o.credentials = dataflux::make_anonymous_credentials();
    o.shared_transport = net_;
    client_ = dataflux::gcs::client::create(std::move(o)).value();
  }
  dated_service(const dated_service&) = delete;
  dated_service& operator=(const dated_service&) = delete;
  ~dated_service() {
    time_.run();
    client_.reset();
  }

  dataflux::timestamp now() const {
    using namespace std::chrono_literals;
    return dataflux::timestamp(1'000'000'300ms +
                               std::chrono::duration_cast<std::chrono::milliseconds>(
                                   time_.now() - dataflux::time_point{}));
  }
  void date(dataflux::detail::http::memory_reply& reply) const {
    using namespace std::chrono_literals;
    const auto time = now();
    const auto minute = std::chrono::floor<std::chrono::minutes>(time).time_since_epoch() % 60min;
    const auto second = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch() % 60s;
    char text[40];
    std::snprintf(text, sizeof text, "Mon, 12 Jan 1970 13:%02d:%02d GMT",
                  static_cast<int>(minute.count()), static_cast<int>(second.count()));
    reply.headers.emplace_back("Date", text);
  }

  /// From its beginning to its end.
  template <class Request>
  dataflux::result<typename Request::value> run(const Request& request) {
    using outcome = dataflux::result<typename Request::value>;
    std::optional<outcome> got;
    client_->start(request, [&](outcome ended) { got.emplace(std::move(ended)); });
    time_.run();
    return std::move(got.value());
  }

 private:
  dataflux::virtual_scheduler time_{};
  std::shared_ptr<dataflux::detail::http::memory_transport> net_;
  std::shared_ptr<dataflux::gcs::client> client_{};
};
