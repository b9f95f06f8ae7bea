#include <dataflux/exec/event_ring.hpp>

#include <support/catch.hpp>
#include <support/run_child.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace event_ring_test {

using namespace std::chrono_literals;
using dataflux::completion_event;
using dataflux::completion_queue;
using dataflux::errc;
using dataflux::event_kind;
using dataflux::event_ring;
using dataflux::log_level;

namespace {

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

void retry(event_ring& ring, int attempt) {
  const dataflux::error cause(errc::unavailable, "busy");
  ring.on_retry({.verb = "objects.get",
                 .bucket = "b",
                 .object = "o",
                 .attempt = attempt,
                 .delay = 5ms,
                 .cause = &cause});
}

/// The tags that are there.
std::vector<std::uint64_t> heard(completion_queue& queue) {
  std::array<completion_event, 8> events;
  const std::size_t count = queue.next(events, 0s);
  std::vector<std::uint64_t> tags;
  for (std::size_t i = 0; i < count; ++i) tags.push_back(events[i].tag);
  return tags;
}

using tags = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("event_ring: keeps what it was told, oldest first", "[exec]") {
  event_ring ring;
  CHECK(ring.take(all).empty());
  const auto before = std::chrono::system_clock::now();
  ring.on_log(log_level::warning, "a line");
  retry(ring, 3);
  ring.on_list({.bucket = "b", .prefix = "p/", .expected = 70, .listed = 30, .open_ranges = 2});
  ring.on_request({.verb = "objects.get"});  // are counted elsewhere

  const auto first = ring.take(2);
  REQUIRE(first.size() == 2);
  CHECK(first[0].kind == event_kind::log);
  CHECK(first[0].level == log_level::warning);
  CHECK(first[0].text == "a line");
  CHECK(first[0].time >= before);
  CHECK(first[1].kind == event_kind::retry);
  CHECK(first[1].level == log_level::warning);
  CHECK(first[1].verb == "objects.get");
  CHECK(first[1].bucket == "b");
  CHECK(first[1].object == "o");
  CHECK(first[1].attempt == 3);
  CHECK(first[1].delay == 5ms);
  CHECK(first[1].text.find("busy") != std::string::npos);
  CHECK(first[1].time >= first[0].time);

  const auto rest = ring.take(all);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].kind == event_kind::progress);
  CHECK(rest[0].level == log_level::info);
  CHECK(rest[0].verb == "listing");
  CHECK(rest[0].object == "p/");
  CHECK(rest[0].done == 30);
  CHECK(rest[0].total == 70);
  CHECK(ring.take(all).empty());
  CHECK(ring.dropped() == 0);
}

TEST_CASE("event_ring: a full one drops what is new and counts it", "[exec]") {
  event_ring ring({.capacity = 3});
  for (int i = 1; i <= 10; ++i) retry(ring, i);
  CHECK(ring.dropped() == 7);
  const auto kept = ring.take(1);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].attempt == 1);
  retry(ring, 11);  // there is room for one
  retry(ring, 12);
  CHECK(ring.dropped() == 8);
  const auto rest = ring.take(all);
  REQUIRE(rest.size() == 3);
  CHECK(rest[0].attempt == 2);
  CHECK(rest[1].attempt == 3);
  CHECK(rest[2].attempt == 11);
}

TEST_CASE("event_ring: a token that is needed is never dropped, and comes first", "[exec]") {
  event_ring ring({.capacity = 1});
  retry(ring, 1);
  retry(ring, 2);
  ring.need_token();
  ring.need_token();
  CHECK(ring.dropped() == 1);
  CHECK(ring.take(0).empty());
  const auto first = ring.take(1);
  REQUIRE(first.size() == 1);
  CHECK(first[0].kind == event_kind::token_needed);
  const auto rest = ring.take(all);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].attempt == 1);
  ring.need_token();
  CHECK(ring.take(all).size() == 1);
}

