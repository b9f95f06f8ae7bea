#include <ais/fixture.hpp>
#include <support/store_features.hpp>

#include <string>
#include <utility>

namespace ais_features_test {

using dataflux::errc;

TEST_CASE("ais features: what reads and lists, over the client of AIStore", "[ais]") {
  for (const auto& feature : store_features::all) {
    if (!feature.only_reads) continue;
    DYNAMIC_SECTION(feature.name) {
      ais_test::fixture f;
      const store_features::features play{*f.client, "bucket",
                                          [&f](const std::string& name, std::string bytes) {
                                            f.server.put("bucket", name, std::move(bytes));
                                          }};
      (play.*feature.run)();
    }
  }
}

TEST_CASE("ais features: a checkpoint is refused before any byte", "[ais]") {
  ais_test::fixture f;
  const dataflux::transfer_context context{*f.client, {}};
  auto writer =
      dataflux::checkpoint_writer::open(context, {.bucket = "bucket", .object = "ckpt/o"});
  auto refused = writer ? writer->commit() : writer.error();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::failed_precondition);
  CHECK(refused.error().message().find("gs:// or s3://") != std::string::npos);
  CHECK(f.client->list_page({.bucket = "bucket"})->objects.empty());
}

TEST_CASE("ais features: many objects are removed, in their state alone", "[ais]") {
  ais_test::fixture f;
  for (int i = 0; i < 300; ++i) f.server.put("bucket", "rm/" + std::to_string(1000 + i), "x");
  f.server.put("bucket", "keep", "x");
  const auto done = dataflux::remove_objects(*f.client, {.bucket = "bucket", .prefix = "rm/"});
  REQUIRE(done);
  CHECK(done->objects == 300);
  CHECK(done->failed == 0);
  f.server.put("bucket", "rm/changed", "old");
  f.server.put("bucket", "rm/same", "old");
  auto listed = dataflux::fast_list(*f.client, {.bucket = "bucket", .prefix = "rm/"}).value();
  f.server.put("bucket", "rm/changed", "new, of another size");
  const auto some =
      dataflux::remove_objects(*f.client, {.bucket = "bucket", .rows = std::move(listed.objects)});
  REQUIRE(some);
  CHECK(some->objects == 1);
  REQUIRE(some->failures.size() == 1);
  CHECK(some->failures[0].name == "rm/changed");
  CHECK(some->failures[0].why.code() == errc::failed_precondition);
  CHECK(f.client->list_page({.bucket = "bucket"})->objects.size() == 2);
}

}  // namespace ais_features_test
