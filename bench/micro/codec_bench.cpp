// CPU of the codecs. `listing_floor` decodes the same four fields from the same pages by simdjson:
// `listing_into_columns` is to cost at most 1.15 of it.

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/object_list.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/store/object_columns.hpp>

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace codec = dataflux::codec;

void crc32c_bytes(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(codec::crc32c(dataflux::as_bytes(bytes)));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(crc32c_bytes)->Arg(16 << 10)->Arg(1 << 20);

void crc32c_combine(benchmark::State& state) {
  const auto length = static_cast<std::uint64_t>(state.range(0));
  std::uint32_t crc = 1;
  for (auto _ : state) crc = codec::crc32c_combine(crc, 7, length);
  benchmark::DoNotOptimize(crc);
}
BENCHMARK(crc32c_combine)->Arg(8 << 20)->Arg((std::int64_t{1} << 40) - 1);

void percent_name(benchmark::State& state) {
  const std::string name{"datasets/imagenet/train/n01440764/shard-00017-of-01024.tar"};
  std::string out;
  for (auto _ : state) {
    out.clear();
    codec::append_percent(out, name);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(name.size()));
}
BENCHMARK(percent_name);

constexpr std::size_t page_objects = 1000;

/// A page as fields=nextPageToken,prefixes,items(name,size,generation,crc32c) gives it, padded.
std::string make_page() {
  std::string page{R"({"kind":"storage#objects","nextPageToken":"CjlkYXRhc2V0cy8=","items":[)"};
  for (std::size_t i = 0; i < page_objects; ++i) {
    if (i != 0) page += ',';
    page.append(R"({"name":"datasets/imagenet/train/n01440764/n01440764_)");
    page.append(std::to_string(10000 + i)).append(R"(.JPEG","size":")");
    page.append(std::to_string(90000 + i * 37)).append(R"(","generation":"17000000)");
    page.append(std::to_string(10000000 + i * 12345)).append(R"(","crc32c":")");
    page.append(codec::encode_crc32c(static_cast<std::uint32_t>(i * 2654435761U)).view());
    page.append(R"("})");
  }
  page.append("]}");
  page.append(dataflux::buffer_slack, '\0');
  return page;
}

struct into_columns : codec::object_list_visitor {
  dataflux::object_columns columns{};
  void on_object(const codec::object_list_item& item) override {
    columns.append(item.name, item.size, item.generation, item.crc32c);
  }
  void on_prefix(std::string_view) override {}
};

void read_page_into(benchmark::State& state, std::size_t objects_kept) {
  const std::string page = make_page();
  const auto bytes = dataflux::as_bytes(page).first(page.size() - dataflux::buffer_slack);
  into_columns into;
  for (auto _ : state) {
    const auto end = codec::parse_object_list(bytes, page.size(), {}, into);
    if (!end || end->objects != page_objects) state.SkipWithError("page not read");
    if (into.columns.size() >= objects_kept) into.columns = {};
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(page_objects));
}
/// To compare with listing_floor: memory is recycled page by page.
void listing_into_columns(benchmark::State& state) { read_page_into(state, 1); }
BENCHMARK(listing_into_columns);
/// A listing that is kept: what it adds is the kernel's work on fresh memory.
void listing_kept(benchmark::State& state) { read_page_into(state, 100 * page_objects); }
BENCHMARK(listing_kept);

struct into_nothing : codec::object_list_visitor {
  std::uint64_t sum{0};
  void on_object(const codec::object_list_item& item) override {
    sum += item.name.size() + item.size + static_cast<std::uint64_t>(item.generation) +
           item.crc32c.value_or(0);
  }
  void on_prefix(std::string_view) override {}
};

void listing_parse_only(benchmark::State& state) {
  const std::string page = make_page();
  const auto bytes = dataflux::as_bytes(page).first(page.size() - dataflux::buffer_slack);
  into_nothing into;
  for (auto _ : state) {
    if (!codec::parse_object_list(bytes, page.size(), {}, into)) state.SkipWithError("not read");
    benchmark::DoNotOptimize(into.sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(page_objects));
}
BENCHMARK(listing_parse_only);

/// The same four fields by simdjson On-Demand as its documentation does it, into plain arrays that
/// are recycled page by page.
class floor_columns {
 public:
  std::size_t read(const std::string& page) {
    names_.clear();
    ends_.clear();
    sizes_.clear();
    generations_.clear();
    crcs_.clear();
    simdjson::ondemand::document document;
    if (parser_.iterate(page.data(), page.size() - dataflux::buffer_slack, page.size())
            .get(document) != simdjson::SUCCESS) {
      return 0;
    }
    for (auto item : document["items"]) {
      for (auto field : item.get_object()) {
        const simdjson::ondemand::raw_json_string key = field.key();
        if (key == "name") {
          names_ += std::string_view{field.value().get_string()};
          ends_.push_back(names_.size());
        } else if (key == "size") {
          sizes_.push_back(field.value().get_uint64_in_string());
        } else if (key == "generation") {
          generations_.push_back(field.value().get_uint64_in_string());
        } else if (key == "crc32c") {
          crcs_.push_back(codec::decode_crc32c(field.value().get_string()).value_or(0));
        }
      }
    }
    return sizes_.size();
  }

 private:
  simdjson::ondemand::parser parser_{};
  std::string names_{};
  std::vector<std::size_t> ends_{};
  std::vector<std::uint64_t> sizes_{}, generations_{};
  std::vector<std::uint32_t> crcs_{};
};

void listing_floor(benchmark::State& state) {
  const std::string page = make_page();
  floor_columns columns;
  for (auto _ : state) {
    if (columns.read(page) != page_objects) state.SkipWithError("page not read");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(page_objects));
}
BENCHMARK(listing_floor);

}  // namespace

BENCHMARK_MAIN();
