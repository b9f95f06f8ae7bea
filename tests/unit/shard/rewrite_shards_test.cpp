#include <dataflux/codec/crc32c.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/rewrite_shards.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>
#include <support/tar_bytes.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rewrite_shards_test {

using namespace dataflux;
using namespace std::chrono_literals;

namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;  // of name and data

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "key.field=data" of every member.
std::vector<std::string> all_of(sample_source& from) {
  std::vector<std::string> all;
  for (;;) {
    const auto sample = from();
    INFO((sample ? "" : sample.error().to_string()));
    REQUIRE(sample);
    if (*sample == nullptr) return all;
    for (const sample_field& field : (*sample)->fields) {
      all.push_back(std::string((*sample)->key) + "." + std::string(field.name) + "=" +
                    std::string(as_text(field.bytes)));
    }
  }
}
std::vector<std::string> all_of(sample_source&& from) { return all_of(from); }

std::string tar_of_pairs(const pairs& members) {
  std::string bytes;
  for (const auto& [name, data] : members) {
    bytes += dataflux::test::tar_members({{.name = name, .data = data}});
  }
  return bytes.append(1024, '\0');
}

unique_function<std::optional<std::uint64_t>()> numbers(std::vector<std::uint64_t> all) {
  return [all = std::move(all), next = std::size_t{0}]() mutable {
    return next == all.size() ? std::nullopt : std::optional(all[next++]);
  };
}

