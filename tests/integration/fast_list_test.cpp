#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/run_child.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fast_list_test {

// Listings of many ranges over a socket: pages on several I/O threads, faults of the wire.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
using dataflux::fast_list_request;
using dataflux::fast_lister;
using dataflux::list_order;
using dataflux::listing;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

struct harness {
  explicit harness(std::size_t objects, bool versioned = false) : server({.threads = 2}) {
    server.service().store().create_bucket("bkt", {.versioning = versioned});
    for (std::size_t i = 0; i < objects; ++i) {
      const std::string digits = std::to_string(i);
      names.push_back("d" + std::to_string(i % 7) + "/" + std::string(5 - digits.size(), '0') +
                      digits);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) server.put("bkt", name, "x");
    client = connect();
  }
  std::shared_ptr<gcs::client> connect(const std::string& payer = {}) const {
    gcs::client_options o{.endpoint = server.endpoint(), .emulator = true};
    o.user_project = payer;
    o.retry = {.max_attempts = 4, .first = 1ms, .cap = 5ms};
    o.stall_timeout = 300ms;
    o.first_byte_timeout = 300ms;
    o.transport.io_threads = 2;
    return gcs::client::create(o).value();
  }
  listing list(fast_list_request request = {.page_size = 50}) const {
    request.bucket = "bkt";
    auto all = dataflux::fast_list(*client, std::move(request));
    INFO((all ? std::string() : all.error().to_string()));
    REQUIRE(all);
    return *std::move(all);
  }

  emulator::server server;
  std::vector<std::string> names{};
  std::shared_ptr<gcs::client> client{};
};

std::vector<std::string> names_of(const dataflux::object_columns& objects) {
  std::vector<std::string> names;
  for (const auto& row : objects) names.emplace_back(row.name);
  return names;
}

}  // namespace

