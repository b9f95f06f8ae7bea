#include <c_api/harness.hpp>

#include <support/run_child.hpp>
#include <support/tar_bytes.hpp>

#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace c_api_shard_index_test {

using namespace c_api_test;

namespace {

constexpr std::uint64_t samples_a_shard = 10;

/// A bucket of shards, and a folder for their index.
struct shards_world : world {
  shards_world()
      : folder(std::filesystem::temp_directory_path() /
               ("dataflux-c-shards-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
  }
  ~shards_world() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  shards_world(const shards_world&) = delete;
  shards_world& operator=(const shards_world&) = delete;

  static std::string key_of(std::uint64_t sample) { return "d/" + std::to_string(sample); }
  static std::string text_of(std::uint64_t sample) {
    return "text of " + std::to_string(sample % samples_a_shard);
  }
  static std::string picture_of(std::uint64_t sample) {
    return std::string(900 + sample, static_cast<char>('a' + sample % 26));
  }
  /// Its samples have numbers from `first` on. Keys come again in each shard but for the first.
  static std::string shard_of(std::uint64_t first) {
    std::string all = dataflux::test::tar_members({{.name = "d/", .type = '5'}});
    for (std::uint64_t i = first; i < first + samples_a_shard; ++i) {
      all += dataflux::test::tar_members({{.name = key_of(i) + ".TXT", .data = text_of(i)},
                                          {.name = key_of(i) + ".link", .type = '2'},
                                          {.name = key_of(i) + ".seg.png", .data = picture_of(i)}});
    }
    return all.append(1024, '\0');
  }
  void fill_shards(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) put(i, shard_of(i * samples_a_shard));
  }
  void put(std::uint64_t shard, const std::string& bytes) {
    server.put("bkt", name_of_shard(shard), bytes);
    shards[shard] = bytes;
  }
  static std::string name_of_shard(std::uint64_t i) { return "s/" + std::to_string(i) + ".tar"; }
  std::string path() const { return (folder / "index").string(); }

  dataflux_index_shards_options options() const {
    dataflux_index_shards_options o;
    dataflux_index_shards_options_init(&o, sizeof o);
    o.bucket = "bkt";
    o.path = path_.c_str();
    return o;
  }
  dataflux_status make(const dataflux_index_shards_options& o, told& why,
                       operation_ptr* kept = nullptr) const {
    const listing_ptr listing = list("s/");
    return outcome(
        [&](dataflux_operation** op, dataflux_error** err) {
          return dataflux_index_shards(client.get(), &o, listing.get(), nullptr, 0, op, err);
        },
        why, kept);
  }
  shard_index_ptr open() const {
    told why;
    dataflux_shard_index* made = nullptr;
    const dataflux_status status = dataflux_shard_index_open(path_.c_str(), &made, why);
    INFO((why.any() ? why.text() : std::string()));
    REQUIRE(status == DATAFLUX_OK);
    return shard_index_ptr(made);
  }
  shard_index_ptr indexed() const {
    told why;
    const dataflux_status status = make(options(), why);
    INFO((why.any() ? why.text() : std::string()));
    REQUIRE(status == DATAFLUX_OK);
    return open();
  }
  getter_ptr feed(const queue_ptr& queue) const {
    dataflux_get_many_options many;
    dataflux_get_many_options_init(&many, sizeof many);
    many.bucket = "bkt";
    many.feed = 1;
    told why;
    dataflux_getter* made = nullptr;
    REQUIRE(dataflux_get_many(client.get(), &many, nullptr, nullptr, 0, queue.get(), 1, &made,
                              why) == DATAFLUX_OK);
    return getter_ptr(made);
  }

