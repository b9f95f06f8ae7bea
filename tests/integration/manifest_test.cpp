#include <dataflux/gcs/client.hpp>
#include <dataflux/list/manifest.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace manifest_test {

namespace {

struct harness {
  harness() {
    server.create_bucket("bkt");
    dataflux::gcs::client_options o{.endpoint = server.endpoint(), .emulator = true};
    o.retry.first = std::chrono::milliseconds(1);
    client = dataflux::gcs::client::create(o).value();
  }
  emulator::server server{};
  std::shared_ptr<dataflux::gcs::client> client{};
};

dataflux::object_columns many_rows() {
  dataflux::object_columns rows;
  for (int i = 0; i < 300'000; ++i) {
    rows.append("some/longer/name/of/an/object/" + std::to_string(1'000'000 + i), 1, i, 7);
  }
  return rows;
}

}  // namespace

TEST_CASE("manifest: a listing of a bucket is saved into it, and loaded", "[integration]") {
  harness h;
  for (const char* name : {"a", "b/c", "b/\xc3\xa4", "z"}) {
    REQUIRE(h.client->insert(
        {.bucket = "bkt",
         .object = name,
         .data = dataflux::as_bytes("bytes"),
         .attributes = {.content_type = "text/plain", .metadata = {{"key", name}}}}));
  }
  auto page = h.client->list_page({.bucket = "bkt", .extra = dataflux::all_extra_columns});
  REQUIRE(page);
  const dataflux::object_columns& rows = page->objects;
  REQUIRE(rows.size() == 4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name{rows.name(i)};
    const auto truth = h.client->stat({.bucket = "bkt", .object = name}).value();
    const auto extras = rows.extras(i);
    CHECK(extras.created == truth.created);
    CHECK(extras.updated == truth.updated);
    CHECK(extras.content_type == "text/plain");
    CHECK(extras.storage_class == truth.storage_class);
    CHECK(extras.md5.has_value() == !truth.md5_hash.empty());
    CHECK(extras.metadata.find("\"key\":\"" + name + "\"") != std::string_view::npos);
  }

  const auto saved = dataflux::save_manifest(*h.client, {.bucket = "bkt", .object = "manifest"},
                                             {.bucket = "bkt"}, rows);
  REQUIRE(saved);
  const auto loaded = dataflux::load_manifest(*h.client, {.bucket = "bkt", .object = "manifest"});
  REQUIRE(loaded);
  CHECK(loaded->bytes() == saved->size);
  CHECK(loaded->rows()->name(3) == "z");
  const auto later = h.client->list_page({.bucket = "bkt"}).value();
  const auto changes = loaded->changes_to(later.objects);
  REQUIRE(changes);
  CHECK(changes->added == std::vector<std::size_t>{3});  // the manifest itself
  CHECK(changes->unchanged == 4);
}

TEST_CASE("manifest: a large one goes up in parts, over several connections", "[integration]") {
  harness h;
  const dataflux::object_columns rows = many_rows();
  const auto saved = dataflux::save_manifest(
      *h.client, {.bucket = "bkt", .object = "m", .part_size = 1}, {.bucket = "bkt"}, rows);
  INFO((saved ? std::string() : saved.error().to_string()));
  REQUIRE(saved);
  CHECK(saved->size > 15'000'000);
  const auto loaded = dataflux::load_manifest(*h.client, {.bucket = "bkt", .object = "m"});
  REQUIRE(loaded);
  CHECK(loaded->size() == rows.size());
  CHECK(loaded->changes_to(rows)->unchanged == rows.size());
  CHECK(dataflux::load_manifest(*h.client, {.bucket = "bkt", .object = "missing"}).error().code() ==
        dataflux::errc::not_found);
}

TEST_CASE("manifest: one 503 does not end its upload (mend 17)", "[integration]") {
  const dataflux::object_columns rows = many_rows();
  const dataflux::object_columns few = rows.slice(0, 10);
  for (const char* verb :
       {"objects.insert", "multipart.initiate", "multipart.part", "multipart.complete"}) {
    const bool small = verb == std::string_view("objects.insert");
    harness h;
    h.server.put("bkt", "m", "what was there");
    h.server.faults().add({.verb = verb, .action = emulator::fault::refuse{503}});
    const auto saved = dataflux::save_manifest(*h.client, {.bucket = "bkt", .object = "m"},
                                               {.bucket = "bkt"}, small ? few : rows);
    INFO(verb << ' ' << (saved ? std::string() : saved.error().to_string()));
    REQUIRE(saved);
    CHECK(h.server.faults().hits() == 1);
    CHECK(dataflux::load_manifest(*h.client, {.bucket = "bkt", .object = "m"})->size() ==
          (small ? few : rows).size());
    CHECK(h.server.counters().uploads_open == 0);
  }
}

}  // namespace manifest_test
