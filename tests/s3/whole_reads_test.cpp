#include <dataflux/download/download_file.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>

#include <s3/fixture.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace s3_whole_reads_test {
// Whole objects over a socket, each of whose bodies has one wrong byte. A reply to a range has no
// checksum of S3.
namespace {

using dataflux::errc;
using dataflux::get_request;
using s3_test::content;
using s3_test::fixture;

struct whole_fixture : fixture {
  whole_fixture() : context(*client, {.slice = std::uint64_t{2} << 20U}) {}

  dataflux::got_item of_stream(get_request request) {
    dataflux::getter stream(context, {.bucket = "bucket"},
                            std::vector<get_request>{std::move(request)});
    auto got = stream.next_batch(1);
    REQUIRE(got);
    REQUIRE(got->size() == 1);
    return std::move(got->front());
  }
  dataflux::result<dataflux::got_item> one() {
    return dataflux::get_one(context, {.bucket = "bucket", .object = "o"});
  }
  dataflux::result<dataflux::ranged_read_summary> into(std::size_t size, bool all) {
    memory.assign(size, std::byte{0});
    const auto range = all ? dataflux::byte_range::all() : dataflux::byte_range::span(0, size);
    return dataflux::get_one(context, {.bucket = "bucket", .object = "o", .range = range}, memory);
  }
  std::uint64_t requests() const { return client->totals().requests_b.load(); }

  dataflux::transfer_context context;
  std::vector<std::byte> memory{};
};

constexpr std::size_t sizes[]{100, 700'000, 1'500'000, 5'000'000};

TEST_CASE("s3 whole reads: all of them are compared", "[s3]") {
  for (const std::size_t size : sizes) {
    INFO(size);
    whole_fixture f;
    const auto data = content(size, 1);
    const auto stored = f.put("o", data);
    REQUIRE(stored);
    const get_request row{
        .object = "o", .generation = stored->generation, .object_size = std::uint64_t{size}};
    const auto before = f.requests();
    const auto one = f.one();
    INFO((one ? "" : one.error().to_string()));
    REQUIRE(one);
    CHECK(one->verified);
    CHECK(std::vector(one->bytes.begin(), one->bytes.end()) == data);
    if (size < 1'000'000) CHECK(f.requests() == before + 1);
    CHECK(f.of_stream({.object = "o"}).verified);
    CHECK(f.of_stream(row).verified);
    for (const bool all : {true, false}) {
      const auto into = f.into(size, all);
      REQUIRE(into);
      CHECK(into->verified);
      CHECK(f.memory == data);
    }
    CHECK(dataflux::read_bytes(f.context, {.bucket = "bucket", .object = "o"}).value() == data);

    f.script(R"({"action": "flip_byte", "verb": "objects.media", "offset": 5, "count": 0})");
    CHECK(f.one().error().code() == errc::data_loss);
    CHECK(f.of_stream({.object = "o"}).failure->code() == errc::data_loss);
    CHECK(f.of_stream(row).failure->code() == errc::data_loss);
    for (const bool all : {true, false}) CHECK(f.into(size, all).error().code() == errc::data_loss);
    CHECK(dataflux::read_bytes(f.context, {.bucket = "bucket", .object = "o"}).error().code() ==
          errc::data_loss);
  }
}

}  // namespace
}  // namespace s3_whole_reads_test
