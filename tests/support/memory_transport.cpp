#include <dataflux/http/detail/byte_window.hpp>

#include <support/memory_transport.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

struct memory_transport::flight {
  ref<exchange> what{};
  memory_reply reply{};
  exchange_report report{};
  timer_id timer{timer_id::none};
  byte_sink* sink{nullptr};
  std::size_t delivered{0};
  byte_window window{};
  bool cancelled{false};
};

memory_transport::memory_transport(virtual_scheduler& time, handler peer)
    : time_(time), peer_(std::move(peer)) {}

memory_transport::~memory_transport() {
  closed_ = true;
  while (!flights_.empty()) finish(*flights_.back(), transport_failure::cancelled);
}

void memory_transport::submit(ref<exchange> e) {
  const http::request& r = e->request;
  std::string body;
  for (const bytes_view part : r.body.parts()) body.append(as_text(part));
  log_.push_back({r.method, *r.origin, r.target, r.headers, std::move(body), time_.now()});
  e->executor = &time_;

  auto& f = *flights_.emplace_back(std::make_unique<flight>());
  f.what = std::move(e);
  f.report.started = time_.now();
  if (closed_) return finish(f, transport_failure::cancelled);
  f.reply = peer_(log_.back());
  f.report.request_sent = !f.reply.failure_before_head() || may_have_been_executed(f.reply.failure);
  f.report.bytes_sent = f.report.request_sent ? log_.back().body.size() : 0;
  wait_for(f, f.reply.delay, f.what->limits.first_byte, transport_failure::timeout_first_byte,
           &memory_transport::deliver_head);
}

void memory_transport::cancel(ref<exchange> e) noexcept {
  const auto found = std::find_if(flights_.begin(), flights_.end(),
                                  [&](const auto& f) { return f->what.get() == e.get(); });
  if (found == flights_.end()) return;
  flight& f = **found;
  f.cancelled = true;
  // Without a timer it is inside one of its own callbacks, and what called that reads the flag.
  if (!time_.cancel(f.timer)) return;
  f.timer = time_.at(time_.now(), [this, &f] { finish(f, transport_failure::cancelled); });
}

void memory_transport::wait_for(flight& f, duration wait, duration limit, transport_failure late,
                                void (memory_transport::*then)(flight&)) {
  const time_point deadline = f.what->limits.deadline;
  const time_point due = deadline_after(time_.now(), wait);
  const time_point given_up = limit > duration::zero() ? deadline_after(time_.now(), limit) : never;
  if (due <= std::min(given_up, deadline)) {
    f.timer = time_.at(due, [this, &f, then] {
      f.timer = timer_id::none;
      (this->*then)(f);
    });
    return;
  }
  const transport_failure failure = deadline <= given_up ? transport_failure::deadline : late;
  f.timer = time_.at(std::max(time_.now(), std::min(given_up, deadline)),
                     [this, &f, failure] { finish(f, failure); });
}

void memory_transport::deliver_head(flight& f) {
  if (f.reply.failure_before_head()) return finish(f, f.reply.failure);
  std::vector<reply_head::field> fields;
  fields.reserve(f.reply.headers.size());
  for (const auto& [name, value] : f.reply.headers) fields.push_back({name, value});
  std::optional<std::uint64_t> length;
  if (f.reply.length_known) length = f.reply.body.size();
  reply_head head;
  head.assign(f.reply.status, std::move(fields), length);
  f.report.head_received = true;
  f.report.first_byte = time_.now();
  f.window.open(time_.now(), 0);

  auto sink = f.what->on_head(head);
  if (!sink) return finish(f, transport_failure::refused, sink.error().message());
  if (f.cancelled) return finish(f, transport_failure::cancelled);
  f.sink = *sink;
  const int status = f.reply.status;
  if (f.what->request.method == method::head || status == 204 || status == 304) {
    return finish(f, transport_failure::none);
  }
  if (f.sink != nullptr) {
    auto expected = f.sink->expect(length.value_or(byte_range::to_end));
    if (!expected) return finish(f, transport_failure::refused, expected.error().message());
  }
  wait_for_body(f);
}

void memory_transport::wait_for_body(flight& f) {
  const exchange_limits& limits = f.what->limits;
  if (f.window.end(limits.window) <= time_.now()) {
    if (f.window.since(f.delivered) < limits.least_bytes) {
      return finish(f, transport_failure::stalled);
    }
    f.window.open(time_.now(), f.delivered);
  }
  wait_for(f, f.reply.body_delay, limits.stall, transport_failure::stalled,
           &memory_transport::deliver_body);
}

void memory_transport::deliver_body(flight& f) {
  const std::string_view body = f.reply.body;
  const std::size_t end = std::min(body.size(), f.reply.fails_after.value_or(body.size()));
  std::size_t piece = std::min(end - f.delivered, std::max<std::size_t>(f.reply.piece, 1));
  while (piece > 0) {
    const bytes_view data = as_bytes(body.substr(f.delivered, piece));
    std::size_t taken = piece;
    if (f.sink != nullptr) {
      const bytes_span memory = f.sink->prepare(piece);
      if (memory.empty() && f.sink->satisfied()) return finish(f, transport_failure::none);
      if (memory.empty()) {
        return finish(f, transport_failure::refused, "the sink takes no more bytes");
      }
      taken = std::min(memory.size(), piece);
      std::memcpy(memory.data(), data.data(), taken);
      auto committed = f.sink->commit(taken);
      if (!committed) return finish(f, transport_failure::refused, committed.error().message());
    }
    piece -= taken;
    f.delivered += taken;
    f.report.bytes_received += taken;
    if (f.cancelled) return finish(f, transport_failure::cancelled);
  }
  if (f.delivered == end) return finish(f, f.reply.failure);
  wait_for_body(f);
}

void memory_transport::finish(flight& f, transport_failure failure, std::string detail) {
  time_.cancel(f.timer);
  const auto found = std::find_if(flights_.begin(), flights_.end(),
                                  [&](const auto& other) { return other.get() == &f; });
  const std::unique_ptr<flight> ended = std::move(*found);
  flights_.erase(found);
  ended->report.failure = failure;
  if (failure != transport_failure::none) {
    ended->report.detail = detail.empty() ? std::string{to_string(failure)} : std::move(detail);
    ended->report.detail.append(" (").append(ended->what->request.origin->to_string()).append(")");
  }
  ended->what->on_done(ended->report);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
