#include "get_requests.hpp"
#include "listing.hpp"
#include "stream_member.hpp"

#include <dataflux/download/batch_getter.hpp>

#include <optional>
#include <span>
#include <utility>

namespace dataflux_c {

/// A stream of batches, as a source of records.
class batch_state final : public stream_member<dataflux::batch_getter> {
 public:
  using stream_member::stream_member;

  dataflux::batch_getter& batches() noexcept { return *stream_; }

  left take(std::span<dataflux_record> into, std::size_t& count, queue_state& queue) override {
    std::scoped_lock lock(mutex_);
    if (!stream_) return left::nothing;
    for (dataflux_record& r : into) {
      if (!batch_) {
        const auto what = stream_->try_next(batch_);
        if (what && *what == dataflux::taken::nothing) {
          stream_->notify(queue.events(), number_);
          return left::asleep;
        }
        if (!what || *what == dataflux::taken::ended) {
          r = end_record();
          if (!what) fail(r, what.error(), queue);
          ++count;
          return left::nothing;
        }
        told_ = 0;
      }
      r = next_record(queue);
      ++count;
    }
    return left::more;
  }

 private:
  void fail(dataflux_record& r, error why, queue_state& queue) const {
    complete_failure(why);
    queue.fail(r, std::move(why));
  }
  /// Of the batch: a row that failed, and behind those itself.
  dataflux_record next_record(queue_state& queue) {
    dataflux_record r{};
    r.tag = tag_;
    r.index = batch_->number;
    if (told_ < batch_->failures.size()) {
      dataflux::failed_row& row = batch_->failures[told_++];
      r.size = row.row;
      r.flags = DATAFLUX_RECORD_ROW;
      fail(r, std::move(row.why), queue);
      return r;
    }
    r.data = batch_->memory.data();
    r.size = batch_->bytes;
    if (batch_->verified) r.flags = DATAFLUX_RECORD_VERIFIED;
    batch_.reset();
    return r;
  }

  std::optional<dataflux::got_batch> batch_{};  ///< whose records are being given
  std::size_t told_{0};                         ///< of its failed rows
};

}  // namespace dataflux_c

struct dataflux_batch_getter : dataflux_c::owning_handle<dataflux_c::batch_state> {
  using owning_handle::owning_handle;
};

namespace {

using dataflux_c::batch_state;
using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;
using dataflux_c::usable;

result<dataflux::batch_memory> memory_of(const dataflux_batch& b) {
  if (b.data == nullptr && b.size > 0) return missing("data");
  dataflux::batch_memory where;
  where.memory = {static_cast<std::byte*>(b.data), static_cast<std::size_t>(b.size)};
  if (b.offsets != nullptr) where.offsets = {b.offsets, b.count};
  where.stride = b.stride;
  if (b.sizes != nullptr) where.sizes = {b.sizes, b.count};
  return where;
}

result<std::uint64_t> push(batch_state& to, const dataflux_batch& b) {
  const auto where = memory_of(b);
  if (!where) return where.error();
  if (b.requests != nullptr && (b.numbers != nullptr || b.index != nullptr)) {
    return error(errc::invalid_argument, "a batch is of `requests`, or of `numbers`");
  }
  if (b.requests == nullptr && b.index == nullptr) {
    if (b.numbers == nullptr && b.count > 0) return missing("numbers");
    return to.batches().push_rows({b.numbers, b.count}, *where);
  }
  auto all = result<std::vector<dataflux::get_request>>(missing("requests"));
  if (b.index != nullptr) {
    all = dataflux_c::requests_of(b.index, b.numbers, b.count, to.client());
  } else {
    auto columns = dataflux_c::options_of(b.requests);
    if (!columns) return std::move(columns).error();
    columns->into = nullptr;
    all = dataflux_c::requests_of(*columns, b.count);
  }
  if (!all) return std::move(all).error();
  return to.batches().push(*all, *where);
}

}  // namespace

void dataflux_batch_init(dataflux_batch* batch, size_t size) {
  dataflux_c::init_options(batch, size);
}

dataflux_status dataflux_get_batches(dataflux_client* client,
                                     const dataflux_get_many_options* options,
                                     const dataflux_listing* listing, dataflux_queue* queue,
                                     uint64_t tag, dataflux_batch_getter** out,
                                     dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (auto good = usable(client, "client"); !good) return good;
    if (auto good = usable(queue, "queue"); !good) return good;
    const auto known = dataflux_c::options_of(options);
    if (!known) return known.error();
    auto request = dataflux_c::get_many_request_of(*known, client->state->events.get());
    if (!request) return std::move(request).error();
    const auto state = std::make_shared<batch_state>(tag);
    auto handle = std::make_unique<dataflux_batch_getter>(state);
    auto joined = state->join(client->state, queue->state, state);
    if (!joined) return joined;
    state->begin({client->state->context, *std::move(request), dataflux_c::columns_of(listing)});
    *out = handle.release();
    return {};
  });
}

dataflux_status dataflux_batch_getter_push(dataflux_batch_getter* batches,
                                           const dataflux_batch* batch, uint64_t* number,
                                           dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (auto good = usable(batches, "batches"); !good) return good;
    if (batch == nullptr) return missing("batch");
    const auto known = dataflux_c::options_of(batch);
    if (!known) return known.error();
    const auto pushed = push(*batches->state, *known);
    if (!pushed) return pushed.error();
    if (number != nullptr) *number = *pushed;
    return {};
  });
}

void dataflux_batch_getter_finish(dataflux_batch_getter* batches) {
  dataflux_c::if_own(batches, [batches] { batches->state->batches().finish(); });
}

void dataflux_batch_getter_cancel(dataflux_batch_getter* batches) {
  dataflux_c::if_own(batches, [batches] { batches->state->cancel(); });
}

void dataflux_batch_getter_free(dataflux_batch_getter* batches) {
  dataflux_c::free_handle(batches);
}
