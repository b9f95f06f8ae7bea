// Our downloads as a training loop has them: get_many pulled by one thread, get_one into memory and
// into a file. Every byte is checksummed and every object compared, as always.

#include <dataflux/download/download_file.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
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

/// Client: of Google's service or of S3.
template <class Client>
class downloads {
 public:
  downloads(const bench::options& given, std::size_t batch)
      : shape_(bench::parse_shape(given.name)),
        batch_(batch),
        client_(make_client<Client>(given)),
        context_(*client_, {.concurrency = {.max = static_cast<int>(given.concurrency)}}) {
    if (shape_ == shape::one1g) whole_ = bench::touched_memory(bench::large_size);
  }

  /// `count`: reads of objects; of the large one, its ranges.
  bench::tally run(std::uint64_t count, bool check) {
    if (shape_ == shape::one1g || shape_ == shape::file1g) {
      const std::uint64_t times =
          std::max<std::uint64_t>(count * bench::block_size / bench::large_size, 1);
      for (std::uint64_t i = 0; i < times; ++i)
        shape_ == shape::one1g ? read_one(check) : read_to_file();
      return {.requests = times, .bytes = times * bench::large_size};
    }
    return read_many(count, check);
  }

  int concurrency() const { return context_.counters().concurrency; }

 private:
  void read_one(bool check) {
    const auto got = dataflux::get_one(context_,
                                       {.bucket = std::string(bench::bucket_of<Client>),
                                        .object = std::string(bench::large_object)},
                                       std::as_writable_bytes(whole_));
    if (!got) fail("get_one", text_of(got.error()));
    if (!got->verified) fail("the object was not verified");
    for (std::uint64_t at = 0; check && at < whole_.size(); at += bench::block_size) {
      bench::check_body({reinterpret_cast<const char*>(whole_.data()) + at, bench::block_size});
    }
  }

  void read_to_file() {
    const auto got =
        dataflux::download_file(context_, {.bucket = std::string(bench::bucket_of<Client>),
                                           .object = std::string(bench::large_object),
                                           .path = "bench-target"});
    if (!got) fail("download_file", text_of(got.error()));
    if (!got->verified) fail("the object was not verified");
  }

  bench::tally read_many(std::uint64_t count, bool check) {
    const bool small = shape_ == shape::get16k;
    dataflux::object_columns listed;
    for (std::uint64_t i = 0; i < count; ++i) {
      listed.append(small ? bench::small_object : bench::medium_object,
                    small ? bench::small_size : bench::medium_size, 0, std::nullopt);
    }
    const std::int64_t before = dataflux::test::allocations();
    dataflux::getter items(context_, {.bucket = std::string(bench::bucket_of<Client>)},
                           std::move(listed));
    bench::tally done{};
    if (batch_ == 1) {
      while (auto item = items.next().value()) take(*item, check, done);
    } else {
      for (bool more = true; more;) {
        const auto some = items.next_batch(batch_).value();
        for (const dataflux::got_item& item : some) take(item, check, done);
        more = !some.empty();
      }
    }
    done.allocations = dataflux::test::allocations() - before;
    return done;
  }

  static void take(const dataflux::got_item& item, bool check, bench::tally& done) {
    if (item.failure) fail("an item", text_of(*item.failure));
    if (!item.verified) fail("an object was not verified");
    if (check) {
      bench::check_body({reinterpret_cast<const char*>(item.bytes.data()), item.bytes.size()});
    }
    ++done.requests;
    done.bytes += item.bytes.size();
  }

  shape shape_;
  std::size_t batch_;
  std::span<unsigned char> whole_;
  std::shared_ptr<Client> client_;
  dataflux::transfer_context context_;
};

template <class Client>
void measure(const bench::options& given, std::size_t batch) {
  downloads<Client> client(given, batch);
  client.run(std::max<std::uint64_t>(given.warmup, given.count / 8), true);
  const bench::stopwatch watch;
  const bench::tally done = client.run(given.count, false);
  watch.print(done, ", \"in_flight\": " + std::to_string(client.concurrency()));
}

}  // namespace

int main(int argc, char** argv) {
  bench::options given = bench::parse_options(argc, argv);
  // "get16k-single": items are pulled one by one.
  std::size_t batch = 64;
  if (const auto dash = given.name.find("-single"); dash != std::string::npos) {
    given.name.resize(dash);
    batch = 1;
  }
  given.service == "gcs" ? measure<dataflux::gcs::client>(given, batch)
                         : measure<dataflux::s3::client>(given, batch);
}
