#include "get_requests.hpp"
#include "listing.hpp"
#include "stream_member.hpp"

#include <dataflux/download/getter.hpp>

#include <vector>

namespace dataflux_c {

/// A stream, as a source of records.
class getter_state final : public stream_member<dataflux::getter> {
 public:
  getter_state(std::uint64_t tag, std::optional<dataflux::get_feed> feed) noexcept
      : stream_member(tag), feed_(std::move(feed)) {}

  std::optional<dataflux::get_feed>& feed() noexcept { return feed_; }

  left take(std::span<dataflux_record> into, std::size_t& count, queue_state& queue) override {
    std::scoped_lock lock(mutex_);
    if (!stream_) return left::nothing;
    batch_.clear();
    batch_.reserve(into.size());
    const auto what = stream_->try_next_batch(into.size(), batch_);
    std::size_t filled = 0;
    for (dataflux::got_item& item : batch_) into[filled++] = record_of(item, queue);
    batch_.clear();
    count += filled;
    if (what && *what == dataflux::taken::some) return left::more;
    if (what && *what == dataflux::taken::nothing) {
      stream_->notify(queue.events(), number_);
      return left::asleep;
    }
    dataflux_record& last = into[filled] = end_record();
    if (!what) {
      error why = what.error();
      complete_failure(why);
      queue.fail(last, why);
    }
    ++count;
    return left::nothing;
  }

 private:
  dataflux_record record_of(dataflux::got_item& item, queue_state& queue) const {
    dataflux_record r{};
    r.tag = tag_;
    r.index = item.index;
    r.generation = item.generation;
    if (item.failure) {
      complete_failure(*item.failure);
      queue.fail(r, *std::move(item.failure));
      return r;
    }
    r.data = item.bytes.data();
    r.size = item.bytes.size();
    r.crc32c = item.crc32c;
    if (item.verified) r.flags |= DATAFLUX_RECORD_VERIFIED;
    r.slab = std::move(item.memory).lend();
    return r;
  }

  std::optional<dataflux::get_feed> feed_{};
  std::vector<dataflux::got_item> batch_{};
};

}  // namespace dataflux_c

struct dataflux_getter : dataflux_c::owning_handle<dataflux_c::getter_state> {
  using owning_handle::owning_handle;
};

namespace {

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::getter_state;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;
using dataflux_c::usable;

result<getter_state*> fed(dataflux_getter* getter) {
  if (auto good = usable(getter, "getter"); !good) return std::move(good).error();
  if (getter->state->feed()) return getter->state.get();
  return error(errc::failed_precondition,
               "the getter has its requests: set dataflux_get_many_options.feed");
}

}  // namespace

void dataflux_get_many_options_init(dataflux_get_many_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

void dataflux_get_columns_init(dataflux_get_columns* columns, size_t size) {
  dataflux_c::init_options(columns, size);
}

dataflux_status dataflux_get_many(dataflux_client* client, const dataflux_get_many_options* options,
                                  const dataflux_listing* listing, const uint64_t* rows,
                                  size_t row_count, dataflux_queue* queue, uint64_t tag,
                                  dataflux_getter** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (auto good = usable(client, "client"); !good) return good;
    if (auto good = usable(queue, "queue"); !good) return good;
    const auto known = dataflux_c::options_of(options);
    if (!known) return known.error();
    auto request = dataflux_c::get_many_request_of(*known, client->state->events.get());
    if (!request) return std::move(request).error();
    const bool feeds = known->feed != 0;
    if (!feeds && listing == nullptr) return missing("listing");
    if (feeds && rows != nullptr) {
      return error(errc::invalid_argument, "rows of a feed are pushed");
    }
    std::optional<dataflux::get_feed> feed;
    if (feeds) {
      feed.emplace(dataflux_c::columns_of(listing), static_cast<size_t>(known->feed_capacity));
    }
    const auto state = std::make_shared<getter_state>(tag, feed);
    auto handle = std::make_unique<dataflux_getter>(state);
    auto joined = state->join(client->state, queue->state, state);
    if (!joined) return joined;
    const dataflux::transfer_context& context = client->state->context;
    if (feeds) {
      state->begin({context, *std::move(request), *feed});
    } else if (rows == nullptr) {
      state->begin({context, *std::move(request), dataflux_c::columns_of(listing)});
    } else {
      state->begin({context, *std::move(request), dataflux_c::columns_of(listing),
                    std::vector<std::uint64_t>(rows, rows + row_count)});
    }
    *out = handle.release();
    return {};
  });
}

dataflux_status dataflux_getter_push(dataflux_getter* getter, const dataflux_get_columns* requests,
                                     size_t count, size_t* taken, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (taken == nullptr) return missing("taken");
    *taken = 0;
    const auto to = fed(getter);
    if (!to) return to.error();
    const auto c = dataflux_c::options_of(requests);
    if (!c) return c.error();
    auto all = dataflux_c::requests_of(*c, count);
    if (!all) return std::move(all).error();
    *taken = (*to)->feed()->push(*all);
    return {};
  });
}

dataflux_status dataflux_getter_push_rows(dataflux_getter* getter, const uint64_t* rows,
                                          size_t count, size_t* taken, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (taken == nullptr) return missing("taken");
    *taken = 0;
    const auto to = fed(getter);
    if (!to) return to.error();
    if (rows == nullptr && count > 0) return missing("rows");
    *taken = (*to)->feed()->push_rows({rows, count});
    return {};
  });
}

dataflux_status dataflux_getter_push_samples(dataflux_getter* getter,
                                             const dataflux_shard_index* index,
                                             const uint64_t* numbers, size_t count, size_t* taken,
                                             dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (taken == nullptr) return missing("taken");
    *taken = 0;
    const auto to = fed(getter);
    if (!to) return to.error();
    auto all = dataflux_c::requests_of(index, numbers, count, (*to)->client());
    if (!all) return std::move(all).error();
    *taken = (*to)->feed()->push(*all);
    return {};
  });
}

void dataflux_getter_finish(dataflux_getter* getter) {
  dataflux_c::quietly([&] {
    if (const auto to = fed(getter)) (*to)->feed()->finish();
  });
}

void dataflux_getter_cancel(dataflux_getter* getter) {
  dataflux_c::if_own(getter, [getter] { getter->state->cancel(); });
}

void dataflux_getter_free(dataflux_getter* getter) { dataflux_c::free_handle(getter); }
