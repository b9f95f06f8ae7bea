#include <dataflux/codec/crc32c.hpp>
#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/manifest.hpp>

#include <fuzz/manifest_fuzz.hpp>
#include <support/catch.hpp>
#include <unit/list/saved_rows.hpp>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace manifest_test {

using dataflux::errc;
using dataflux::manifest;
using dataflux::object_columns;

namespace {

std::string encoded(const object_columns& rows,
                    const dataflux::manifest_description& description = saved::description()) {
  dataflux::detail::manifest_encoder encoder{description, rows};
  std::string bytes;
  while (!encoder.done()) encoder.append_to(bytes).value();
  return bytes;
}

/// Opens a copy that the manifest keeps alive.
dataflux::result<manifest> open(const std::string& bytes) {
  auto copy = std::make_shared<std::vector<std::uint64_t>>(bytes.size() / 8 + 1);
  std::memcpy(copy->data(), bytes.data(), bytes.size());
  const dataflux::bytes_view view{reinterpret_cast<const std::byte*>(copy->data()), bytes.size()};
  return manifest::over(view, std::move(copy));
}

/// The first failure of opening it and reading all rows; nothing if there is none.
std::optional<dataflux::error> failure_of(const std::string& bytes) {
  const auto opened = open(bytes);
  if (!opened) return opened.error();
  const auto rows = opened->rows();
  if (!rows) return rows.error();
  return std::nullopt;
}
void check_refused(const std::string& bytes, errc code, std::string_view what) {
  CAPTURE(what);
  const auto failure = failure_of(bytes);
  REQUIRE(failure);
  INFO(failure->message());
  CHECK(failure->code() == code);
  CHECK(failure->message().find(what) != std::string::npos);
}

template <class T>
T at(const std::string& bytes, std::size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}
template <class T>
void put(std::string& bytes, std::size_t place, T value) {
  std::memcpy(bytes.data() + place, &value, sizeof value);
}
void seal(std::string& bytes, std::size_t from, std::size_t count, std::size_t place) {
  put(bytes, place,
      dataflux::crc32c(dataflux::as_bytes(std::string_view{bytes}.substr(from, count))));
}

}  // namespace

TEST_CASE("manifest: rows and description come back", "[list]") {
  for (const std::size_t count : {0UL, 1UL, 7UL, 300UL, 65'536UL, 65'537UL, 150'000UL}) {
    const object_columns rows = saved::rows(0, count);
    const auto opened = open(encoded(rows));
    REQUIRE(opened);
    CHECK(opened->size() == count);
    CHECK(opened->description() == saved::description());
    const auto back = opened->rows();
    REQUIRE(back);
    CHECK(saved::same(*back, rows));
  }
  auto versions = saved::description();
  versions.versions = true;
  versions.options.clear();
  CHECK(open(encoded({}, versions))->description() == versions);
  CHECK(open(encoded({}, {}))->description() == dataflux::manifest_description{});
}

TEST_CASE("manifest: the service that was listed is told, and Google's by nothing", "[list]") {
  auto described = saved::description();
  const std::string usual = encoded({}, described);
  CHECK(usual.find("scheme") == std::string::npos);  // as all are that older versions have made
  CHECK(open(usual)->description().scheme == "gs");
  described.scheme = "s3";
  CHECK(open(encoded({}, described))->description() == described);

  const auto read = [](const std::string& member) {
    const std::string json = R"({"bucket":"b","prefix":"","startOffset":"","endOffset":"",)" +
                             member + R"("matchGlob":"","taken":"2026-01-01T00:00:00Z"})";
    return dataflux::detail::read_manifest_description(dataflux::as_bytes(json));
  };
  CHECK(read("")->scheme == "gs");
  CHECK(read(R"("scheme":"ais",)")->scheme == "ais");
  for (const char* bad : {R"("")", R"("S3")", R"("a b")", "7", "null", R"("seventeenletters0")"}) {
    CAPTURE(bad);
    const auto refused = read("\"scheme\":" + std::string(bad) + ",");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::data_loss);
  }
}

