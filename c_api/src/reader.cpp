#include "reader.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace dataflux_c {

void open_reader::describe(dataflux_record& r) const {
  if (!value_) return;
  r.size = value_->size();
  r.generation = value_->generation();
}

dataflux::checkpoint_read_request reading_of(const dataflux_reader_options& o) {
  dataflux::checkpoint_read_request r;
  r.block = o.block;
  r.cache = o.cache;
  r.limits.timeout = duration_of(o.timeout_ns);
  return r;
}

namespace {

using dataflux::checkpoint_reader;
using reader_ptr = std::shared_ptr<checkpoint_reader>;

/// What a read says at its end.
void describe_read(const checkpoint_reader& reader, std::uint64_t size, dataflux_record& r) {
  r.size = size;
  r.generation = reader.generation();
  if (reader.compared()) r.flags |= DATAFLUX_RECORD_VERIFIED;
}

class reader_read_operation final : public typed_operation<void> {
 public:
  reader_read_operation(std::uint64_t tag, reader_ptr reader, std::uint64_t size) noexcept
      : typed_operation(tag), reader_(std::move(reader)), size_(size) {}

 protected:
  void describe(dataflux_record& r) const override { describe_read(*reader_, size_, r); }

 private:
  const reader_ptr reader_;
  const std::uint64_t size_;
};

/// What has become of ranges, and nobody has heard of yet. It outlives the operation, since reads
/// tell it of their end while that is destroyed: by threads of the library, and so it has memory
/// for all of them.
class range_news {
 public:
  struct item {
    std::size_t index;
    std::optional<error> failure;
  };

  explicit range_news(std::size_t ranges) { items_.reserve(ranges); }

  void listen(std::shared_ptr<queue_state> queue, std::uint64_t number) {
    std::scoped_lock lock(mutex_);
    queue_ = std::move(queue);
    number_ = number;
    if (!items_.empty()) ring();
  }
  void add(std::size_t index, const result<void>& outcome) {
    std::scoped_lock lock(mutex_);
    items_.push_back({index, outcome ? std::nullopt : std::optional(outcome.error())});
    if (queue_ != nullptr && asleep_) ring();
  }
  /// At most `most`, into `out`; with nothing left it rings again.
  void take(std::size_t most, std::vector<item>& out) {
    std::scoped_lock lock(mutex_);
    for (std::size_t n = std::min(most, items_.size() - taken_); n > 0; --n) {
      out.push_back(std::move(items_[taken_++]));
    }
    asleep_ = taken_ == items_.size();
  }

 private:
  /// Where there is no memory for it, the next range rings, or the end of all.
  void ring() noexcept {
    quietly([this] {
      queue_->events().push({number_, errc::ok});
      asleep_ = false;
    });
  }

  std::mutex mutex_{};
  std::shared_ptr<queue_state> queue_{};
  std::uint64_t number_{0};
  bool asleep_{true};
  std::vector<item> items_{};
  std::size_t taken_{0};
};

class ranges_operation final : public typed_operation<void> {
 public:
  ranges_operation(std::uint64_t tag, reader_ptr reader, std::vector<dataflux::range_read> ranges,
                   std::shared_ptr<range_news> news) noexcept
      : typed_operation(tag),
        reader_(std::move(reader)),
        ranges_(std::move(ranges)),
        news_(std::move(news)) {}

  left take(std::span<dataflux_record> into, std::size_t& count, queue_state& queue) override {
    // All ranges are told of before the end: what is seen first is looked at last.
    const bool over = outcome().has_value();
    batch_.clear();
    batch_.reserve(std::min(into.size(), ranges_.size()));
    news_->take(into.size(), batch_);
    std::size_t filled = 0;
    for (range_news::item& each : batch_) into[filled++] = record_of(each, queue);
    count += filled;
    if (filled == into.size()) return left::more;
    return over ? operation_state::take(into.subspan(filled), count, queue) : left::asleep;
  }

 protected:
  void tell(dataflux::completion_queue& queue, std::uint64_t number) override {
    news_->listen(queue_, number);
    typed_operation::tell(queue, number);
  }
  void describe(dataflux_record& r) const override {
    std::uint64_t size = 0;
    for (const auto& each : ranges_) size += each.into.size();
    describe_read(*reader_, size, r);
  }

 private:
  dataflux_record record_of(range_news::item& each, queue_state& queue) const {
    dataflux_record r = end_record();
    r.flags = 0;
    r.index = each.index;
    r.generation = reader_->generation();
    if (each.failure) {
      queue.fail(r, *std::move(each.failure));
      return r;
    }
    const dataflux::bytes_span memory = ranges_[each.index].into;
    r.data = memory.data();
    r.size = memory.size();
    return r;
  }

