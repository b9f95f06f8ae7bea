// An index of very large shards in simulated time: how many bytes of them are read where large
// bodies are skipped, and how long it takes by the round trip. No server, no socket.
//
//   bench_index_sim [--shards N] [--members N] [--size BYTES] [--rtt MS] [--rate BYTES/S]
//                   --path FILE

#include <CLI/CLI.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/shard/detail/tar_writer.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "measure.hpp"

namespace {

struct settings {
  std::uint64_t shards{64};
  std::uint64_t members{8192};
  std::uint64_t size{std::uint64_t{1} << 20U};
  double rtt_ms{20};
  double rate{1.25e9};
  std::string path;
};

/// The bytes of an archive of `members` equal members, computed where they are asked for.
class large_tar {
 public:
  static constexpr std::uint64_t block = 512;

  explicit large_tar(const settings& s) : members_(s.members), data_(s.size) {}

  std::uint64_t member() const { return block + (data_ + block - 1) / block * block; }
  std::uint64_t size() const { return members_ * member() + 2 * block; }

  void fill(std::uint64_t offset, dataflux::bytes_span out) const {
    std::memset(out.data(), 0, out.size());
    const std::uint64_t end = std::min(offset + out.size(), members_ * member());
    for (std::uint64_t i = offset / member(); i * member() < end; ++i) {
      const std::uint64_t at = i * member();
      if (at + block <= offset) continue;
      const std::string head = header(i);
      const std::uint64_t from = std::max(at, offset);
      const std::uint64_t to = std::min(at + block, end);
      std::memcpy(out.data() + (from - offset), head.data() + (from - at), to - from);
    }
  }

 private:
  std::string header(std::uint64_t number) const {
    char name[32];
    std::snprintf(name, sizeof name, "%09llu.bin", static_cast<unsigned long long>(number));
    std::string out;
    dataflux::detail::shard::append_tar_header(out, name, data_);
    return out;
  }

  std::uint64_t members_;
  std::uint64_t data_;
};

/// Puts the archive's bytes in the place of those that a memory_store gives.
class tar_sink final : public dataflux::byte_sink {
 public:
  tar_sink(const large_tar& archive, std::uint64_t from, dataflux::byte_sink& to)
      : archive_(archive), from_(from), to_(to) {}

  dataflux::result<void> expect(std::uint64_t length) override { return to_.expect(length); }
  dataflux::bytes_span prepare(std::size_t wanted) override {
    memory_ = to_.prepare(wanted);
    return memory_;
  }
  bool satisfied() const noexcept override { return to_.satisfied(); }
  dataflux::result<void> commit(std::size_t count) override {
    archive_.fill(from_ + done_, memory_.first(count));
    done_ += count;
    return to_.commit(count);
  }
  dataflux::result<void> rewind(std::uint64_t offset) override {
    done_ = offset;
    return to_.rewind(offset);
  }

 private:
  const large_tar& archive_;
  std::uint64_t from_;
  dataflux::byte_sink& to_;
  std::uint64_t done_{0};
  dataflux::bytes_span memory_{};
};

/// A memory_store whose objects are that archive.
class tar_store final : public dataflux::object_store {
 public:
  tar_store(dataflux::object_store& inner, const large_tar& archive)
      : inner_(inner), archive_(archive) {}

  dataflux::store_traits traits() const noexcept override { return inner_.traits(); }
  dataflux::scheduler& executor() noexcept override { return inner_.executor(); }
  void start(const dataflux::read_request& r, dataflux::byte_sink& sink,
             completion<dataflux::read_summary> done) override {
    auto through = std::make_unique<tar_sink>(archive_, r.range.offset(), sink);
    dataflux::byte_sink& into = *through;
    inner_.start(r, into,
                 [kept = std::move(through), done = std::move(done)](auto outcome) mutable {
                   done(std::move(outcome));
                 });
  }
#define FORWARDED(request, value)                                           \
  void start(const dataflux::request& r, completion<value> done) override { \
    inner_.start(r, std::move(done));                                       \
  }
  FORWARDED(list_page_request, dataflux::list_page)
  FORWARDED(stat_request, dataflux::object_metadata)
  FORWARDED(insert_request, dataflux::object_metadata)
  FORWARDED(remove_request, void)
  FORWARDED(compose_request, dataflux::object_metadata)
  FORWARDED(move_request, dataflux::object_metadata)
  FORWARDED(multipart_initiate_request, dataflux::multipart_upload)
  FORWARDED(upload_part_request, dataflux::uploaded_part)
  FORWARDED(multipart_complete_request, dataflux::object_metadata)
  FORWARDED(multipart_abort_request, void)
  FORWARDED(list_parts_request, dataflux::part_page)
  FORWARDED(list_uploads_request, dataflux::upload_page)
#undef FORWARDED
  using dataflux::object_store::start;

 private:
  dataflux::object_store& inner_;
  const large_tar& archive_;
};

dataflux::object_columns rows_of(const settings& s, const large_tar& archive) {
  dataflux::object_columns rows;
  for (std::uint64_t i = 0; i < s.shards; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "%06llu.tar", static_cast<unsigned long long>(i));
    rows.append(name, archive.size(), 1, std::nullopt);
  }
  return rows;
}

class shards_of_rows final : public dataflux::name_source {
 public:
  explicit shards_of_rows(const dataflux::object_columns& rows) : rows_(rows) {}
  void scan(std::string_view from, visitor& visit) const override {
    std::size_t next = rows_.lower_bound(from);
    while (next < rows_.size() && visit(rows_[next])) ++next;
  }

 private:
  const dataflux::object_columns& rows_;
};

void measure(const settings& s) {
  const large_tar archive(s);
  const auto rows = rows_of(s, archive);
  dataflux::virtual_thread clock;  // the file is written on another one
  dataflux::memory_store inner(
      clock, {.rtt = std::chrono::microseconds(static_cast<std::int64_t>(s.rtt_ms * 1e3)),
              .bytes_per_second_total = s.rate});
  inner.create_bucket("bench", std::make_shared<shards_of_rows>(rows));
  tar_store store(inner, archive);
  const dataflux::transfer_context context(store);
  const auto began = clock.now();
  const auto summary =
      dataflux::index_shards(
          context, {.bucket = "bench", .shards = rows.slice(0, rows.size()), .path = s.path})
          .value();
  const std::chrono::duration<double> took = clock.now() - began;
  std::printf(
      "{\"shards\": %llu, \"samples\": %llu, \"bytes\": %llu, \"read\": %llu, "
      "\"requests\": %llu, \"seconds\": %.3f}\n",
      static_cast<unsigned long long>(s.shards), static_cast<unsigned long long>(summary.samples),
      static_cast<unsigned long long>(summary.bytes),
      static_cast<unsigned long long>(summary.bytes_read),
      static_cast<unsigned long long>(inner.counters().of(dataflux::store_verb::read)),
      took.count());
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"An index of large shards in simulated time"};
  app.add_option("--shards", s.shards);
  app.add_option("--members", s.members);
  app.add_option("--size", s.size);
  app.add_option("--rtt", s.rtt_ms, "ms");
  app.add_option("--rate", s.rate, "bytes a second, of all connections");
  app.add_option("--path", s.path)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    measure(s);
  } catch (const std::exception& e) {
    bench::fail("index_sim", e.what());
  }
  return 0;
}