TEST_CASE("manifest: extra columns are kept", "[list]") {
  using dataflux::extra_columns;
  for (const auto kept : {dataflux::all_extra_columns, extra_columns::md5,
                          extra_columns::updated | extra_columns::metadata}) {
    const object_columns rows = saved::rows(0, 70'000, kept);
    const auto opened = open(encoded(rows));
    REQUIRE(opened);
    CHECK(saved::same(opened->rows().value(), rows));
    CHECK(saved::same(opened->rows(65'000, 900).value(), rows.slice(65'000, 900)));
  }
}

TEST_CASE("manifest: rows of every kind of name", "[list]") {
  object_columns rows;
  std::string name(1, 'a');
  for (int i = 0; i < 400; ++i) {
    rows.append(name, 0, 1, {});
    name += i % 7 == 0 ? std::string(1000, 'b') : std::string(1, '\0');
  }
  rows.append(name, 0, 2, 0);  // a second generation
  CHECK(saved::same(open(encoded(rows))->rows().value(), rows));
}

TEST_CASE("manifest: a share of the rows is read where it lies", "[list]") {
  const object_columns rows = saved::rows(0, 200'000);
  const auto opened = open(encoded(rows));
  REQUIRE(opened);
  const std::pair<std::size_t, std::size_t> shares[] = {
      {0, 0},       {0, 1},       {65'535, 2},       {65'536, 65'536}, {1, 199'998},
      {199'999, 1}, {200'000, 1}, {190'000, 99'999}, {300'000, 1}};
  for (const auto& [first, count] : shares) {
    const auto share = opened->rows(first, count);
    REQUIRE(share);
    CHECK(saved::same(*share, rows.slice(first, count)));
  }
  CHECK(opened->rows(70'000, 1)->name(0).data() == opened->rows()->name(70'000).data());
}

TEST_CASE("manifest: a row by itself is that of the listing", "[list]") {
  const object_columns rows = saved::rows(0, 140'000);
  const auto opened = open(encoded(rows));
  REQUIRE(opened);
  for (const std::size_t i : {0U, 1U, 7U, 65'535U, 65'536U, 65'541U, 131'071U, 139'999U}) {
    INFO(i);
    const auto row = opened->row(i);
    REQUIRE(row);
    const dataflux::object_row right = rows[i];
    CHECK(row->name == right.name);
    CHECK(row->size == right.size);
    CHECK(row->generation == right.generation);
    CHECK(row->crc32c == right.crc32c);
  }
  std::size_t without = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    if (!opened->row(i).value().crc32c) ++without;
    CHECK(opened->row(i).value().crc32c == rows[i].crc32c);
  }
  CHECK(without > 0);
  CHECK(without < 100);
  // In the manifest's memory.
  CHECK(opened->row(70'000)->name.data() == opened->rows()->name(70'000).data());
  CHECK(opened->row(140'000).error().code() == errc::out_of_range);
  CHECK(open(encoded(object_columns())).value().row(0).error().code() == errc::out_of_range);
}

TEST_CASE("manifest: rows live on when the manifest is gone", "[list]") {
  std::optional<object_columns> share;
  std::weak_ptr<const void> memory;
  {
    const std::string bytes = encoded(saved::rows(0, 100'000));
    auto copy = std::make_shared<std::string>(bytes);
    memory = copy;
    const auto view = dataflux::as_bytes(*copy);
    auto opened = manifest::over(view, std::move(copy));
    REQUIRE(opened);
    share = opened->rows(66'000, 10).value();
  }
  REQUIRE_FALSE(memory.expired());
  CHECK(saved::same(*share, saved::rows(66'000, 66'010)));
  share.reset();
  CHECK(memory.expired());
}

TEST_CASE("manifest: threads may read the same one", "[list]") {
  const object_columns rows = saved::rows(0, 200'000);
  const auto opened = open(encoded(rows));
  REQUIRE(opened);
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      const manifest mine = *opened;
      good[t] = saved::same(mine.rows(t * 50'000, 60'000).value(), rows.slice(t * 50'000, 60'000));
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good == std::vector<int>(4, 1));
}

TEST_CASE("manifest: what it is not, and what it is no more, is said", "[list]") {
  const std::string good = encoded(saved::rows(0, 100));
  REQUIRE_FALSE(failure_of(good));
  check_refused("", errc::invalid_argument, "not a manifest");
  check_refused("{\"items\":[]}", errc::invalid_argument, "not a manifest");
  check_refused(std::string(1000, '\0'), errc::invalid_argument, "not a manifest");
  check_refused(good.substr(0, 5), errc::data_loss, "truncated");
  check_refused(good.substr(0, 100), errc::data_loss, "truncated");
  check_refused(good.substr(0, good.size() - 1), errc::data_loss, "truncated");
  check_refused(good + std::string(64, '\0'), errc::data_loss, "truncated");
  check_refused(good + good.substr(good.size() - 64), errc::data_loss, "bytes where");

  std::string newer = good;
  put(newer, 8, std::uint32_t{2});
  seal(newer, 0, 60, 60);
  check_refused(newer, errc::unimplemented, "format version 2, this library reads 1");

  const std::size_t end = good.size() - 64;
  const std::pair<std::size_t, const char*> damaged[] = {
      {8, "its head"},
      {end, "its end"},
      {64, "block 0 (rows 0 to 99)"},
      {at<std::uint64_t>(good, end + 16), "its table"},
      {at<std::uint64_t>(good, end + 24), "its description"}};
  for (const auto& [place, what] : damaged) {
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ 1);
    check_refused(bad, errc::data_loss, what);
  }
  const auto unaligned = std::make_unique<std::uint64_t[]>(good.size() / 8 + 2);
  auto* byte = reinterpret_cast<std::byte*>(unaligned.get()) + 1;
  std::memcpy(byte, good.data(), good.size());
  CHECK(manifest::over({byte, good.size()}, nullptr).error().code() == errc::invalid_argument);
}

TEST_CASE("manifest: a damaged block keeps no other from being read", "[list]") {
  const object_columns rows = saved::rows(0, 200'000);
  std::string bytes = encoded(rows);
  const auto table = at<std::uint64_t>(bytes, bytes.size() - 64 + 16);
  const auto second = at<std::uint64_t>(bytes, table + 64);
  bytes[second + 77] = static_cast<char>(bytes[second + 77] ^ 0x10);
  const auto opened = open(bytes);
  REQUIRE(opened);
  CHECK(saved::same(opened->rows(0, 65'536).value(), rows.slice(0, 65'536)));
  CHECK(saved::same(opened->rows(131'072, 100'000).value(), rows.slice(131'072, 100'000)));
  for (int again = 0; again < 2; ++again) {
    const auto bad = opened->rows(65'535, 2);
    REQUIRE_FALSE(bad);
    CHECK(bad.error().code() == errc::data_loss);
    CHECK(bad.error().message().find("block 1 (rows 65536 to 131071)") != std::string::npos);
    CHECK(opened->row(65'536).error().code() == errc::data_loss);
  }
  CHECK(opened->row(65'535));
}

TEST_CASE("manifest: offsets that leave their column are seen behind a good checksum", "[list]") {
  const std::string good = encoded(saved::rows(0, 100));
  const std::size_t end = good.size() - 64;
  const auto table = at<std::uint64_t>(good, end + 16);
  const auto block_bytes = at<std::uint64_t>(good, table + 8);
  const std::size_t offsets = 64 + 832 + 832 + 448;  // 100 rows: columns begin at multiples of 64
  REQUIRE(at<std::int32_t>(good, offsets) == 0);
  REQUIRE(at<std::int32_t>(good, offsets + 4) ==
          static_cast<std::int32_t>(saved::name_of(0).size()));
  for (const auto& [row, value] :
       {std::pair{0, 1}, {0, -1}, {1, 1 << 30}, {50, -5}, {100, 1 << 30}, {100, 5}}) {
    CAPTURE(row, value);
    std::string bad = good;
    put(bad, offsets + 4 * static_cast<std::size_t>(row), value);
    seal(bad, 64, block_bytes, table + 28);
    seal(bad, table, 64, end + 40);
    seal(bad, end, 52, end + 52);
    check_refused(bad, errc::data_loss, "offsets of block 0");
  }
}

TEST_CASE(
    "manifest: rows out of order and names that are not UTF-8 are seen behind a good checksum",
    "[list]") {
  const std::string good = encoded(saved::rows(0, 100));
  const std::size_t end = good.size() - 64;
  const auto table = at<std::uint64_t>(good, end + 16);
  const auto block_bytes = at<std::uint64_t>(good, table + 8);
  const std::size_t first_name = good.find(saved::name_of(0), 64);
  REQUIRE(first_name < table);
  for (const auto& [byte, word] : {std::pair{'~', "not in order"}, {'\xff', "not UTF-8"}}) {
    std::string bad = good;
    bad[first_name] = byte;
    seal(bad, 64, block_bytes, table + 28);
    seal(bad, table, 64, end + 40);
    seal(bad, end, 52, end + 52);
    check_refused(bad, errc::data_loss, word);
  }
}

TEST_CASE("manifest: no single wrong byte is believed", "[list]") {
  const object_columns rows = saved::rows(0, 40, dataflux::all_extra_columns);
  const std::string good = encoded(rows);
  const std::size_t text_end = at<std::uint64_t>(good, good.size() - 64 + 24) +
                               at<std::uint32_t>(good, good.size() - 64 + 32);
  const auto table = at<std::uint64_t>(good, good.size() - 64 + 16);
  for (std::size_t place = 0; place < good.size(); ++place) {
    if (place >= text_end && place < table) continue;  // a gap that nobody reads
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ (1 << (place % 8)));
    CAPTURE(place);
    REQUIRE(failure_of(bad));
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    REQUIRE(failure_of(good.substr(0, size)));
  }
}

TEST_CASE("manifest: any bytes are read without a step outside", "[list]") {
  std::mt19937 random{17};
  const std::string seeds[] = {encoded(saved::rows(0, 3)),
                               encoded(saved::rows(0, 20, dataflux::all_extra_columns)),
                               encoded({})};
  for (const std::string& seed : seeds) {
    fuzz_manifest(dataflux::as_bytes(seed));
    for (int round = 0; round < 4000; ++round) {
      std::string bytes = seed;
      for (auto steps = 1 + random() % 3; steps > 0; --steps) {
        // Most of it where numbers are: the table and the end.
        const std::size_t near = random() % 2 == 0 ? 200 : bytes.size();
        const std::size_t place = bytes.size() - 1 - random() % std::min(near, bytes.size());
        if (random() % 4 == 0) {
          bytes.resize(place + 1);
        } else {
          const unsigned char values[] = {
              0, 1, 64, 0x7f, 0x80, 0xff, static_cast<unsigned char>(random())};
          bytes[place] = static_cast<char>(values[random() % 7]);
        }
      }
      fuzz_manifest(dataflux::as_bytes(bytes));
    }
  }
}

TEST_CASE("manifest: what changed since it was taken", "[list]") {
  const auto opened = open(encoded(saved::rows(10, 1000)));
  REQUIRE(opened);
  object_columns later;
  for (std::size_t i = 5; i < 900; ++i) {
    if (i == 100) continue;
    later.append(saved::name_of(i), 1, static_cast<std::int64_t>(i == 200 ? 7777 : i + 1), {});
  }
  const auto changes = opened->changes_to(later);
  REQUIRE(changes);
  CHECK(changes->added == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(changes->removed.size() == 101);
  CHECK(changes->removed[0] == 90);
  REQUIRE(changes->changed.size() == 1);
  CHECK(changes->changed[0].before == 190);
  CHECK(changes->unchanged == 888);
}

TEST_CASE("manifest: what is out of order, or not UTF-8, is not written", "[list]") {
  const auto refusal = [](const object_columns& rows, const dataflux::manifest_description& d) {
    dataflux::detail::manifest_encoder encoder{d, rows};
    std::string bytes;
    dataflux::result<void> good;
    while (good && !encoder.done()) good = encoder.append_to(bytes);
    return good ? std::string{} : good.error().message();
  };
  object_columns rows = saved::rows(0, 70'000);
  CHECK(refusal(object_columns{}, {.scheme = "s3://"}).find("scheme") != std::string::npos);
  CHECK(refusal(rows, {}).empty());
  rows.append("a", 1, 1, {});
  CHECK(refusal(rows, {}).find("row 70000 is not behind") != std::string::npos);
  rows.sort_by_name();
  CHECK(refusal(rows, {}).empty());
  rows.append(rows.last_name(), 1, rows.generation(70'000), {});
  CHECK(refusal(rows, {}).find("row 70001") != std::string::npos);
  object_columns foreign;
  foreign.append("\xff", 1, 1, {});
  CHECK(refusal(foreign, {}).find("row 0 is not UTF-8") != std::string::npos);
  CHECK(refusal({}, {.prefix = "\xff"}).find("UTF-8") != std::string::npos);
  CHECK(refusal({}, {.options = {{"a", "\xff"}}}).find("UTF-8") != std::string::npos);
}

}  // namespace manifest_test
