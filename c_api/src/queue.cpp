#include "queue.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace dataflux_c {

namespace {

/// Errors that are kept for who asks.
constexpr std::size_t most_errors = 65'536;

}  // namespace

void make_room_for_one(dataflux::completion_queue& queue) {
  queue.push({});
  std::array<dataflux::completion_event, 1> taken;
  queue.next(taken, {});
}

/// With room for one event at least: where another cannot be pushed, that waits.
queue_state::queue_state() { make_room_for_one(events_); }

result<std::uint64_t> queue_state::add(std::shared_ptr<record_source> source) {
  std::scoped_lock lock(mutex_);
  if (closed_) return closed_error("queue");
  sources_.emplace(++last_number_, std::move(source));
  return last_number_;
}

void queue_state::close() {
  decltype(sources_) gone;  // told, and destroyed, without the lock
  {
    std::scoped_lock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    gone.swap(sources_);
    quietly([this] { events_.push({}); });  // nobody takes it, or what is there: it wakes all
  }
  for (const auto& [number, source] : gone) source->dropped();
}

void queue_state::remove(std::uint64_t number) {
  std::shared_ptr<record_source> gone;  // destroyed without the lock
  std::scoped_lock lock(mutex_);
  const auto found = sources_.find(number);
  if (found == sources_.end()) return;
  gone = std::move(found->second);
  sources_.erase(found);
}

std::uint32_t queue_state::keep(error why) noexcept {
  try {
    if (errors_.size() == most_errors) {
      errors_.pop_front();
      ++first_error_;
    }
    // 0 is none. Before the numbers end they begin anew, and older errors are forgotten.
    if (first_error_ > std::numeric_limits<std::uint32_t>::max() - most_errors) {
      first_error_ = 1;
      errors_.clear();
    }
    errors_.push_back(std::move(why));
    return first_error_ + static_cast<std::uint32_t>(errors_.size() - 1);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void queue_state::fail(dataflux_record& r, error why) noexcept {
  r.status = static_cast<std::int32_t>(why.code());
  r.error = keep(std::move(why));
}

std::optional<error> queue_state::find(std::uint32_t number) {
  std::scoped_lock lock(mutex_);
  if (number < first_error_ || number - first_error_ >= errors_.size()) return std::nullopt;
  return errors_[number - first_error_];
}

/// Room for what is over is made before anything is taken.
bool queue_state::fetch(std::size_t most, std::vector<std::shared_ptr<record_source>>& over) {
  most = std::min<std::size_t>(most, 64);
  if (over.size() == over.capacity()) over.reserve(2 * over.size() + most);
  if (seen_to_ < news_.size()) return true;
  seen_to_ = 0;
  news_.clear();
  news_.resize(most);
  news_.resize(events_.next(news_, {}));
  return !news_.empty();
}

/// What was not seen to comes again, behind the others. It stays here where there is no memory for
/// that: then other events wait, and so the descriptor is readable, too.
void queue_state::tell_again() noexcept {
  quietly([this] {
    for (; seen_to_ < news_.size(); ++seen_to_) events_.push(news_[seen_to_]);
  });
}

/// Goes through the news, in order, as far as there is room.
bool queue_state::fill(std::span<dataflux_record> into, std::size_t& filled) {
  std::vector<std::shared_ptr<record_source>> over;  // destroyed without the lock
  std::scoped_lock lock(mutex_);
  if (closed_) return false;
  const at_end rest([this]() noexcept { tell_again(); });
  try {
    while (filled < into.size() && fetch(into.size() - filled, over)) {
      const auto found = sources_.find(news_[seen_to_].tag);
      auto left = found == sources_.end() ? record_source::left::asleep : record_source::left::more;
      while (left == record_source::left::more && filled < into.size()) {
        left = found->second->take(into.subspan(filled), filled, *this);
      }
      if (left == record_source::left::more) break;
      ++seen_to_;
      if (left == record_source::left::asleep) continue;
      over.push_back(std::move(found->second));
      sources_.erase(found);
    }
  } catch (const std::exception&) {
    // What is there is handed out; who asks again is told why there is no more.
    if (filled == 0) throw;
  }
  return true;
}

queue_state::end queue_state::next(std::span<dataflux_record> into, std::size_t& count,
                                   std::int64_t timeout_ns) {
  std::optional<dataflux::time_point> until;
  for (;;) {
    if (!fill(into, count)) return end::closed;
    if (count > 0) return end::some;
    if (timeout_ns == 0) return end::timed_out;
    const auto now = dataflux::clock::now();
    if (!until) until = dataflux::deadline_after(now, wait_of(timeout_ns));
    if (*until <= now) return end::timed_out;
    const auto how = events_.wait(*until - now);
    if (how == dataflux::completion_queue::wait_end::interrupted) return end::interrupted;
  }
}

}  // namespace dataflux_c

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::queue_state;
using dataflux_c::result;

dataflux_status dataflux_queue_create(dataflux_queue** out, dataflux_error** err) {
  return dataflux_c::guarded(err, [&]() -> result<void> {
    if (out == nullptr) return dataflux_c::missing("out");
    *out = nullptr;
    try {
      *out = new dataflux_queue;
    } catch (const std::system_error& e) {
      return error(errc::resource_exhausted, e.what());
    }
    return {};
  });
}

dataflux_status dataflux_queue_next(dataflux_queue* queue, dataflux_record* out, size_t record_size,
                                    size_t capacity, int64_t timeout_ns, size_t* count) {
  auto how = queue_state::end::timed_out;
  const dataflux_status status = dataflux_c::guarded(nullptr, [&]() -> result<void> {
    if (count == nullptr) return dataflux_c::missing("count");
    *count = 0;
    if (auto good = dataflux_c::usable(queue, "queue"); !good) return good;
    if (out == nullptr || capacity == 0) return dataflux_c::missing("out");
    if (record_size == sizeof *out) {
      how = queue->state->next({out, capacity}, *count, timeout_ns);
      return {};
    }
    if (record_size < sizeof *out) return error(errc::invalid_argument, "record_size is too small");
    // A program of a later version: its records are longer, and the rest of each is 0.
    std::vector<dataflux_record> mine(std::min<size_t>(capacity, 1024));
    how = queue->state->next(mine, *count, timeout_ns);
    auto* to = reinterpret_cast<unsigned char*>(out);
    for (size_t i = 0; i < *count; ++i, to += record_size) {
      std::memset(to, 0, record_size);
      std::memcpy(to, &mine[i], sizeof mine[i]);
    }
    return {};
  });
  if (status != DATAFLUX_OK) return status;
  if (how == queue_state::end::closed) return DATAFLUX_FAILED_PRECONDITION;
  return how == queue_state::end::interrupted ? DATAFLUX_INTERRUPTED : DATAFLUX_OK;
}

int dataflux_queue_fd(const dataflux_queue* queue) {
  if (queue == nullptr || queue->born.inherited()) return -1;
  return queue->state->events().descriptor();
}

dataflux_error* dataflux_queue_error(dataflux_queue* queue, uint32_t number) {
  dataflux_error* found = nullptr;
  dataflux_c::quietly([&] {
    if (!dataflux_c::usable(queue, "queue")) return;
    if (auto e = queue->state->find(number)) found = new dataflux_error(*std::move(e));
  });
  return found;
}

void dataflux_queue_close(dataflux_queue* queue) {
  dataflux_c::if_own(queue, [queue] { queue->state->close(); });
}

void dataflux_queue_free(dataflux_queue* queue) { dataflux_c::free_handle(queue); }