/// A bucket 10 ms away and a folder. What blocks runs on a thread of its own.
struct fixture : folder_fixture {
  fixture() : folder_fixture({.rtt = 10ms}, {.slice = 5'000}) { store.create_bucket("bkt"); }

  std::string file(const std::string& name, const std::string& bytes) {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  byte_place object(const std::string& name, const std::string& bytes) {
    const auto generation = store.put("bkt", name, as_bytes(bytes));
    return {"bkt", name, bytes.size(), generation, crc32c(as_bytes(bytes))};
  }
  template <class Act>
  void run(Act act) {
    std::atomic<bool> over{false};
    std::thread acting([&] {
      act();
      over = true;
      clock.post([] {});
    });
    while (!over) clock.step();
    acting.join();
  }
  sample_source shards(std::vector<byte_place> places, rewrite_rules rules = {}) {
    return read_shards(context, std::move(places), std::move(rules));
  }
};

const pairs first{
    {"a.x", "1"}, {"a.y", "22"}, {"README", "none"}, {"b.x", std::string(20'000, 'b')}};
const pairs second{{"c.x", "3"}};

}  // namespace

TEST_CASE("read_shards: shards here and in a bucket, one behind the other", "[shard]") {
  fixture w;
  left_out_counts left_out;
  const auto here = w.file("1.tar", tar_of_pairs(first));
  const auto there = w.object("2.tar", tar_of_pairs(second));
  w.run([&] {
    const auto got =
        all_of(w.shards({{.name = here}, there, {.name = here}}, {.left_out = &left_out}));
    const std::string b = "b.x=" + std::string(20'000, 'b');
    CHECK(got == std::vector<std::string>{"a.x=1", "a.y=22", b, "c.x=3", "a.x=1", "a.y=22", b});
  });
  CHECK(left_out.members() == 2);
  CHECK(left_out.groups.no_field == 2);
}

TEST_CASE("read_shards: what fails is named", "[shard]") {
  fixture w;
  std::string bad = tar_of_pairs(first);
  bad[1024] = static_cast<char>(bad[1024] ^ 1);
  auto place = w.object("bad.tar", bad);
  auto other = w.object("other.tar", tar_of_pairs(second));
  other.crc32c = *other.crc32c ^ 1U;
  const auto cut = w.file("cut.tar", tar_of_pairs(first).substr(0, 3000));
  w.run([&] {
    const auto failure = [&](sample_source from) {
      for (;;) {
        const auto sample = from();
        if (!sample) return sample.error();
        REQUIRE(*sample != nullptr);
      }
    };
    const error damaged = failure(w.shards({place}));
    CHECK(damaged.code() == errc::data_loss);
    CHECK(damaged.object() == "bad.tar");
    CHECK(failure(w.shards({other})).code() == errc::data_loss);
    const error broken = failure(w.shards({{.name = cut}}));
    CHECK(broken.code() == errc::data_loss);
    CHECK(broken.message().find("cut.tar") != std::string::npos);
    CHECK(failure(w.shards({{.name = "none.tar"}})).code() == errc::not_found);
    place.generation += 7;
    CHECK(failure(w.shards({place})).code() == errc::not_found);
    std::stop_source stop;
    stop.request_stop();
    CHECK(failure(w.shards({{.name = cut}}, {.stop = stop.get_token()})).code() == errc::cancelled);
    auto ended = w.shards({{.name = cut}}, {.reading = {.damaged = damaged_rule::end}});
    CHECK(all_of(ended).size() == 2);
  });
}

TEST_CASE("sample_table: samples by number, of files and of an index", "[shard]") {
  fixture w;
  const auto one = w.file("1.tar", tar_of_pairs(first));
  const auto two = w.file("2.tar", tar_of_pairs(second));
  w.object("s/1.tar", tar_of_pairs(first));
  w.object("s/2.tar", tar_of_pairs(second));
  auto listing = w.store.submit_list_page({.bucket = "bkt", .prefix = "s/"});
  index_shards_request request{.bucket = "bkt",
                               .shards = std::move(w.end(listing).value().objects),
                               .path = (w.folder / "index").string()};
  auto indexing = submit_index_shards(w.context, std::move(request));
  REQUIRE(w.end(indexing));
  left_out_counts left_out;
  const auto files = sample_table::of_files(w.context, {one, two}, {.left_out = &left_out}).value();
  CHECK(left_out.members() == 1);
  const sample_table table(w.context, shard_index::open((w.folder / "index").string()).value());
  REQUIRE(files.samples() == 3);
  REQUIRE(table.samples() == 3);
  const std::string b = "b.x=" + std::string(20'000, 'b');
  const std::vector<std::string> expected{"c.x=3", "a.x=1", "a.y=22", b, "c.x=3"};
  w.run([&] {
    CHECK(all_of(files.read(numbers({2, 0, 1, 2}))) == expected);
    CHECK(all_of(table.read(numbers({2, 0, 1, 2}))) == expected);
    CHECK(files.read(numbers({3}))().error().code() == errc::out_of_range);
    CHECK(table.read(numbers({3}))().error().code() == errc::out_of_range);
  });
  CHECK(sample_table::of_files(w.context, {"none"}, {}).error().code() == errc::not_found);
  const auto bad = w.file("bad.tar", "no archive");
  CHECK(sample_table::of_files(w.context, {one, bad}, {}).error().message().find("bad.tar") !=
        std::string::npos);
}

TEST_CASE("read_members: files and objects become samples", "[shard]") {
  fixture w;
  const auto here = w.file("f", "of f");
  const auto there = w.object("o", "of o");
  const auto made = [](const char* text) {
    return [text]() -> result<std::string> { return std::string(text); };
  };
  const auto members = [&] {
    std::vector<member_place> all;
    all.push_back({.name = "a.z", .from = {.name = here}});
    all.push_back({.name = "a.d/x.q", .make = made("made")});
    all.push_back({.name = "none", .from = there});
    all.push_back({.name = "a.b", .from = there});
    all.push_back({.name = "c.o", .from = {.bucket = "bkt", .name = "o"}});
    return all;
  };
  w.run([&] {
    left_out_counts left_out;
    CHECK(all_of(read_members(w.context, members(), true, {.left_out = &left_out})) ==
          std::vector<std::string>{"a.b=of o", "a.z=of f", "a.d/x.q=made", "c.o=of o"});
    CHECK(left_out.members() == 1);
    CHECK(all_of(read_members(w.context, members(), false, {})) ==
          std::vector<std::string>{"a.z=of f", "a.d/x.q=made", "a.b=of o", "c.o=of o"});
    std::vector<member_place> twice;
    twice.push_back({.name = "a.z", .from = there});
    twice.push_back({.name = "a.Z", .from = there});
    auto source = read_members(w.context, std::move(twice), true, {});
    CHECK(source().error().code() == errc::invalid_argument);
    std::vector<member_place> missing;
    missing.push_back({.name = "a.z", .from = {.bucket = "bkt", .name = "gone"}});
    auto gone = read_members(w.context, std::move(missing), true, {});
    CHECK(gone().error().code() == errc::not_found);
  });
}

TEST_CASE("choose_samples: keys, a slice, fields and new keys", "[shard]") {
  fixture w;
  pairs members;
  for (int i = 0; i < 10; ++i) {
    members.emplace_back("k" + std::to_string(i) + ".a", std::to_string(i));
    members.emplace_back("k" + std::to_string(i) + ".b", "-");
  }
  const auto path = w.file("1.tar", tar_of_pairs(members));
  const auto chosen = [&](sample_choice choice) {
    return choose_samples(w.shards({{.name = path}}), std::move(choice));
  };
  using texts = std::vector<std::string>;
  CHECK(all_of(chosen({.first = 2, .end = 9, .step = 3, .fields = {"a"}}).value()) ==
        texts{"k2.a=2", "k5.a=5", "k8.a=8"});
  CHECK(all_of(chosen({.first = 9, .fields = {"n=none;b;a"}, .rekey = "x/%02d"}).value()) ==
        texts{"x/00.n=-"});
  CHECK(all_of(chosen({.keys = {"k7", "k3"}, .fields = {"a"}}).value()) ==
        texts{"k3.a=3", "k7.a=7"});
  auto missing = chosen({.keys = {"k7", "k77"}}).value();
  REQUIRE(missing());
  CHECK(missing().error().code() == errc::not_found);
  CHECK(chosen({.fields = {"c"}}).value()().error().code() == errc::not_found);
  CHECK(chosen({.step = 0}).error().code() == errc::invalid_argument);
  CHECK(chosen({.first = 5, .end = 4}).error().code() == errc::invalid_argument);
  for (const char* field : {"", "=a", "a=", "a=b;;c"}) {
    CAPTURE(field);
    CHECK(chosen({.fields = {field}}).error().code() == errc::invalid_argument);
  }
  CHECK(chosen({.rekey = "same"}).error().code() == errc::invalid_argument);
}

TEST_CASE("shard_output: files here are whole or not there, and never replaced", "[shard]") {
  fixture w;
  const auto at = [&](const char* name) { return (w.folder / name).string(); };
  const std::vector<sample_field> fields{{"x", as_bytes("1")}};
  {
    auto to = shard_output::open(w.context, {.pattern = at("%02d.tar"), .count = 2}).value();
    for (const char* key : {"a", "b", "c"}) REQUIRE(to.write(key, fields));
    CHECK(to.write("d.e", fields).error().code() == errc::invalid_argument);
    CHECK(w.names_in_folder() == std::set<std::string>{"00.tar"});
    const auto made = to.finish();
    REQUIRE(made);
    CHECK(made->written.size() == 2);
    CHECK(made->samples == 3);
    CHECK(made->written[0].ended == shard_end::count);
    CHECK(made->written[0].bytes == read_file(at("00.tar")).size());
    CHECK(made->written[0].crc32c == crc32c(as_bytes(read_file(at("00.tar")))));
  }
  {
    auto to = shard_output::open(w.context, {.pattern = at("one.tar")}).value();
    REQUIRE(to.write("a", fields));
  }
  CHECK(w.names_in_folder() == std::set<std::string>{"00.tar", "01.tar"});
  auto again = shard_output::open(w.context, {.pattern = at("%02d.tar"), .bytes = 1 << 20}).value();
  CHECK(again.write("a", fields).error().code() == errc::failed_precondition);
  CHECK(again.finish().error().code() == errc::failed_precondition);
  auto late = shard_output::open(w.context, {.pattern = at("late.tar")}).value();
  REQUIRE(late.write("a", fields));
  auto early = shard_output::open(w.context, {.pattern = at("late.tar")}).value();
  REQUIRE(early.write("b", fields));
  REQUIRE(early.finish());
  const std::string there = read_file(at("late.tar"));
  CHECK(late.finish().error().code() == errc::failed_precondition);
  CHECK(late.write("c", fields).error().code() == errc::failed_precondition);
  CHECK(read_file(at("late.tar")) == there);
  for (const shard_writer_request& bad :
       {shard_writer_request{.pattern = at("%02d.tar")},
        shard_writer_request{.pattern = at("x.tar"), .count = 1}, shard_writer_request{},
        shard_writer_request{.pattern = at("x.tar"), .rank = 1, .ranks = 2}}) {
    CHECK(shard_output::open(w.context, bad).error().code() == errc::invalid_argument);
  }
  CHECK(shard_output::open(w.context, {.pattern = at("%02d"), .count = 1, .resume = true})
            .error()
            .code() == errc::unimplemented);
}

TEST_CASE("shard_output: of a bucket", "[shard]") {
  fixture w;
  w.run([&] {
    auto to = shard_output::open(w.context, {.bucket = "bkt", .pattern = "one.tar"}).value();
    const std::vector<sample_field> fields{{"x", as_bytes("1")}};
    REQUIRE(to.write("a", fields));
    const auto made = to.finish();
    REQUIRE(made);
    CHECK(made->written[0].name == "one.tar");
  });
  CHECK(w.end(w.store.submit_stat({.bucket = "bkt", .object = "one.tar"}))->size == 2048);
  CHECK(w.end(w.store.submit_stat({.bucket = "bkt", .object = "one.tar.dfx"})));
}

}  // namespace rewrite_shards_test