  std::filesystem::path folder;
  std::string path_{path()};
  std::map<std::uint64_t, std::string> shards{};
};

/// What a sample is, by its bytes.
struct parts {
  std::string key{};
  std::vector<dataflux_sample_field> fields{};
};
dataflux_status split(const shard_index_ptr& index, std::uint64_t number, std::string_view bytes,
                      parts& into, told& why) {
  into.fields.resize(8);
  into.key.resize(64);
  std::size_t fields = 0;
  std::size_t key = 0;
  const dataflux_status status = dataflux_shard_index_split(
      index.get(), number, bytes.data(), bytes.size(), into.fields.data(), into.fields.size(),
      &fields, into.key.data(), into.key.size(), &key, why);
  into.fields.resize(fields);
  into.key.resize(key);
  return status;
}
std::string_view name_of(const dataflux_sample_field& field) {
  return {field.name, static_cast<std::size_t>(field.name_size)};
}
void check_sample(const shard_index_ptr& index, std::uint64_t number, std::string_view bytes) {
  parts sample;
  told why;
  REQUIRE(split(index, number, bytes, sample, why) == DATAFLUX_OK);
  CHECK(sample.key == shards_world::key_of(number));
  REQUIRE(sample.fields.size() == 2);
  CHECK(name_of(sample.fields[0]) == "txt");
  CHECK(bytes.substr(sample.fields[0].offset, sample.fields[0].size) ==
        shards_world::text_of(number));
  CHECK(name_of(sample.fields[1]) == "seg.png");
  CHECK(bytes.substr(sample.fields[1].offset, sample.fields[1].size) ==
        shards_world::picture_of(number));
}
std::vector<std::uint64_t> find(const shard_index_ptr& index, std::string_view key) {
  std::vector<std::uint64_t> numbers(4);
  std::size_t count = 0;
  told why;
  REQUIRE(dataflux_shard_index_find(index.get(), key.data(), key.size(), numbers.data(),
                                    numbers.size(), &count, why) == DATAFLUX_OK);
  numbers.resize(count);
  return numbers;
}

}  // namespace

TEST_CASE("dataflux_index_shards: chosen rows, in their order", "[c_api]") {
  shards_world w;
  w.fill_shards(4);
  told why;
  dataflux_index_shards_options options = w.options();
  const std::vector<std::uint64_t> rows{3, 1};
  options.rows = rows.data();
  options.row_count = rows.size();
  operation_ptr done;
  REQUIRE(w.make(options, why, &done) == DATAFLUX_OK);
  const shard_index_ptr index = w.open();
  CHECK(find(index, "d/30") == std::vector<std::uint64_t>{0});
  CHECK(find(index, "d/19") == std::vector<std::uint64_t>{19});
  CHECK(find(index, "d/0").empty());
  const std::uint64_t beyond = 4;
  options.rows = &beyond;
  options.row_count = 1;
  CHECK(w.make(options, why, &done) == DATAFLUX_OUT_OF_RANGE);
  CHECK(why.message().find("row 4 of a listing of 4") != std::string::npos);
}

