#include "events.hpp"

#include "json.hpp"
#include "queue_member.hpp"

#include <dataflux/detail/slab.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <array>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux_c {

namespace {

/// Of one record, so that none is larger than some megabytes.
constexpr std::size_t most_events = 4096;

constexpr std::array<std::string_view, 4> level_names{"debug", "info", "warning", "error"};

void write_event(dataflux::detail::codec::json_writer& w, const dataflux::observed_event& e) {
  using dataflux::event_kind;
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  const auto text = [&w](std::string_view name, const std::string& value) {
    if (!value.empty()) w.key(name).string(utf8_of(value));
  };
  w.begin_object();
  w.key("kind").string(dataflux::to_string(e.kind));
  w.key("level").string(level_names[static_cast<std::size_t>(e.level) % level_names.size()]);
  w.key("time_ns").integer(duration_cast<nanoseconds>(e.time.time_since_epoch()).count());
  if (e.kind == event_kind::progress) w.key("tag").natural(e.call);
  text("text", e.text);
  text("verb", e.verb);
  text("bucket", e.bucket);
  text("object", e.object);
  if (e.kind == event_kind::retry) {
    w.key("attempt").integer(e.attempt);
    w.key("delay_ns").integer(duration_cast<nanoseconds>(e.delay).count());
  }
  if (e.kind == event_kind::progress) w.key("done").natural(e.done).key("total").natural(e.total);
  w.end_object();
}

std::string lines_of(const std::vector<dataflux::observed_event>& events) {
  std::string lines;
  for (const dataflux::observed_event& e : events) {
    dataflux::detail::codec::json_writer w(std::move(lines));
    write_event(w, e);
    lines = std::move(w).take();
    lines += '\n';
  }
  return lines;
}

}  // namespace

/// What a client keeps, as a source of records.
class event_stream final : public queue_member {
 public:
  using queue_member::queue_member;

  result<void> open(const std::shared_ptr<client_state>& client, std::shared_ptr<queue_state> queue,
                    const std::shared_ptr<event_stream>& self) {
    if (client->events == nullptr) {
      return error(errc::failed_precondition,
                   "the client keeps no events: set dataflux_client_options.event_capacity");
    }
    if (client->events_are_read.exchange(true)) {
      return error(errc::failed_precondition, "the client's events have a stream already");
    }
    ring_ = client->events;
    if (auto joined = join(client, std::move(queue), self); !joined) return joined;
    std::scoped_lock lock(mutex_);
    begun_ = true;
    if (cancelled_) wake();
    ring_->notify(queue_->events(), number_);
    return {};
  }
  /// No record comes any more, and another stream may be made.
  void end() {
    if (ring_ == nullptr) return;
    leave();
    ring_->silence();
    client_->events_are_read = false;
  }
  void cancel() noexcept override {
    quietly([this] {
      std::scoped_lock lock(mutex_);
      cancelled_ = true;
      if (begun_) wake();
    });
  }

  left take(std::span<dataflux_record> into, std::size_t& count, queue_state& queue) override {
    std::scoped_lock lock(mutex_);
    if (news_.empty()) news_ = ring_->take(most_events);
    if (!news_.empty()) {
      into[0] = record_of(news_);
      news_.clear();
      ++count;
    } else if (cancelled_) {
      into[0] = end_record();
      queue.fail(into[0], error(errc::cancelled, "the client was closed"));
      ++count;
      return left::nothing;
    }
    if (cancelled_) return left::more;
    ring_->notify(queue.events(), number_);
    return left::asleep;
  }

 private:
  void wake() { queue_->events().push({number_, errc::ok}); }

  dataflux_record record_of(const std::vector<dataflux::observed_event>& events) const {
    const std::string lines = lines_of(events);
    dataflux::detail::shared_bytes memory = client_->context.state()->slabs.allocate(lines.size());
    std::memcpy(memory.data(), lines.data(), lines.size());
    dataflux_record r{};
    r.tag = tag_;
    r.index = ring_->dropped();
    r.data = memory.data();
    r.size = memory.size();
    r.slab = std::move(memory).lend();
    return r;
  }

  std::shared_ptr<dataflux::event_ring> ring_{};
  std::vector<dataflux::observed_event> news_{};  ///< not handed out for want of memory
  bool begun_{false};
};

void call_progress::tell(std::uint64_t done, bool last) noexcept {
  const std::uint64_t total = total_;
  if (done == total) whole_ = done;
  ring_->tell_progress({.what = what_,
                        .bucket = bucket_,
                        .object = object_,
                        .done = done,
                        .total = total,
                        .last = last,
                        .call = tag_});
}

void call_progress::end() noexcept {
  const std::uint64_t done = done_;
  if (done == 0) return;
  // More may have been found after what was the end of it then.
  if (const std::uint64_t whole = whole_; done != whole || total_ != whole) tell(done, true);
}

result<std::shared_ptr<call_progress>> progress_of(const dataflux_client* client, bool wanted,
                                                   std::uint64_t tag, std::string what,
                                                   std::string bucket, std::string object) {
  if (auto good = usable(client, "client"); !good) return std::move(good).error();
  if (!wanted) return std::shared_ptr<call_progress>();
  if (client->state->events == nullptr) {
    return error(errc::failed_precondition,
                 "progress is told by events: set dataflux_client_options.event_capacity");
  }
  return std::make_shared<call_progress>(client->state->events, tag, std::move(what),
                                         std::move(bucket), std::move(object));
}

}  // namespace dataflux_c

struct dataflux_events : dataflux_c::owning_handle<dataflux_c::event_stream> {
  using owning_handle::owning_handle;
};

dataflux_status dataflux_client_events(dataflux_client* client, dataflux_queue* queue, uint64_t tag,
                                       dataflux_events** out, dataflux_error** err) {
  return dataflux_c::guarded(err, [&]() -> dataflux_c::result<void> {
    if (out == nullptr) return dataflux_c::missing("out");
    *out = nullptr;
    if (auto good = dataflux_c::usable(client, "client"); !good) return good;
    if (auto good = dataflux_c::usable(queue, "queue"); !good) return good;
    const auto stream = std::make_shared<dataflux_c::event_stream>(tag);
    auto handle = std::make_unique<dataflux_events>(stream);
    auto opened = stream->open(client->state, queue->state, stream);
    if (!opened) return opened;
    *out = handle.release();
    return {};
  });
}

void dataflux_events_free(dataflux_events* events) { dataflux_c::free_handle(events); }
