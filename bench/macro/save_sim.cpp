// A producer of a steady rate and a link that is a little faster, in simulated time: how long after
// the last byte was made is the object committed? No server, no socket.
//
//   bench_save_sim [--producer BYTES/S] [--link BYTES/S] [--rtt MS] [--part BYTES] [--size BYTES]

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "measure.hpp"

namespace {

using bench::fail;

struct rates {
  double producer{300e6};
  double link{400e6};
  double rtt_ms{20};
  std::uint64_t part{0};
  std::uint64_t size{1ULL << 30U};
};

rates parse(int argc, char** argv) {
  rates out;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    const double value = std::strtod(argv[i + 1], nullptr);
    if (key == "--producer")
      out.producer = value;
    else if (key == "--link")
      out.link = value;
    else if (key == "--rtt")
      out.rtt_ms = value;
    else if (key == "--part")
      out.part = static_cast<std::uint64_t>(value);
    else if (key == "--size")
      out.size = static_cast<std::uint64_t>(value);
    else
      fail("unknown argument", key);
  }
  return out;
}

dataflux::duration seconds(double s) {
  return std::chrono::duration_cast<dataflux::duration>(std::chrono::duration<double>(s));
}

/// What a checkpoint_writer does, for a producer that makes a part's bytes in a part's time.
class saving {
 public:
  explicit saving(const rates& r)
      : rates_(r),
        store_(clock_, {.rtt = seconds(r.rtt_ms / 1e3), .bytes_per_second_total = r.link}),
        context_(store_, {}) {
    store_.create_bucket("bench");
  }

  void run() {
    upload_ = std::make_shared<dataflux::detail::object_upload>(
        context_,
        dataflux::upload_request{.bucket = "bench", .object = "o", .part_size = rates_.part});
    upload_->open(dataflux::detail::upload_memory::source::producer,
                  [this](const dataflux::result<void>& opened) {
                    if (!opened) fail("open", opened.error().message());
                    part_ = upload_->plan().first_size();
                    body_.assign(part_, std::byte{7});
                    began_ = clock_.now();
                    next();
                  });
    clock_.run();
    if (!made_) fail("it did not end");
    const auto in_s = [](dataflux::duration d) { return std::chrono::duration<double>(d).count(); };
    std::printf(
        "{\"part\": %llu, \"parts_held\": %.0f, \"seconds\": %.4f, \"after_last_byte_s\": %.4f, "
        "\"waited_s\": %.4f}\n",
        static_cast<unsigned long long>(part_),
        static_cast<double>(context_.state()->uploads.memory.peak()) / static_cast<double>(part_),
        in_s(*made_ - began_), in_s(*made_ - last_byte_), in_s(waited_));
  }

 private:
  void next() {
    const std::uint64_t size = std::min(part_, rates_.size - sent_);
    const auto asked = clock_.now();
    upload_->reserve(part_, [this, size, asked](const dataflux::result<void>& granted) {
      if (!granted) fail("reserve", granted.error().message());
      waited_ += clock_.now() - asked;
      clock_.at(clock_.now() + seconds(static_cast<double>(size) / rates_.producer),
                [this, size] { filled(size); });
    });
  }
  void filled(std::uint64_t size) {
    sent_ += size;
    const auto bytes = dataflux::bytes_view(body_).first(static_cast<std::size_t>(size));
    dataflux::detail::upload_piece piece{bytes, dataflux::crc32c(bytes), part_, [] {}};
    if (sent_ < rates_.size) {
      upload_->send(std::move(piece));
      return next();
    }
    last_byte_ = clock_.now();
    upload_->finish(std::move(piece), [this](const auto& made) {
      if (!made) fail("finish", made.error().message());
      made_ = clock_.now();
    });
  }

  const rates rates_;
  dataflux::virtual_scheduler clock_{};
  dataflux::memory_store store_;
  dataflux::transfer_context context_;
  std::shared_ptr<dataflux::detail::object_upload> upload_{};
  std::uint64_t part_{0};
  std::uint64_t sent_{0};
  std::vector<std::byte> body_{};
  dataflux::time_point began_{};
  dataflux::time_point last_byte_{};
  dataflux::duration waited_{0};
  std::optional<dataflux::time_point> made_{};
};

}  // namespace

int main(int argc, char** argv) { saving(parse(argc, argv)).run(); }