TEST_CASE("dataflux_index_shards: what it has met, and what the index then tells", "[c_api]") {
  shards_world w;
  w.fill_shards(3);
  told why;
  operation_ptr done;
  REQUIRE(w.make(w.options(), why, &done) == DATAFLUX_OK);
  const std::string json = json_of(done);
  INFO(json);
  CHECK(has(json, R"({"shards":3,"samples":30,"members":60,"checksummed":3,"taken_over":0,)"
                  R"("orphans":0,"bytes":)"));
  CHECK(has(json, R"("counts":{"concatenated":0,"trailing":0)"));
  CHECK(has(json, R"("symlinks":30,"directories":3,)"));
  const shard_index_ptr index = w.open();
  dataflux_shard_index_info info;
  REQUIRE(dataflux_shard_index_describe(index.get(), &info, sizeof info, why) == DATAFLUX_OK);
  CHECK(info.shards == 3);
  CHECK(info.samples == 30);
  CHECK(info.bytes == std::filesystem::file_size(w.path()));
  CHECK(info.digest != 0);
  CHECK(info.bucket == std::string("bkt"));
  CHECK(has(info.json, R"({"scheme":"gs","taken":"20)"));
  dataflux_indexed_shard shard;
  REQUIRE(dataflux_shard_index_shard(index.get(), 2, &shard, sizeof shard, why) == DATAFLUX_OK);
  CHECK(std::string_view(shard.name, shard.name_size) == "s/2.tar");
  CHECK(shard.size == w.shards[2].size());
  CHECK(shard.generation > 0);
  CHECK(shard.has_crc32c == 1);
  CHECK(shard.first_sample == 20);
  CHECK(shard.samples == 10);
  CHECK(shard.checksummed == 1);
  CHECK(shard.symlinks == 10);
  CHECK(shard.directories == 1);
  CHECK(shard.hard_links + shard.hidden + shard.no_field + shard.repeated == 0);
  CHECK(dataflux_shard_index_shard(index.get(), 3, &shard, sizeof shard, why) ==
        DATAFLUX_OUT_OF_RANGE);
  CHECK(shard.name == nullptr);
  CHECK(find(index, "d/23") == std::vector<std::uint64_t>{23});
  CHECK(find(index, "none").empty());
}

TEST_CASE("dataflux_index_shards: what parts know is not read", "[c_api]") {
  shards_world w;
  w.fill_shards(3);
  const shard_index_ptr index = w.indexed();
  const dataflux_shard_index* const parts[] = {index.get()};
  auto o = w.options();
  o.parts = parts;
  o.part_count = 1;
  told why;
  operation_ptr done;
  REQUIRE(w.make(o, why, &done) == DATAFLUX_OK);
  CHECK(has(json_of(done), R"("taken_over":3,)"));
  o.parts = nullptr;
  CHECK(w.make(o, why) == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_index_shards: processes make one index together", "[c_api]") {
  shards_world w;
  w.fill_shards(3);
  auto o = w.options();
  o.board_bucket = "bkt";
  told why;
  CHECK(w.make(o, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.message(), "board_prefix"));
  o.board_prefix = "board/";
  o.path = nullptr;
  operation_ptr helped;
  REQUIRE(w.make(o, why, &helped) == DATAFLUX_OK);
  CHECK(has(json_of(helped), R"("shards":3,"samples":30,)"));
  o.path = w.path_.c_str();
  operation_ptr joined;
  REQUIRE(w.make(o, why, &joined) == DATAFLUX_OK);
  CHECK(has(json_of(joined), R"("shards":3,"samples":30,"members":60,)"));
  CHECK(find(w.open(), "d/23") == std::vector<std::uint64_t>{23});
  o.keep_case = 1;
  CHECK(w.make(o, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(has(why.message(), "keep_case"));
}

TEST_CASE("dataflux_shard_index_import: what others' indexes know is not read", "[c_api]") {
  shards_world w;
  w.server.put("bkt", "s/0.tar",
               dataflux::test::tar_members(
                   {{.name = "a.txt", .data = "one"}, {.name = "a.cls", .data = "7"}})
                   .append(1024, '\0'));
  const auto said = [&](const char* name, const std::string& text) {
    const std::string file = (w.folder / name).string();
    std::ofstream(file, std::ios::binary) << text;
    return file;
  };
  const auto import = [&](const std::string& file, told& why) {
    const listing_ptr listing = w.list("s/");
    const auto o = w.options();
    const char* const path = file.c_str();
    dataflux_shard_index* made = nullptr;
    const auto status = dataflux_shard_index_import(&o, listing.get(), &path, 1, &made, why);
    CHECK((made != nullptr) == (status == DATAFLUX_OK));
    return shard_index_ptr(made);
  };
  told why;
  const std::string dali = "v1.2 1\ntxt 512 3 a.txt cls 1536 1 a.cls\n";
  CHECK(import(said("0.idx", dali), why));  // as wds2idx calls that of 0.tar
  CHECK_FALSE(import(said("1.idx", dali), why));
  CHECK(has(why.message(), "1.idx': '1': no shard of the listing has that name"));
  const auto named = import(said("0.tar.json", R"({"files":{"a.txt":{"offset":512,"length":3},)"
                                               R"("a.cls":{"offset":1536,"length":1}}})"),
                            why);
  REQUIRE(named);
  const dataflux_shard_index* const parts[] = {named.get()};
  auto o = w.options();
  o.parts = parts;
  o.part_count = 1;
  operation_ptr done;
  REQUIRE(w.make(o, why, &done) == DATAFLUX_OK);
  CHECK(has(json_of(done), R"("checksummed":0,"taken_over":1,"orphans":0,)"));
  CHECK(find(w.open(), "a") == std::vector<std::uint64_t>{0});
  CHECK_FALSE(import(said("0.tar.x", "nothing"), why));
  CHECK(has(why.message(), "no index of"));
  CHECK_FALSE(import((w.folder / "none").string(), why));
}

TEST_CASE("dataflux_verify_shards: what is as it was, and what is not", "[c_api]") {
  shards_world w;
  w.fill_shards(3);
  const shard_index_ptr index = w.indexed();
  dataflux_verify_shards_options o;
  dataflux_verify_shards_options_init(&o, sizeof o);
  const auto verify = [&](told& why, operation_ptr* kept) {
    return outcome(
        [&](dataflux_operation** op, dataflux_error** err) {
          return dataflux_verify_shards(w.client.get(), index.get(), &o, nullptr, 0, op, err);
        },
        why, kept);
  };
  told why;
  operation_ptr done;
  REQUIRE(verify(why, &done) == DATAFLUX_OK);
  CHECK(has(json_of(done), R"({"shards":3,"samples":30,"bytes_read":)"));
  CHECK(has(json_of(done), R"("filled":0,"wrong_count":0,"wrong":[]})"));
  w.put(1, shards_world::shard_of(50));
  CHECK(verify(why, nullptr) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(has(why.message(), "1 of 3 shards"));
  o.return_wrong = 1;
  REQUIRE(verify(why, &done) == DATAFLUX_OK);
  CHECK(has(json_of(done), R"("wrong_count":1,"wrong":[{"shard":1,"name":"s/1.tar",)"));
  CHECK(has(json_of(done), R"("fault":"changed","status":9,)"));
  o.path = "";
  CHECK(verify(why, nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(outcome(
            [&](dataflux_operation** op, dataflux_error** err) {
              return dataflux_verify_shards(w.client.get(), nullptr, &o, nullptr, 0, op, err);
            },
            why) == DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_shard_index: where samples and their members lie", "[c_api]") {
  shards_world w;
  w.fill_shards(2);
  const shard_index_ptr index = w.indexed();
  told why;
  const std::array<std::uint64_t, 3> numbers{13, 0, 19};
  std::array<std::uint64_t, 3> shards{};
  std::array<std::uint64_t, 3> offsets{};
  std::array<std::uint64_t, 3> sizes{};
  std::array<std::uint8_t, 3> known{};
  dataflux_sample_columns columns;
  dataflux_sample_columns_init(&columns, sizeof columns);
  columns.shards = shards.data();
  columns.offsets = offsets.data();
  columns.sizes = sizes.data();
  columns.has_crc32c = known.data();
  REQUIRE(dataflux_shard_index_samples(index.get(), numbers.data(), 3, &columns, why) ==
          DATAFLUX_OK);
  CHECK(shards == std::array<std::uint64_t, 3>{1, 0, 1});
  CHECK(known == std::array<std::uint8_t, 3>{1, 1, 1});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    check_sample(index, numbers[i],
                 std::string_view(w.shards[shards[i]]).substr(offsets[i], sizes[i]));
  }
  std::array<dataflux_sample_field, 2> fields{};
  std::size_t count = 0;
  REQUIRE(dataflux_shard_index_fields(index.get(), 13, fields.data(), 2, &count, why) ==
          DATAFLUX_OK);
  REQUIRE(count == 2);
  CHECK(name_of(fields[0]) == "txt");
  CHECK(w.shards[1].substr(fields[0].offset, fields[0].size) == shards_world::text_of(13));
  // What has no room is counted.
  fields[1].size = 7;
  REQUIRE(dataflux_shard_index_fields(index.get(), 13, fields.data(), 1, &count, why) ==
          DATAFLUX_OK);
  CHECK(count == 2);
  CHECK(fields[1].size == 7);
  const std::uint64_t beyond = 20;
  CHECK(dataflux_shard_index_samples(index.get(), &beyond, 1, nullptr, why) ==
        DATAFLUX_OUT_OF_RANGE);
  CHECK(dataflux_shard_index_fields(index.get(), 20, nullptr, 0, &count, why) ==
        DATAFLUX_OUT_OF_RANGE);
  CHECK(count == 0);
}

TEST_CASE("dataflux_getter_push_samples: samples by number, compared and taken apart", "[c_api]") {
  shards_world w;
  w.fill_shards(3);
  const shard_index_ptr index = w.indexed();
  const queue_ptr queue = make_queue();
  const getter_ptr getter = w.feed(queue);
  const std::vector<std::uint64_t> numbers{29, 3, 4, 5, 3, 12};
  told why;
  std::size_t taken = 0;
  const std::array<std::uint64_t, 2> beyond{1, 30};
  CHECK(dataflux_getter_push_samples(getter.get(), index.get(), beyond.data(), 2, &taken, why) ==
        DATAFLUX_OUT_OF_RANGE);
  CHECK(taken == 0);
  REQUIRE(dataflux_getter_push_samples(getter.get(), index.get(), numbers.data(), numbers.size(),
                                       &taken, why) == DATAFLUX_OK);
  CHECK(taken == numbers.size());
  dataflux_getter_finish(getter.get());
  std::size_t n = 0;
  for (bool ended = false; !ended;) {
    const auto records = next(queue);
    for (const dataflux_record& r : records) {
      REQUIRE(r.status == DATAFLUX_OK);
      if ((r.flags & DATAFLUX_RECORD_END) != 0) {
        ended = true;
        continue;
      }
      CHECK((r.flags & DATAFLUX_RECORD_VERIFIED) != 0);
      REQUIRE(r.index == n);
      check_sample(index, numbers.at(n++), bytes_of(r));
    }
    release(records);
  }
  CHECK(n == numbers.size());
}

TEST_CASE("dataflux_getter_push_samples: shards that were written anew or are gone", "[c_api]") {
  shards_world w;
  w.fill_shards(2);
  const shard_index_ptr index = w.indexed();
  w.put(1, shards_world::shard_of(50));
  const queue_ptr queue = make_queue();
  const getter_ptr getter = w.feed(queue);
  const std::array<std::uint64_t, 2> numbers{0, 10};
  told why;
  std::size_t taken = 0;
  REQUIRE(dataflux_getter_push_samples(getter.get(), index.get(), numbers.data(), 2, &taken, why) ==
          DATAFLUX_OK);
  dataflux_getter_finish(getter.get());
  std::size_t n = 0;
  for (bool ended = false; !ended;) {
    const auto records = next(queue);
    for (const dataflux_record& r : records) {
      if ((r.flags & DATAFLUX_RECORD_END) != 0) {
        ended = true;
        continue;
      }
      CHECK(r.status == (r.index == 0 ? DATAFLUX_OK : DATAFLUX_NOT_FOUND));
      if (r.index == 1) {
        const error_ptr gone(dataflux_queue_error(queue.get(), r.error));
        CHECK(dataflux_error_object(gone.get()) == std::string("s/1.tar"));
      }
      ++n;
    }
    release(records);
  }
  CHECK(n == 2);
}

TEST_CASE("dataflux_shard_index_split: bytes of another sample, and what has no room", "[c_api]") {
  shards_world w;
  w.fill_shards(1);
  const shard_index_ptr index = w.indexed();
  told why;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  dataflux_sample_columns columns;
  dataflux_sample_columns_init(&columns, sizeof columns);
  columns.offsets = &offset;
  columns.sizes = &size;
  const std::uint64_t number = 3;
  REQUIRE(dataflux_shard_index_samples(index.get(), &number, 1, &columns, why) == DATAFLUX_OK);
  const std::string bytes = w.shards[0].substr(offset, size);
  parts sample;
  CHECK(split(index, 4, bytes, sample, why) == DATAFLUX_DATA_LOSS);
  CHECK(why.message().find("sample 4: ") != std::string::npos);
  CHECK(sample.fields.empty());
  CHECK(sample.key.empty());
  CHECK(split(index, 3, std::string_view(bytes).substr(1), sample, why) == DATAFLUX_DATA_LOSS);
  CHECK(split(index, 3, {}, sample, why) == DATAFLUX_DATA_LOSS);
  CHECK(split(index, 10, bytes, sample, why) == DATAFLUX_OUT_OF_RANGE);
  std::size_t fields = 0;
  std::size_t key_size = 0;
  std::array<char, 2> key{'?', '?'};
  REQUIRE(dataflux_shard_index_split(index.get(), 3, bytes.data(), bytes.size(), nullptr, 0,
                                     &fields, key.data(), 1, &key_size, why) == DATAFLUX_OK);
  CHECK(fields == 2);
  CHECK(key_size == 3);
  CHECK(std::string_view(key.data(), 2) == "d?");
}

TEST_CASE("dataflux_shard_index_join: an index with itself, and bad input", "[c_api]") {
  shards_world w;
  w.fill_shards(1);
  const shard_index_ptr index = w.indexed();
  told why;
  dataflux_shard_join* join = nullptr;
  REQUIRE(dataflux_shard_index_join(index.get(), index.get(), nullptr, &join, why) == DATAFLUX_OK);
  dataflux_join_rows rows;
  REQUIRE(dataflux_shard_join_rows(join, &rows, sizeof rows, why) == DATAFLUX_OK);
  REQUIRE(rows.rows == samples_a_shard);
  for (std::uint64_t i = 0; i < rows.rows; ++i) {
    CHECK(rows.left[i] == i);
    CHECK(rows.right[i] == i);
  }
  CHECK(rows.left_alone + rows.right_alone == 0);
  CHECK(dataflux_shard_join_rows(join, &rows, 8, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_join_rows(join, nullptr, 8, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_join_rows(nullptr, &rows, sizeof rows, why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_shard_join_free(join);
  CHECK(dataflux_shard_index_join(nullptr, index.get(), nullptr, &join, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(join == nullptr);
  CHECK(dataflux_shard_index_join(index.get(), nullptr, nullptr, &join, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_index_join(index.get(), index.get(), nullptr, nullptr, why) ==
        DATAFLUX_INVALID_ARGUMENT);
}

TEST_CASE("dataflux_index_shards: what the options allow", "[c_api]") {
  shards_world w;
  const std::string shard = shards_world::shard_of(0);
  told why;
  auto o = w.options();
  w.put(0, shard + shards_world::shard_of(10));
  CHECK(w.make(o, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(dataflux_error_object(why.get()) == std::string("s/0.tar"));
  CHECK_FALSE(std::filesystem::exists(w.path()));
  o.read_concatenated = 1;
  operation_ptr done;
  REQUIRE(w.make(o, why, &done) == DATAFLUX_OK);
  CHECK(has(json_of(done), R"("samples":20,)"));
  CHECK(has(json_of(done), R"("counts":{"concatenated":1,)"));
  w.put(0, shard + "no header");
  CHECK(w.make(o, why) == DATAFLUX_FAILED_PRECONDITION);
  o.ignore_trailing = 1;
  CHECK(w.make(o, why) == DATAFLUX_OK);
  w.put(0, dataflux::test::tar_of({{.name = "./a.JPG", .data = "1"}, {.name = "./a.jpg"}}));
  CHECK(w.make(o, why) == DATAFLUX_INVALID_ARGUMENT);
  o.keep_first = 1;
  CHECK(w.make(o, why) == DATAFLUX_OK);
  CHECK(find(w.open(), "./a").size() == 1);
  o.keep_first = 0;
  o.keep_case = 1;
  o.strip_dot_slash = 1;
  REQUIRE(w.make(o, why) == DATAFLUX_OK);
  const shard_index_ptr index = w.open();
  CHECK(find(index, "a").size() == 1);
  std::array<dataflux_sample_field, 2> fields{};
  std::size_t count = 0;
  REQUIRE(dataflux_shard_index_fields(index.get(), 0, fields.data(), 2, &count, why) ==
          DATAFLUX_OK);
  REQUIRE(count == 2);
  CHECK(name_of(fields[0]) == "JPG");
}

TEST_CASE("dataflux_index_shards: damage, and an end at it", "[c_api]") {
  shards_world w;
  std::string bad = shards_world::shard_of(0);
  const std::size_t third = bad.find("d/3.TXT");
  REQUIRE(third % 512 == 0);
  bad[third] = 'X';
  w.put(0, bad);
  told why;
  auto o = w.options();
  CHECK(w.make(o, why) == DATAFLUX_DATA_LOSS);
  CHECK_FALSE(std::filesystem::exists(w.path()));
  o.end_at_damage = 1;
  operation_ptr done;
  REQUIRE(w.make(o, why, &done) == DATAFLUX_OK);
  CHECK(has(json_of(done), R"("samples":3,)"));
  CHECK(has(json_of(done), R"("damaged":1,)"));
  dataflux_indexed_shard shard;
  REQUIRE(dataflux_shard_index_shard(w.open().get(), 0, &shard, sizeof shard, why) == DATAFLUX_OK);
  CHECK(shard.damaged == 1);
  CHECK(shard.bytes_behind > 0);
}

TEST_CASE("dataflux_index_shards: large data are not read, and have no checksums", "[c_api]") {
  shards_world w;
  w.put(0, dataflux::test::tar_of({{.name = "a.bin", .data = std::string(3'000'000, 'a')},
                                   {.name = "b.bin", .data = "b"}}));
  told why;
  operation_ptr done;
  REQUIRE(w.make(w.options(), why, &done) == DATAFLUX_OK);
  CHECK(has(json_of(done), R"("samples":2,"members":2,"checksummed":0,)"));
  std::uint32_t crc32c = 7;
  std::uint8_t known = 7;
  dataflux_sample_columns columns;
  dataflux_sample_columns_init(&columns, sizeof columns);
  columns.crc32c = &crc32c;
  columns.has_crc32c = &known;
  const std::uint64_t number = 1;
  REQUIRE(dataflux_shard_index_samples(w.open().get(), &number, 1, &columns, why) == DATAFLUX_OK);
  CHECK(crc32c == 0);
  CHECK(known == 0);
  auto o = w.options();
  o.skip_from = UINT64_MAX;
  REQUIRE(w.make(o, why, &done) == DATAFLUX_OK);
  CHECK(has(json_of(done), R"("checksummed":1,)"));
}

TEST_CASE("dataflux_index_shards: bad input, an end that was asked for, and time", "[c_api]") {
  shards_world w;
  w.fill_shards(2);
  told why;
  auto o = w.options();
  o.bucket = nullptr;
  CHECK(w.make(o, why) == DATAFLUX_INVALID_ARGUMENT);
  o = w.options();
  o.path = nullptr;
  CHECK(w.make(o, why) == DATAFLUX_INVALID_ARGUMENT);
  o.path = "";
  CHECK(w.make(o, why) == DATAFLUX_INVALID_ARGUMENT);
  const std::string nowhere = w.path() + "/no/such/folder";
  o.path = nowhere.c_str();
  CHECK(w.make(o, why) == DATAFLUX_NOT_FOUND);
  o = w.options();
  o.progress = 1;
  CHECK(w.make(o, why) == DATAFLUX_FAILED_PRECONDITION);
  CHECK(outcome(
            [&](dataflux_operation** op, dataflux_error** err) {
              return dataflux_index_shards(w.client.get(), &o, nullptr, nullptr, 0, op, err);
            },
            why) == DATAFLUX_INVALID_ARGUMENT);
  const listing_ptr listing = w.list("s/");
  w.hold();
  o = w.options();
  o.timeout_ns = 50'000'000;
  const auto begin = [&](dataflux_operation** op, dataflux_error** err) {
    return dataflux_index_shards(w.client.get(), &o, listing.get(), nullptr, 0, op, err);
  };
  CHECK(outcome(begin, why) == DATAFLUX_DEADLINE_EXCEEDED);
  o.timeout_ns = 0;
  dataflux_operation* op = nullptr;
  REQUIRE(begin(&op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  dataflux_operation_cancel(op);
  REQUIRE(dataflux_operation_wait(op, -1, nullptr) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(op, why) == DATAFLUX_CANCELLED);
  CHECK(std::filesystem::is_empty(w.folder));
}

TEST_CASE("dataflux_index_shards: its progress is told by events", "[c_api]") {
  shards_world w;
  w.fill_shards(3);
  auto kept = static_cast<const world&>(w).options();
  kept.event_capacity = 10;
  w.client = world::make_client(kept);
  told why;
  auto o = w.options();
  o.progress = 1;
  REQUIRE(w.make(o, why) == DATAFLUX_OK);
  const queue_ptr queue = make_queue();
  dataflux_events* made = nullptr;
  REQUIRE(dataflux_client_events(w.client.get(), queue.get(), 7, &made, why) == DATAFLUX_OK);
  const events_ptr events(made);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  const std::string text(bytes_of(records[0]));
  INFO(text);
  CHECK(has(text, R"("verb":"index","bucket":"bkt")"));
  CHECK(has(text, R"("done":3,"total":3})"));
  release(records);
}

TEST_CASE("dataflux_shard_index: files that are none, or damaged", "[c_api]") {
  shards_world w;
  w.fill_shards(2);
  told why;
  dataflux_shard_index* none = nullptr;
  const std::string path = w.path();
  CHECK(dataflux_shard_index_open(path.c_str(), &none, why) == DATAFLUX_NOT_FOUND);
  std::ofstream(path)
      << "this is no index at all, but a text that is long enough for an end of one";
  CHECK(dataflux_shard_index_open(path.c_str(), &none, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(none == nullptr);
  REQUIRE(w.make(w.options(), why) == DATAFLUX_OK);
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto write = [&](const std::string& all) {
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << all;
  };
  write(bytes.substr(0, bytes.size() - 8));
  CHECK(dataflux_shard_index_open(path.c_str(), &none, why) == DATAFLUX_DATA_LOSS);
  // A damaged block shows when it is used.
  const std::size_t name = bytes.find("s/0.tar");
  REQUIRE(name != std::string::npos);
  bytes[name] = 'X';
  write(bytes);
  const shard_index_ptr index = w.open();
  dataflux_indexed_shard shard;
  std::size_t count = 0;
  const std::uint64_t number = 0;
  parts sample;
  CHECK(dataflux_shard_index_shard(index.get(), 0, &shard, sizeof shard, why) ==
        DATAFLUX_DATA_LOSS);
  CHECK(dataflux_shard_index_samples(index.get(), &number, 1, nullptr, why) == DATAFLUX_DATA_LOSS);
  CHECK(dataflux_shard_index_fields(index.get(), 0, nullptr, 0, &count, why) == DATAFLUX_DATA_LOSS);
  CHECK(dataflux_shard_index_find(index.get(), "d/0", 3, nullptr, 0, &count, why) ==
        DATAFLUX_DATA_LOSS);
  CHECK(split(index, 0, bytes, sample, why) == DATAFLUX_DATA_LOSS);
  const queue_ptr queue = make_queue();
  const getter_ptr getter = w.feed(queue);
  CHECK(dataflux_getter_push_samples(getter.get(), index.get(), &number, 1, &count, why) ==
        DATAFLUX_DATA_LOSS);
}

TEST_CASE("dataflux_shard_index: bad input", "[c_api]") {
  shards_world w;
  w.fill_shards(1);
  const shard_index_ptr made = w.indexed();
  const dataflux_shard_index* const index = made.get();
  told why;
  constexpr dataflux_status bad = DATAFLUX_INVALID_ARGUMENT;
  dataflux_shard_index* none = nullptr;
  CHECK(dataflux_shard_index_open(nullptr, &none, why) == bad);
  CHECK(dataflux_shard_index_open("x", nullptr, why) == bad);
  dataflux_shard_index_info info;
  CHECK(dataflux_shard_index_describe(nullptr, &info, sizeof info, why) == bad);
  CHECK(dataflux_shard_index_describe(index, nullptr, sizeof info, why) == bad);
  CHECK(dataflux_shard_index_describe(index, &info, sizeof info - 8, why) == bad);
  dataflux_indexed_shard shard;
  CHECK(dataflux_shard_index_shard(nullptr, 0, &shard, sizeof shard, why) == bad);
  CHECK(dataflux_shard_index_shard(index, 0, nullptr, sizeof shard, why) == bad);
  CHECK(dataflux_shard_index_shard(index, 0, &shard, sizeof shard - 8, why) == bad);
  const std::uint64_t number = 0;
  std::size_t count = 0;
  CHECK(dataflux_shard_index_samples(nullptr, &number, 1, nullptr, why) == bad);
  CHECK(dataflux_shard_index_samples(index, nullptr, 1, nullptr, why) == bad);
  CHECK(dataflux_shard_index_samples(index, nullptr, 0, nullptr, why) == DATAFLUX_OK);
  CHECK(dataflux_shard_index_fields(nullptr, 0, nullptr, 0, &count, why) == bad);
  CHECK(dataflux_shard_index_fields(index, 0, nullptr, 1, &count, why) == bad);
  CHECK(dataflux_shard_index_fields(index, 0, nullptr, 0, nullptr, why) == bad);
  CHECK(dataflux_shard_index_find(nullptr, "k", 1, nullptr, 0, &count, why) == bad);
  CHECK(dataflux_shard_index_find(index, nullptr, 1, nullptr, 0, &count, why) == bad);
  CHECK(dataflux_shard_index_find(index, "k", 1, nullptr, 1, &count, why) == bad);
  CHECK(dataflux_shard_index_find(index, "k", 1, nullptr, 0, nullptr, why) == bad);
  CHECK(dataflux_shard_index_find(index, nullptr, 0, nullptr, 0, &count, why) == DATAFLUX_OK);
  const auto split_by = [&](const dataflux_shard_index* of, const void* data, std::size_t* fields,
                            std::size_t* key_size) {
    return dataflux_shard_index_split(of, 0, data, 1, nullptr, 0, fields, nullptr, 0, key_size,
                                      why);
  };
  std::size_t size = 0;
  CHECK(split_by(nullptr, "x", &count, &size) == bad);
  CHECK(split_by(index, nullptr, &count, &size) == bad);
  CHECK(split_by(index, "x", nullptr, &size) == bad);
  CHECK(split_by(index, "x", &count, nullptr) == bad);
  const queue_ptr queue = make_queue();
  const getter_ptr getter = w.feed(queue);
  CHECK(dataflux_getter_push_samples(nullptr, index, &number, 1, &count, why) == bad);
  CHECK(dataflux_getter_push_samples(getter.get(), nullptr, &number, 1, &count, why) == bad);
  CHECK(dataflux_getter_push_samples(getter.get(), index, nullptr, 1, &count, why) == bad);
  CHECK(dataflux_getter_push_samples(getter.get(), index, &number, 1, nullptr, why) == bad);
  dataflux_shard_index_free(nullptr);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes

TEST_CASE("dataflux_shard_index: the child of a fork uses and frees it", "[c_api]") {
  shards_world w;
  w.fill_shards(2);
  shard_index_ptr index = w.indexed();
  CHECK(run_child([&] {
          if (find(index, "d/13") != std::vector<std::uint64_t>{13}) return 1;
          const client_ptr client = w.make_client();
          dataflux_get_many_options many;
          dataflux_get_many_options_init(&many, sizeof many);
          many.bucket = "bkt";
          many.feed = 1;
          const queue_ptr queue = make_queue();
          dataflux_getter* made = nullptr;
          dataflux_get_many(client.get(), &many, nullptr, nullptr, 0, queue.get(), 1, &made,
                            nullptr);
          const getter_ptr getter(made);
          const std::uint64_t number = 13;
          std::size_t taken = 0;
          if (dataflux_getter_push_samples(made, index.get(), &number, 1, &taken, nullptr) !=
              DATAFLUX_OK) {
            return 2;
          }
          const auto records = next(queue, 1);
          check_sample(index, 13, bytes_of(records.at(0)));
          release(records);
          index.reset();
          return 0;
        }) == 0);
  CHECK(find(index, "d/0").size() == 1);
}

#endif

}  // namespace c_api_shard_index_test
