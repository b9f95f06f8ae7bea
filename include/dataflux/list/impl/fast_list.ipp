#pragma once

#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/list/detail/list_coordinator.hpp>
#include <dataflux/list/detail/list_queue.hpp>
#include <dataflux/list/fast_list.hpp>

#include <new>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void start_fast_list(object_store& store, const fast_list_request& request,
                                     object_store::completion<listing> done) {
  detail::list_coordinator::start(store, request, std::move(done), nullptr);
}

DATAFLUX_INLINE operation<listing> submit_fast_list(object_store& store,
                                                    fast_list_request request) {
  return start_operation<listing>(
      request.limits, [&](auto done) { start_fast_list(store, request, std::move(done)); });
}

DATAFLUX_INLINE result<listing> fast_list(object_store& store, fast_list_request request) {
  return submit_fast_list(store, std::move(request)).take();
}

DATAFLUX_INLINE fast_lister::fast_lister(object_store& store, const fast_list_request& request)
    : queue_(std::make_shared<detail::list_queue>()) {
  detail::list_coordinator::start(store, request, {}, queue_);
}
DATAFLUX_INLINE fast_lister::fast_lister(fast_lister&&) noexcept = default;
DATAFLUX_INLINE fast_lister& fast_lister::operator=(fast_lister&& other) noexcept {
  if (this != &other) {
    close();
    queue_ = std::move(other.queue_);
  }
  return *this;
}
DATAFLUX_INLINE fast_lister::~fast_lister() { close(); }

DATAFLUX_INLINE void fast_lister::close() noexcept {
  if (queue_ == nullptr) return;
  if (!queue_->inherited()) return queue_->close();
  // Its locks and threads are the parent's.
  static_cast<void>(new (std::nothrow) std::shared_ptr<detail::list_queue>(std::move(queue_)));
}

DATAFLUX_INLINE result<fast_lister::page> fast_lister::next_page() {
  return submit_next_page().take();
}

DATAFLUX_INLINE result<taken> fast_lister::try_next_page(listed_page& into) {
  if (queue_->inherited()) return detail::forked_error("listing");
  auto ready = queue_->try_take();
  if (!ready) return taken::nothing;
  if (!*ready) return std::move(*ready).error();
  if (!**ready) return taken::ended;
  into = ***std::move(ready);
  return taken::some;
}

DATAFLUX_INLINE void fast_lister::notify(completion_queue& queue, std::uint64_t tag) {
  if (queue_->inherited()) return queue.push({tag, errc::failed_precondition});
  queue_->notify(queue, tag);
}

DATAFLUX_INLINE operation<fast_lister::page> fast_lister::submit_next_page() {
  call_limits limits;
  return start_operation<page>(limits, [&](object_store::completion<page> done) {
    if (queue_->inherited()) return done(detail::forked_error("listing"));
    if (auto ready = queue_->try_take()) return done(*std::move(ready));
    queue_->wait(std::move(done), limits.stop);
  });
}

DATAFLUX_INLINE void fast_lister::start_next_page(object_store::completion<page> done) {
  if (queue_->inherited()) return done(detail::forked_error("listing"));
  if (auto ready = queue_->try_take()) return done(*std::move(ready));
  queue_->wait(std::move(done), {});
}

DATAFLUX_INLINE void fast_lister::cancel() noexcept {
  if (!queue_->inherited()) queue_->cancel();
}

DATAFLUX_INLINE list_summary fast_lister::summary() const {
  return queue_->inherited() ? list_summary{} : queue_->summary();
}

}  // namespace dataflux::inline DATAFLUX_ABI
