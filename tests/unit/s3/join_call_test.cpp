#include <dataflux/s3/detail/join_call.hpp>

#include <support/catch.hpp>
#include <unit/s3/client_fixture.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace s3_join_call_test {
namespace {

using dataflux::detail::s3::join_piece;
using dataflux::detail::s3::plan_join;

constexpr std::uint64_t least = 5;

std::vector<join_piece> checked_plan(const std::vector<std::uint64_t>& sizes, std::uint64_t most) {
  auto pieces = plan_join(sizes, least, most);
  std::size_t source = 0;
  std::uint64_t at = 0;
  const auto skip_empty = [&] {
    while (source < sizes.size() && at == sizes[source]) ++source, at = 0;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const join_piece& piece = pieces[i];
    CHECK(piece.length() <= most);
    if (i + 1 < pieces.size()) CHECK(piece.length() >= least);
    if (piece.sent) CHECK(piece.length() <= least);
    if (!piece.sent) CHECK(piece.extents.size() == 1);
    for (const auto& each : piece.extents) {
      skip_empty();
      REQUIRE(source < sizes.size());
      CHECK(each.source == source);
      CHECK(each.offset == at);
      at += each.length;
      CHECK(at <= sizes[source]);
    }
  }
  skip_empty();
  CHECK(source == sizes.size());
  return pieces;
}

TEST_CASE("s3 join: large sources are copied, small ones sent together", "[s3]") {
  CHECK(checked_plan({7}, 10).size() == 1);
  CHECK_FALSE(checked_plan({7}, 10)[0].sent);
  CHECK(checked_plan({23}, 10).size() == 3);  // 10, 8, 5
  CHECK(checked_plan({0}, 10).size() == 1);
  const auto small = checked_plan({2, 1, 1}, 10);
  REQUIRE(small.size() == 1);
  CHECK(small[0].sent);
  const auto mixed = checked_plan({2, 30}, 10);
  CHECK(mixed[0].sent);
  CHECK(mixed[0].extents.size() == 2);
  CHECK_FALSE(mixed[1].sent);
}

TEST_CASE("s3 join: whatever the sizes are, every byte comes once and in order", "[s3]") {
  std::mt19937 dice(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> sizes(1 + dice() % 6);
    for (auto& size : sizes) size = dice() % (round % 2 == 0 ? 12 : 60);
    checked_plan(sizes, 2 * least + dice() % 10);
  }
  // A huge source has no more parts than an upload may have.
  CHECK(plan_join(std::vector<std::uint64_t>{std::uint64_t{1} << 45U}, 5 << 20, 10 << 20).size() <=
        10'000);
}

TEST_CASE("s3 join: sources that are together more than an object can have are refused", "[s3]") {
  using dataflux::detail::http::method;
  for (const char* size : {"53687091200000", "9223372036854775807", "18446744073709551615"}) {
    s3_client_test::fixture f{s3_client_test::aws_options()};
    f.answer = [size](const s3_client_test::memory_request&) {
      return s3_client_test::memory_reply{
          .headers = {{"ETag", "\"abc\""}, {"Content-Length", size}}};
    };
    const auto made = f.run(
        dataflux::compose_request{.bucket = "bkt",
                                  .object = "o",
                                  .sources = {{.object = "a"}, {.object = "b"}, {.object = "c"}}});
    REQUIRE_FALSE(made);
    INFO(made.error().to_string());
    CHECK((made.error().code() == dataflux::errc::out_of_range ||
           made.error().code() == dataflux::errc::internal));
    CHECK(std::all_of(f.net->log().begin(), f.net->log().end(),
                      [](const auto& sent) { return sent.method == method::head; }));
  }
}

}  // namespace
}  // namespace s3_join_call_test