TEST_CASE("fast_list: over a socket, whole, part, folded, by pattern", "[integration]") {
  harness h(3'000);
  const listing all = h.list();
  CHECK(names_of(all.objects) == h.names);
  CHECK(all.summary.ranges > 1);
  CHECK(all.summary.bytes == 3'000);
  CHECK(h.list({.prefix = "d3/", .page_size = 20}).objects.size() ==
        static_cast<std::size_t>(std::count_if(
            h.names.begin(), h.names.end(), [](const auto& n) { return n.starts_with("d3/"); })));
  CHECK(h.list({.delimiter = "/", .page_size = 2}).prefixes.size() == 7);
  CHECK(h.list({.match_glob = "**5", .page_size = 20}).objects.size() == 300);
  CHECK(h.list({.filter = {.storage_classes = {"ARCHIVE"}}}).summary.dropped.storage_class ==
        3'000);
  CHECK(h.list({.filter = {.storage_classes = {"STANDARD"}}}).objects.size() == 3'000);
}

TEST_CASE("fast_list: over a socket, as a stream in both orders", "[integration]") {
  harness h(3'000);
  for (const list_order order : {list_order::any, list_order::by_name}) {
    fast_lister lister(*h.client, {.bucket = "bkt", .page_size = 50, .order = order});
    std::vector<std::string> names;
    for (auto page = lister.next_page(); page.value(); page = lister.next_page()) {
      for (auto& name : names_of((*page)->objects)) names.push_back(std::move(name));
    }
    CHECK(lister.summary().objects == 3'000);
    if (order == list_order::any) std::sort(names.begin(), names.end());
    CHECK(names == h.names);
  }
}

TEST_CASE("fast_list: over a socket, a slow reader with a small cap gets everything",
          "[integration]") {
  harness h(3'000);
  for (const list_order order : {list_order::any, list_order::by_name}) {
    fast_lister lister(*h.client,
                       {.bucket = "bkt", .page_size = 50, .memory_cap = 20'000, .order = order});
    std::size_t rows = 0;
    for (auto page = lister.next_page(); page.value(); page = lister.next_page()) {
      rows += (*page)->objects.size();
      if (rows % 3 == 0) std::this_thread::sleep_for(3ms);
    }
    CHECK(rows == 3'000);
  }
}

TEST_CASE("fast_list: over a socket, extra columns on demand", "[integration]") {
  using dataflux::extra_columns;
  harness h(200);
  const auto kept = extra_columns::md5 | extra_columns::updated | extra_columns::content_type;
  const listing all = h.list({.extra = kept, .page_size = 20});
  REQUIRE(all.objects.size() == 200);
  CHECK(all.objects.kept() == kept);
  const dataflux::object_extras last = all.objects.extras(199);
  CHECK(last.md5);
  CHECK(last.updated);
  CHECK(last.storage_class.empty());
  CHECK(h.list().objects.kept() == extra_columns::none);
}

TEST_CASE("fast_list: over a socket, the client's user project pays for each call",
          "[integration]") {
  harness h(500);
  h.server.service().store().configure(
      "bkt", {}, [](emulator::bucket_settings& settings) { settings.requester_pays = true; });
  const auto refused = dataflux::fast_list(*h.client, {.bucket = "bkt"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().http_status() == 400);
  h.client = h.connect("payer");
  const listing all = h.list();
  CHECK(names_of(all.objects) == h.names);
  CHECK(all.summary.ranges > 1);
}

TEST_CASE("fast_list: over a socket, generations of versioned objects", "[integration]") {
  harness h(40, true);
  for (int round = 0; round < 6; ++round) {
    for (std::size_t i = 0; i < h.names.size(); i += 3) h.server.put("bkt", h.names[i], "y");
  }
  const listing all = h.list({.versions = true, .page_size = 4});
  REQUIRE(all.objects.size() == 40 + 6 * 14);
  for (std::size_t i = 1; i < all.objects.size(); ++i) {
    const auto before = std::pair(all.objects.name(i - 1), all.objects.generation(i - 1));
    CHECK(before < std::pair(all.objects.name(i), all.objects.generation(i)));
  }
}

TEST_CASE("fast_list: over a socket, whatever becomes of single pages", "[integration]") {
  harness h(2'000);
  const emulator::fault::action actions[]{
      fault::refuse{503},
      fault::refuse{429},
      fault::send{.status = 200, .body = "{\"kind\": tru", .content_type = "application/json"},
      fault::cut{.where = fault::point::before_reply},
      fault::cut{.where = fault::point::in_body, .body_bytes = 700},
      fault::cut{.where = fault::point::in_body, .body_bytes = 700, .reset = false},
      fault::stall{.where = fault::point::in_body, .body_bytes = 300},
      fault::short_page{1},
      fault::short_page{3},
      fault::delay{30ms}};
  for (std::size_t i = 0; i < std::size(actions); ++i) {
    INFO(i);
    h.server.faults().clear();
    h.server.faults().add(
        {.verb = "objects.list", .count = 0, .probability = 0.1, .seed = i, .action = actions[i]});
    CHECK(names_of(h.list().objects) == h.names);
    CHECK(h.server.faults().hits() > 0);
  }
}

TEST_CASE("fast_list: over a socket, an empty page with a token", "[integration]") {
  harness h(500);
  h.server.faults().add({.verb = "objects.list", .action = fault::short_page{0}});
  CHECK(names_of(h.list().objects) == h.names);
  CHECK(h.server.faults().hits() == 1);
}

TEST_CASE("fast_list: over a socket, a page token that has expired", "[integration]") {
  harness h(500);
  h.server.faults().add({.verb = "objects.list", .from = 3, .action = fault::refuse{400}});
  const listing all = h.list({.parallelism = 1, .page_size = 20});
  CHECK(names_of(all.objects) == h.names);
  CHECK(all.summary.repeats == 1);
}

TEST_CASE("fast_list: over a socket, a missing bucket and a refusal", "[integration]") {
  harness h(500);
  const auto none = dataflux::fast_list(*h.client, {.bucket = "nobucket"});
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == errc::not_found);
  CHECK(none.error().bucket() == "nobucket");
  h.server.faults().add(
      {.verb = "objects.list", .from = 4, .count = 0, .action = fault::refuse{403}});
  const auto refused =
      dataflux::fast_list(*h.client, {.bucket = "bkt", .prefix = "d", .page_size = 20});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::permission_denied);
  CHECK(refused.error().http_status() == 403);
  CHECK(refused.error().message().find("prefix 'd', names from") != std::string::npos);
}

TEST_CASE("fast_list: over a socket, cancelled, abandoned, left by its client", "[integration]") {
  harness h(2'000);
  h.server.faults().add({.verb = "objects.list", .count = 0, .action = fault::delay{5ms}});
  for (int i = 0; i < 20; ++i) {
    auto op = dataflux::submit_fast_list(*h.client, {.bucket = "bkt", .page_size = 10});
    static_cast<void>(op.wait_for(std::chrono::milliseconds(i)));
    op.cancel();
    const auto outcome = op.take();
    if (!outcome) CHECK(outcome.error().code() == errc::cancelled);
    fast_lister lister(*h.client, {.bucket = "bkt", .page_size = 10});
    if (i % 2 == 0) CHECK(lister.next_page());
  }
  auto op = dataflux::submit_fast_list(*h.client, {.bucket = "bkt", .page_size = 1});
  static_cast<void>(op.wait_for(20ms));
  h.client.reset();
  CHECK(op.take().error().code() == errc::cancelled);
  h.client = h.connect();
  {
    fast_lister lister(*h.client, {.bucket = "bkt", .page_size = 10});
    CHECK(lister.next_page());
  }
  h.client.reset();
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("fast_list: in the child of a fork listings are refused", "[integration]") {
  harness h(200);
  fast_lister inherited(*h.client, {.bucket = "bkt", .page_size = 10});
  CHECK(inherited.next_page());
  const int bad = run_child([&] {
    const auto all = dataflux::fast_list(*h.client, {.bucket = "bkt"});
    if (all || all.error().code() != errc::failed_precondition) return 1;
    {
      fast_lister lister(*h.client, {.bucket = "bkt"});
      const auto page = lister.next_page();
      if (page || page.error().code() != errc::failed_precondition) return 2;
    }
    const auto page = inherited.next_page();
    if (page || page.error().code() != errc::failed_precondition) return 3;
    { const fast_lister gone(std::move(inherited)); }
    return 0;
  });
  CHECK(bad == 0);
  std::size_t rest = 0;
  for (auto page = inherited.next_page(); page.value(); page = inherited.next_page()) {
    rest += (*page)->objects.size();
  }
  CHECK(rest > 0);
}
#endif

}  // namespace fast_list_test
