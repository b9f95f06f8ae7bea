#pragma once

#include <dataflux/http/detail/transport.hpp>

#include <support/catch.hpp>
#include <support/flag.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// An exchange that keeps everything that it is told, for a test to wait for and examine.
class test_exchange final : public dataflux::detail::http::exchange {
 public:
  /// `room` = what the reply's body may fill; 0 = the body is not wanted.
  static dataflux::detail::ref<test_exchange> make(std::uint16_t port, std::size_t room = 1 << 20) {
    dataflux::detail::http::origin to;
    to.tls = false;
    to.host = "127.0.0.1";
    to.port = port;
    return make(to, room);
  }
  static dataflux::detail::ref<test_exchange> make(const dataflux::detail::http::origin& to,
                                                   std::size_t room = 1 << 20) {
    auto made = dataflux::detail::ref<test_exchange>::adopt(new test_exchange(room));
    made->request.origin = std::make_shared<const dataflux::detail::http::origin>(to);
    made->request.target = "/";
    return made;
  }
  /// A POST that must not be sent twice.
  test_exchange& post(std::string body) {
    body_ = std::move(body);
    request.method = dataflux::detail::http::method::post;
    request.body = dataflux::detail::http::request_body(dataflux::as_bytes(body_));
    idempotent = false;
    return *this;
  }

  dataflux::result<dataflux::byte_sink*> on_head(
      const dataflux::detail::http::reply_head& head) override {
    status = head.status();
    if (into != nullptr) return into;
    sink_ = std::make_unique<dataflux::span_sink>(memory_);
    return memory_.empty() ? nullptr : sink_.get();
  }
  void on_moved(std::size_t sent, std::size_t received) noexcept override {
    moved_sent += sent;
    moved_received += received;
  }
  void on_done(dataflux::detail::http::exchange_report& r) noexcept override {
    report = r;
    ++ends;
    if (then) then();
    ended_.raise();
  }
  void wait() { ended_.wait(); }
  /// After wait(). Status and body, or the failure.
  std::string outcome() const {
    if (report.failure != dataflux::detail::http::transport_failure::none) {
      return std::string(dataflux::detail::http::to_string(report.failure));
    }
    return std::to_string(status) + " " + body();
  }
  std::string body() const {
    return sink_ ? std::string(dataflux::as_text(sink_->filled())) : std::string();
  }

  int status{0};
  std::atomic<int> ends{0};
  std::atomic<std::size_t> moved_sent{0};
  std::atomic<std::size_t> moved_received{0};
  dataflux::detail::http::exchange_report report{};
  dataflux::byte_sink* into{nullptr};  ///< takes the body instead of the memory
  std::function<void()> then{};        ///< runs at the end, on the executor

 private:
  explicit test_exchange(std::size_t room) : memory_(room) {}
  std::string body_{};
  std::vector<std::byte> memory_;
  std::unique_ptr<dataflux::span_sink> sink_{};
  flag ended_{};
};
