#pragma once

#include <dataflux/detail/or_default.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/http/curl_transport.hpp>
#include <dataflux/http/detail/client_certificate.hpp>
#include <dataflux/http/detail/cpu_count.hpp>
#include <dataflux/http/detail/io_thread.hpp>
#include <dataflux/http/detail/proxy.hpp>
#include <dataflux/http/detail/resolver.hpp>
#include <dataflux/http/detail/routes.hpp>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace dataflux::inline DATAFLUX_ABI {

struct curl_transport::state {
  explicit state(duration resolve_ttl) : names(resolve_ttl) {}

  const detail::process_stamp born{};
  std::vector<std::unique_ptr<detail::http::io_thread>> threads{};
  detail::http::resolver names;  // closed before the threads that it answers to are gone
  std::atomic<std::size_t> next{0};

  bool forked() const noexcept { return born.inherited(); }
};

namespace detail::http {

inline result<void> check_readable(const std::string& file, std::string_view what) {
  if (file.empty() || ::access(file.c_str(), R_OK) == 0) return {};
  return error(errc::invalid_argument,
               "cannot read the " + std::string(what) + " \"" + file + "\"");
}

}  // namespace detail::http

DATAFLUX_INLINE curl_transport::curl_transport(std::unique_ptr<state> s) noexcept
    : state_(std::move(s)) {}

DATAFLUX_INLINE result<std::shared_ptr<curl_transport>> curl_transport::create(
    const curl_transport_options& given) {
  const curl_transport_options options = detail::with_defaults<
      &curl_transport_options::max_connections_per_host, &curl_transport_options::max_connections,
      &curl_transport_options::idle_timeout, &curl_transport_options::peer_timeout,
      &curl_transport_options::resolve_ttl>(given);
  for (const auto& [file, what] :
       {std::pair{options.ca_file, "file of trusted authorities"},
        std::pair{options.proxy_ca_file, "file of the proxy's authorities"}}) {
    if (auto readable = detail::http::check_readable(file, what); !readable)
      return readable.error();
  }
  if (auto good = detail::http::check_certificate(options.client); !good) return good.error();
  if (auto good = detail::http::check_proxy(options); !good) return good.error();
  if (auto good = detail::http::routes::parse(options); !good) return good.error();
  std::size_t count = options.io_threads;
  if (count == 0) count = detail::http::cpu_count(std::thread::hardware_concurrency()) / 4;
  // Each thread has connections of its own, at least one.
  const std::size_t most = std::min(options.max_connections_per_host, options.max_connections);
  count = std::clamp<std::size_t>(count, 1, std::max<std::size_t>(1, most));
  const detail::http::connection_pool::limits share{
      .connections_per_host = std::max<std::size_t>(1, options.max_connections_per_host / count),
      .connections = std::max<std::size_t>(1, options.max_connections / count)};
  try {
    auto made = std::make_unique<state>(options.resolve_ttl);
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<std::uint32_t>(i);
      made->threads.push_back(
          std::make_unique<detail::http::io_thread>(number, options, share, made->names));
    }
    std::shared_ptr<curl_transport> out(new curl_transport(std::move(made)));
    for (auto& thread : out->state_->threads) thread->start();
    return out;
  } catch (const std::system_error& e) {
    return error(errc::resource_exhausted, std::string("cannot start I/O threads: ") + e.what());
  }
}

DATAFLUX_INLINE curl_transport::~curl_transport() {
  if (state_->forked()) {
    static_cast<void>(state_.release());  // the threads and locks are the parent's
    return;
  }
  for (auto& thread : state_->threads) thread->stop();
  // The last work of one thread may have submitted or posted to another that had ended before.
  for (bool any = true; any;) {
    any = false;
    for (auto& thread : state_->threads) any = thread->end_late() || any;
  }
}

DATAFLUX_INLINE void curl_transport::submit(detail::ref<detail::http::exchange> e) {
  if (state_->forked()) {
    detail::http::exchange_report report;
    report.failure = detail::http::transport_failure::forked;
    report.detail = "this client was made before fork(); make a new one in the child process";
    e->on_done(report);
    return;
  }
  if (e->executor == nullptr) e->executor = &next_executor();
  auto* const thread = static_cast<detail::http::io_thread*>(e->executor);
  thread->submit(std::move(e));
}

DATAFLUX_INLINE void curl_transport::cancel(detail::ref<detail::http::exchange> e) noexcept {
  if (state_->forked() || e->executor == nullptr) return;
  auto* const thread = static_cast<detail::http::io_thread*>(e->executor);
  // Short of memory it ends by its own limits.
  detail::within_memory([&] { thread->cancel(std::move(e)); });
}

DATAFLUX_INLINE scheduler& curl_transport::next_executor() noexcept {
  const std::size_t turn = state_->next.fetch_add(1, std::memory_order_relaxed);
  return *state_->threads[turn % state_->threads.size()];
}

DATAFLUX_INLINE bool curl_transport::is_current() const noexcept {
  return std::any_of(state_->threads.begin(), state_->threads.end(),
                     [](const auto& thread) { return thread->is_current(); });
}

DATAFLUX_INLINE std::size_t curl_transport::threads() const noexcept {
  return state_->threads.size();
}

DATAFLUX_INLINE connection_snapshot curl_transport::look() const {
  connection_snapshot all;
  for (const auto& thread : state_->threads) thread->add_to(all);
  return all;
}

DATAFLUX_INLINE std::size_t curl_transport::connections() const noexcept {
  std::size_t sum = 0;
  for (const auto& thread : state_->threads) sum += thread->connections();
  return sum;
}

}  // namespace dataflux::inline DATAFLUX_ABI
