// The same work by our C++ and by our C ABI, each with requests that are pushed and records or
// items in batches: what a binding pays for the boundary. Cases: many16k-cpp, many16k-c,
// many100k-cpp, many100k-c (get_many), one16k-cpp, one16k-c (single reads that are submitted,
// `concurrency` in flight), list-cpp, list-c (the whole bucket of `count` names as Arrow batches,
// `concurrency` calls in flight).

#include <dataflux.h>

#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/store/arrow_stream.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exchange.hpp"
#include "our_client.hpp"

namespace {

using bench::fail;

constexpr std::size_t batch = 64;
constexpr std::size_t pushed_at_once = 1024;

/// What get_many reads.
bool is_medium(const bench::options& given) { return given.name.starts_with("many100k"); }
std::string_view object_of(const bench::options& given) {
  return is_medium(given) ? bench::medium_object : bench::small_object;
}

/// Goes through all batches as an Arrow library that imports them does. Returns the rows.
std::uint64_t import_all(ArrowArrayStream& stream) {
  ArrowSchema schema{};
  if (stream.get_schema(&stream, &schema) != 0) fail("the stream's schema");
  schema.release(&schema);
  std::uint64_t rows = 0;
  for (;;) {
    ArrowArray some{};
    if (stream.get_next(&stream, &some) != 0) fail("the stream's next batch");
    if (some.release == nullptr) break;
    rows += static_cast<std::uint64_t>(some.length);
    some.release(&some);
  }
  stream.release(&stream);
  return rows;
}

/// By either language: get_many of `count` objects, single reads, and a listing, whose rows are
/// returned.
class worker {
 public:
  worker() = default;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  virtual ~worker() = default;
  virtual void many(std::uint64_t count) = 0;
  virtual void ones(std::uint64_t count, unsigned in_flight) = 0;
  virtual std::uint64_t list(unsigned in_flight) = 0;
};

class by_cpp final : public worker {
 public:
  explicit by_cpp(const bench::options& given)
      : object_(object_of(given)),
        client_(bench::make_client(given)),
        context_(*client_, {.concurrency = {.max = static_cast<int>(given.concurrency)}}) {}

  void many(std::uint64_t count) override {
    dataflux::get_feed feed;
    dataflux::getter items(context_, {.bucket = std::string(bench::bucket)}, feed);
    std::uint64_t pushed = 0;
    std::vector<dataflux::get_request> requests;
    for (std::uint64_t done = 0; done < count;) {
      if (pushed < count && pushed - done < pushed_at_once / 2) {
        requests.assign(std::min<std::uint64_t>(pushed_at_once, count - pushed),
                        {.object = object_});
        pushed += feed.push(requests);
        if (pushed == count) feed.finish();
      }
      for (const dataflux::got_item& item : items.next_batch(batch).value()) {
        if (item.failure || !item.verified) fail("an item");
        ++done;
      }
    }
  }

  void ones(std::uint64_t count, unsigned in_flight) override {
    struct read {
      std::vector<std::byte> memory = std::vector<std::byte>(bench::small_size);
      dataflux::operation<dataflux::ranged_read_summary> op{};
    };
    std::vector<read> reads(in_flight);
    dataflux::completion_queue queue;
    std::uint64_t begun = 0;
    const auto begin = [&](std::uint64_t which) {
      reads[which].op =
          dataflux::submit_get_one(context_,
                                   {.bucket = std::string(bench::bucket),
                                    .object = std::string(bench::small_object),
                                    .range = dataflux::byte_range::span(0, bench::small_size)},
                                   reads[which].memory);
      reads[which].op.notify(queue, which);
      ++begun;
    };
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(in_flight, count); ++i) begin(i);
    std::array<dataflux::completion_event, batch> events;
    for (std::uint64_t done = 0; done < count;) {
      const std::size_t some = queue.next(events, std::chrono::hours(1));
      for (std::size_t i = 0; i < some; ++i) {
        if (!reads[events[i].tag].op.take()) fail("a read");
        ++done;
        if (begun < count) begin(events[i].tag);
      }
    }
  }

  std::uint64_t list(unsigned in_flight) override {
    auto all = dataflux::fast_list(*client_,
                                   {.bucket = std::string(bench::bucket), .parallelism = in_flight})
                   .value();
    ArrowArrayStream stream{};
    dataflux::export_arrow(std::move(all.objects), stream);
    return import_all(stream);
  }

 private:
  const std::string object_;
  std::shared_ptr<dataflux::gcs::client> client_;
  dataflux::transfer_context context_;
};

void check(dataflux_status status, dataflux_error* why) {
  if (status != DATAFLUX_OK) fail("the C ABI", dataflux_error_text(why));
}

class by_c final : public worker {
 public:
  explicit by_c(const bench::options& given) : bucket_(bench::bucket), object_(object_of(given)) {
    dataflux_client_options o;
    dataflux_client_options_init(&o, sizeof o);
    o.endpoint = given.endpoint.c_str();
    o.emulator = 1;
    o.ca_file = given.tls ? given.ca.c_str() : nullptr;
    o.io_threads = given.threads;
    o.max_concurrency = given.concurrency;
    dataflux_error* why = nullptr;
    check(dataflux_client_create(&o, &client_, &why), why);
    check(dataflux_queue_create(&queue_, &why), why);
  }
  ~by_c() override {
    dataflux_queue_free(queue_);
    dataflux_client_free(client_);
  }