  const reader_ptr reader_;
  const std::vector<dataflux::range_read> ranges_;
  const std::shared_ptr<range_news> news_;
  std::vector<range_news::item> batch_{};
};

/// What the object has not is refused before anything is read, and needs no memory.
result<std::vector<dataflux::range_read>> ranges_of(const dataflux_range_columns* given,
                                                    std::size_t count, std::uint64_t there) {
  const auto c = options_of(given);
  if (!c) return c.error();
  std::vector<dataflux::range_read> all;
  if (count == 0) return all;
  if (c->offsets == nullptr) return missing("offsets");
  if (c->sizes == nullptr) return missing("sizes");
  if (c->into == nullptr) return missing("into");
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool within = c->offsets[i] <= there && c->sizes[i] <= there - c->offsets[i];
    if (c->into[i] == nullptr && c->sizes[i] > 0 && within) {
      return error(errc::invalid_argument, "`into` is NULL at " + std::to_string(i));
    }
    all.push_back({c->offsets[i],
                   {static_cast<std::byte*>(c->into[i]), static_cast<std::size_t>(c->sizes[i])}});
  }
  return all;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::client_state;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;
using dataflux_c::usable;

void dataflux_reader_options_init(dataflux_reader_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_range_columns_init(dataflux_range_columns* columns, size_t size) {
  dataflux_c::init_options(columns, size);
}

dataflux_status dataflux_reader_open(dataflux_client* client,
                                     const dataflux_reader_options* options, dataflux_queue* queue,
                                     uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(client, "client"); !good) return good;
    const auto known = dataflux_c::options_of(options);
    if (!known) return known.error();
    if (known->bucket == nullptr) return missing("bucket");
    if (known->object == nullptr) return missing("object");
    auto r = dataflux_c::reading_of(*known);
    r.bucket = known->bucket;
    r.object = known->object;
    r.generation = known->generation;
    return dataflux_c::begin_operation<dataflux_c::open_reader>(
        client, queue, tag, out,
        [&](client_state& c) {
          return dataflux::checkpoint_reader::submit_open(c.context, std::move(r));
        },
        client->state);
  });
}

dataflux_status dataflux_operation_take_reader(dataflux_operation* op, dataflux_reader** out,
                                               dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::take_handle<dataflux_c::open_reader>(
        op, "reader", out, [op](dataflux::checkpoint_reader& opened) {
          const auto& client = static_cast<dataflux_c::open_reader&>(*op->state).of;
          return std::make_unique<dataflux_reader>(client, std::move(opened));
        });
  });
}

uint64_t dataflux_reader_size(const dataflux_reader* reader) {
  return reader == nullptr ? 0 : reader->state->size();
}
int64_t dataflux_reader_generation(const dataflux_reader* reader) {
  return reader == nullptr ? 0 : reader->state->generation();
}
int32_t dataflux_reader_verified(const dataflux_reader* reader) {
  return reader != nullptr && reader->state->compared() ? 1 : 0;
}

dataflux_status dataflux_reader_read(dataflux_reader* reader, uint64_t offset, void* memory,
                                     size_t size, dataflux_queue* queue, uint64_t tag,
                                     dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(reader, "reader"); !good) return good;
    if (memory == nullptr && size > 0) return missing("memory");
    const dataflux::bytes_span into(static_cast<std::byte*>(memory), size);
    return dataflux_c::begin_operation<dataflux_c::reader_read_operation>(
        reader->client, queue, tag, out,
        [&](client_state&) { return reader->state->submit_read_at(offset, into); }, reader->state,
        size);
  });
}

dataflux_status dataflux_reader_read_ranges(dataflux_reader* reader,
                                            const dataflux_range_columns* ranges, size_t count,
                                            dataflux_queue* queue, uint64_t tag,
                                            dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(reader, "reader"); !good) return good;
    const auto all = dataflux_c::ranges_of(ranges, count, reader->state->size());
    if (!all) return all.error();
    const auto news = std::make_shared<dataflux_c::range_news>(count);
    return dataflux_c::begin_operation<dataflux_c::ranges_operation>(
        reader->client, queue, tag, out,
        [&](client_state&) {
          dataflux::range_told told;
          if (queue != nullptr) {
            told = [news](std::size_t i, const result<void>& outcome) { news->add(i, outcome); };
          }
          return reader->state->submit_read_ranges(*all, {}, std::move(told));
        },
        reader->state, *all, news);
  });
}

void dataflux_reader_free(dataflux_reader* reader) { dataflux_c::free_handle(reader); }
