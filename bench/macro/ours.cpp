// Our client, as a feature of the library uses it: verbs in callback form, the next one started by
// the completion of the one before. Checksums, retries, time limits and pacing are on, as always.

#include <dataflux/auth/credentials.hpp>
#include <dataflux/gcs/client.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <semaphore>
#include <utility>
#include <vector>

#include <support/counted_new.hpp>

#include "exchange.hpp"
#include "our_client.hpp"

namespace {

using bench::fail;
using bench::make_client;
using bench::shape;
using bench::text_of;

/// What one of the calls in flight needs between its start and its completion.
struct lane {
  dataflux::read_request read;
  std::span<std::byte> buffer;
  std::optional<dataflux::span_sink> sink;
};

/// Client: of Google's service or of S3.
template <class Client>
class our_client {
 public:
  explicit our_client(const bench::options& given)
      : shape_(bench::parse_shape(given.name)),
        lanes_(given.concurrency),
        client_(make_client<Client>(given)) {
    if (shape_ == shape::put32m) part_ = std::as_bytes(bench::touched_memory(bench::part_size));
    if (shape_ == shape::insert) {
      const auto block = bench::touched_memory(bench::block_size);
      bench::fill_block(block);
      part_ = std::as_bytes(block.first(bench::small_size));
    }
    const bool ranges = shape_ == shape::range8m;
    for (auto& each : lanes_) {
      each.read.bucket = bench::bucket_of<Client>;
      each.read.object = ranges ? bench::large_object : bench::small_object;
      each.buffer = std::as_writable_bytes(
          bench::touched_memory(ranges ? bench::block_size : bench::small_size));
    }
    list_.bucket = bench::bucket_of<Client>;
    upload_.bucket = bench::bucket_of<Client>;
    upload_.object = bench::upload_object;
    upload_.upload_id = bench::upload_id;
    upload_.data = part_;
    stat_.bucket = remove_.bucket = insert_.bucket = bench::bucket_of<Client>;
    stat_.object = remove_.object = insert_.object = bench::small_object;
    insert_.data = part_;
  }

  bench::tally run(std::uint64_t count, bool check) {
    started_ = finished_ = bytes_ = items_ = 0;
    count_ = count;
    check_ = check;
    const std::int64_t before = dataflux::test::allocations();
    for (auto& each : lanes_) begin(each, {});
    all_done_.acquire();
    return {count, bytes_, items_, dataflux::test::allocations() - before};
  }

  /// One whole listing kept in memory: what it costs for each object, and the names' part of that.
  std::string listing_memory() {
    dataflux::object_columns all;
    dataflux::list_page_request request = list_;
    do {
      auto page = client_->list_page(request);
      if (!page) fail("a page", text_of(page.error()));
      all.append(std::move(page->objects));
      request.page_token = page->next_page_token;
    } while (!request.page_token.empty());
    std::size_t names = 0;
    for (const auto row : all) names += row.name.size();
    const auto each = [&](std::size_t bytes) {
      return std::to_string(static_cast<double>(bytes) / static_cast<double>(all.size()));
    };
    return ", \"memory_per_item\": " + each(all.memory_bytes()) +
           ", \"name_bytes_per_item\": " + each(names);
  }

 private:
  void begin(lane& l, std::string_view token) {
    const std::uint64_t index = started_.fetch_add(1);
    if (index >= count_) return;
    if (shape_ == shape::listpage) return begin_page(l, token);
    if (shape_ == shape::put32m) return begin_part(l, index);
    if (shape_ == shape::stat) return begin_call(l, stat_, 0);
    if (shape_ == shape::remove) return begin_call(l, remove_, 0);
    if (shape_ == shape::insert) return begin_call(l, insert_, insert_.data.size());
    if (shape_ == shape::range8m)
      l.read.range = dataflux::byte_range::span(bench::range_start(index), bench::block_size);
    l.sink.emplace(l.buffer);
    client_->start_read(l.read, *l.sink, [this, &l](dataflux::result<dataflux::read_summary> done) {
      if (!done) fail("a read", text_of(done.error()));
      if (done->bytes != l.buffer.size()) fail("a short read");
      if (shape_ == shape::get16k && !done->verified) fail("an object was not verified");
      const auto body = l.sink->filled();
      if (check_) bench::check_body({reinterpret_cast<const char*>(body.data()), body.size()});
      finish(l, done->bytes, {});
    });
  }

  void begin_page(lane& l, std::string_view token) {
    dataflux::list_page_request request = list_;
    request.page_token = token;
    client_->start_list_page(request, [this, &l](dataflux::result<dataflux::list_page> done) {
      if (!done) fail("a page", text_of(done.error()));
      items_ += done->objects.size();
      finish(l, 0, done->next_page_token);
    });
  }

  void begin_part(lane& l, std::uint64_t index) {
    dataflux::upload_part_request request = upload_;
    request.part_number = static_cast<std::uint32_t>(index % 10000 + 1);
    client_->start(request, [this, &l](dataflux::result<dataflux::uploaded_part> done) {
      if (!done) fail("a part", text_of(done.error()));
      finish(l, done->size, {});
    });
  }

  template <class Request>
  void begin_call(lane& l, const Request& request, std::uint64_t bytes) {
    client_->start(request, [this, &l, bytes](const auto& done) {
      if (!done) fail("a call", text_of(done.error()));
      finish(l, bytes, {});
    });
  }

  void finish(lane& l, std::uint64_t bytes, std::string_view token) {
    bytes_ += bytes;
    begin(l, token);
    if (finished_.fetch_add(1) + 1 == count_) all_done_.release();
  }

  shape shape_;
  std::vector<lane> lanes_;
  std::span<const std::byte> part_;
  dataflux::list_page_request list_;
  dataflux::upload_part_request upload_;
  dataflux::stat_request stat_;
  dataflux::remove_request remove_;
  dataflux::insert_request insert_;
  std::atomic<std::uint64_t> started_{0}, finished_{0}, bytes_{0}, items_{0};
  std::uint64_t count_ = 0;
  bool check_ = false;
  std::binary_semaphore all_done_{0};
  std::shared_ptr<Client>
      client_;  // last: its end waits for completions, which use all of the above
};

template <class Client>
void measure(const bench::options& given) {
  our_client<Client> client(given);
  client.run(given.warmup, true);
  const std::string memory = given.name == "listpage" ? client.listing_memory() : std::string();
  const bench::stopwatch watch;
  watch.print(client.run(given.count, false), memory);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::options given = bench::parse_options(argc, argv);
  given.service == "gcs" ? measure<dataflux::gcs::client>(given)
                         : measure<dataflux::s3::client>(given);
}