TEST_CASE("event_ring: lines below the level are left out, long ones are cut", "[exec]") {
  event_ring ring({.least = log_level::warning});
  ring.on_log(log_level::info, "no");
  ring.on_log(log_level::error, std::string(5'000, 'x'));
  const auto kept = ring.take(all);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].text == std::string(1'024, 'x'));
  CHECK(ring.dropped() == 0);
  // A character of UTF-8 is there whole or not at all.
  for (std::size_t before = 1'020; before <= 1'024; ++before) {
    ring.on_log(log_level::error, std::string(before, 'x') + "\xe2\x82\xac\xe2\x82\xac");
    const std::string whole = before <= 1'021 ? "\xe2\x82\xac" : "";
    CHECK(ring.take(all).at(0).text == std::string(before, 'x') + whole);
  }
}

TEST_CASE("event_ring: progress is thinned out, but for the end", "[exec]") {
  event_ring ring({.progress_every = 1h});
  const auto progress = ring.progress_of("download", "b", "o", 100);
  const auto copy = progress;  // adds to the same sum
  for (int i = 0; i < 4; ++i) progress(20);
  copy(20);
  const auto kept = ring.take(all);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].verb == "download");
  CHECK(kept[0].bucket == "b");
  CHECK(kept[0].object == "o");
  CHECK(kept[0].done == 20);
  CHECK(kept[0].total == 100);
  CHECK(kept[1].done == 100);
  CHECK(ring.dropped() == 0);
  ring.on_list({.bucket = "b", .expected = 3, .listed = 3});
  CHECK(ring.take(all).size() == 1);
  ring.on_list({.bucket = "b", .expected = 3, .listed = 2, .open_ranges = 1});
  CHECK(ring.take(all).empty());
  ring.on_list({.bucket = "b", .expected = 3, .listed = 3, .calls_in_flight = 1});
  CHECK(ring.take(all).size() == 1);
  // One that has ended short of it.
  ring.tell_progress({.what = "copy", .done = 1, .total = 3});
  CHECK(ring.take(all).size() == 1);
  ring.tell_progress({.what = "copy", .done = 2, .total = 3});
  CHECK(ring.take(all).empty());
  ring.tell_progress({.what = "copy", .done = 2, .total = 3, .last = true});
  CHECK(ring.take(all).size() == 1);

  event_ring each({.progress_every = 1ns});
  const auto unbounded = each.progress_of("copy", "b", "");
  while (each.take(all).size() < 1) unbounded(1);
}

TEST_CASE("event_ring: progress of one call hides no other's", "[exec]") {
  event_ring ring({.progress_every = 1h});
  const auto one = ring.progress_of("download", "b", "o", 100, 7);
  const auto other = ring.progress_of("download", "b", "o", 100, 8);
  const auto elsewhere = ring.progress_of("download", "b", "p", 100, 8);
  for (int i = 0; i < 3; ++i) {
    one(1);
    other(10);
    elsewhere(20);
    ring.on_list({.bucket = "b", .call = 9, .listed = 1, .open_ranges = 1});
    ring.on_list({.bucket = "b", .call = 10, .listed = 2, .open_ranges = 1});
  }
  const auto kept = ring.take(all);
  REQUIRE(kept.size() == 5);
  const std::uint64_t calls[] = {7, 8, 8, 9, 10};
  const std::uint64_t done[] = {1, 10, 20, 1, 2};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    CHECK(kept[i].call == calls[i]);
    CHECK(kept[i].done == done[i]);
  }
}

TEST_CASE("event_ring: progress of any number of calls takes bounded memory", "[exec]") {
  event_ring ring({.capacity = 1, .progress_every = 1h});
  for (std::uint64_t call = 1; call <= 10'000; ++call) {
    ring.tell_progress({.what = "copy", .done = 1, .call = call});
  }
  CHECK(ring.dropped() == 9'999);
}

TEST_CASE("event_ring: tells a queue once that something is there", "[exec]") {
  completion_queue queue;
  event_ring ring({.capacity = 2});
  ring.notify(queue, 7);
  CHECK(heard(queue).empty());
  retry(ring, 1);
  retry(ring, 2);
  CHECK(heard(queue) == tags{7});
  ring.notify(queue, 8);  // has something already
  CHECK(heard(queue) == tags{8});
  CHECK(ring.take(all).size() == 2);
  ring.notify(queue, 9);
  CHECK(heard(queue).empty());
  ring.need_token();
  CHECK(heard(queue) == tags{9});
  ring.notify(queue, 10);
  CHECK(heard(queue) == tags{10});
  CHECK(ring.take(all).size() == 1);
  ring.notify(queue, 11);
  ring.silence();
  retry(ring, 3);
  CHECK(heard(queue).empty());
}

TEST_CASE("event_ring: what several threads tell is kept or counted", "[exec]") {
  event_ring ring({.capacity = 50});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&ring] {
      for (int i = 0; i < 200; ++i) retry(ring, i + 1);
    });
  }
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i) taken += ring.take(3).size();
  for (std::thread& t : threads) t.join();
  taken += ring.take(all).size();
  CHECK(taken + ring.dropped() == 800);
}

TEST_CASE("event_ring: an inherited one is silent in the child of a fork", "[exec]") {
  event_ring ring;
  retry(ring, 1);
  CHECK(run_child([&] {
          ring.need_token();
          retry(ring, 2);
          return ring.take(all).empty() && ring.dropped() == 0 ? 0 : 1;
        }) == 0);
  CHECK(ring.take(all).size() == 1);
}

}  // namespace event_ring_test