  void many(std::uint64_t count) override {
    std::string names;
    std::vector<std::uint64_t> offsets{0};
    for (std::size_t i = 0; i < pushed_at_once; ++i) {
      names += object_;
      offsets.push_back(names.size());
    }
    dataflux_get_many_options o;
    dataflux_get_many_options_init(&o, sizeof o);
    o.bucket = bucket_.c_str();
    o.feed = 1;
    dataflux_get_columns columns;
    dataflux_get_columns_init(&columns, sizeof columns);
    columns.names = names.data();
    columns.name_offsets = offsets.data();
    dataflux_error* why = nullptr;
    dataflux_getter* getter = nullptr;
    check(dataflux_get_many(client_, &o, nullptr, nullptr, 0, queue_, 0, &getter, &why), why);
    std::uint64_t pushed = 0;
    std::array<dataflux_record, batch> records;
    std::array<std::uint64_t, batch> slabs;
    for (std::uint64_t done = 0; done < count;) {
      if (pushed < count && pushed - done < pushed_at_once / 2) {
        std::size_t taken = 0;
        const auto some =
            static_cast<std::size_t>(std::min<std::uint64_t>(pushed_at_once, count - pushed));
        check(dataflux_getter_push(getter, &columns, some, &taken, &why), why);
        pushed += taken;
        if (pushed == count) dataflux_getter_finish(getter);
      }
      done += next(records, slabs, DATAFLUX_RECORD_VERIFIED);
    }
    dataflux_getter_free(getter);
  }

  void ones(std::uint64_t count, unsigned in_flight) override {
    std::vector<std::vector<std::byte>> memory(in_flight,
                                               std::vector<std::byte>(bench::small_size));
    const std::string name(bench::small_object);
    dataflux_object_options o;
    dataflux_object_options_init(&o, sizeof o);
    o.bucket = bucket_.c_str();
    o.object = name.c_str();
    dataflux_error* why = nullptr;
    std::uint64_t begun = 0;
    const auto begin = [&](std::uint64_t which) {
      check(dataflux_get_one(client_, &o, 0, memory[which].data(), bench::small_size, queue_, which,
                             nullptr, &why),
            why);
      ++begun;
    };
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(in_flight, count); ++i) begin(i);
    std::array<dataflux_record, batch> records;
    for (std::uint64_t done = 0; done < count;) {
      std::size_t some = 0;
      check(dataflux_queue_next(queue_, records.data(), sizeof records[0], batch, -1, &some),
            nullptr);
      for (std::size_t i = 0; i < some; ++i) {
        if (records[i].status != DATAFLUX_OK) fail("a read");
        ++done;
        if (begun < count) begin(records[i].tag);
      }
    }
  }

  std::uint64_t list(unsigned in_flight) override {
    dataflux_list_options o;
    dataflux_list_options_init(&o, sizeof o);
    o.bucket = bucket_.c_str();
    o.parallelism = in_flight;
    dataflux_error* why = nullptr;
    dataflux_operation* op = nullptr;
    dataflux_listing* listing = nullptr;
    check(dataflux_list(client_, &o, nullptr, 0, &op, &why), why);
    check(dataflux_operation_wait(op, -1, &why), why);
    check(dataflux_operation_take_listing(op, &listing, &why), why);
    dataflux_operation_free(op);
    ArrowArrayStream stream{};
    check(dataflux_listing_arrow(listing, &stream, &why), why);
    dataflux_listing_free(listing);
    return import_all(stream);
  }

 private:
  std::size_t next(std::array<dataflux_record, batch>& records,
                   std::array<std::uint64_t, batch>& slabs, std::uint32_t flag) {
    std::size_t some = 0;
    check(dataflux_queue_next(queue_, records.data(), sizeof records[0], batch, -1, &some),
          nullptr);
    std::size_t items = 0;
    for (std::size_t i = 0; i < some; ++i) {
      slabs[i] = records[i].slab;
      if ((records[i].flags & DATAFLUX_RECORD_END) != 0) continue;
      if (records[i].status != DATAFLUX_OK || (records[i].flags & flag) == 0) fail("an item");
      ++items;
    }
    dataflux_slabs_release(slabs.data(), some);
    return items;
  }

  const std::string bucket_;
  const std::string object_;
  dataflux_client* client_{nullptr};
  dataflux_queue* queue_{nullptr};
};

}  // namespace

int main(int argc, char** argv) {
  const bench::options given = bench::parse_options(argc, argv);
  const auto dash = given.name.rfind('-');
  const std::string what = given.name.substr(0, dash);
  const std::string language = given.name.substr(dash + 1);
  std::unique_ptr<worker> by;
  if (language == "c") {
    by = std::make_unique<by_c>(given);
  } else {
    by = std::make_unique<by_cpp>(given);
  }
  const auto run = [&](std::uint64_t count) {
    if (what == "list") {
      if (by->list(given.concurrency) != given.count) fail("names are missing");
    } else if (what == "many16k" || what == "many100k") {
      by->many(count);
    } else if (what == "one16k") {
      by->ones(count, given.concurrency);
    } else {
      fail("unknown case", given.name);
    }
  };
  run(std::max<std::uint64_t>(given.warmup, given.count / 8));
  const bench::stopwatch watch;
  run(given.count);
  const std::uint64_t size = is_medium(given) ? bench::medium_size : bench::small_size;
  watch.print({.requests = given.count, .bytes = what == "list" ? 0 : given.count * size});
}
