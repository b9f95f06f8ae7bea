#include <dataflux/transfer/detail/upload_memory.hpp>

#include <support/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace upload_memory_test {

using dataflux::detail::upload_memory;
using source = upload_memory::source;

namespace {

/// A producer's. Whether it has joined at once.
bool join(upload_memory& memory, upload_memory::member& m, std::uint64_t own) {
  bool in = false;
  const bool may =
      memory.join(m, own, source::producer, [&in](const auto& r) { in = r.has_value(); });
  CHECK(in == may);
  return in;
}

}  // namespace

TEST_CASE("upload_memory: first come, first served, up to the cap", "[transfer]") {
  upload_memory memory(100);
  upload_memory::member a;
  REQUIRE(join(memory, a, 10));
  int granted = 0;
  int refused = 0;
  for (int i = 0; i < 12; ++i)
    memory.acquire(a, 10, [&](const auto& r) {
      granted += r ? 1 : 0;
      refused += r ? 0 : 1;
    });
  CHECK(granted == 10);
  CHECK(memory.held() == 100);
  memory.release(a, 10);
  CHECK(granted == 11);
  memory.forget(a, dataflux::error(dataflux::errc::cancelled, "over"));
  CHECK(refused == 1);
  memory.release(a, 50);
  CHECK(granted == 11);
  memory.leave(a);
  CHECK(memory.held() == 0);
  CHECK(memory.peak() == 100);
  CHECK(memory.free_to_own() == 100);
}

TEST_CASE("upload_memory: each has its own, whatever the others hold", "[transfer]") {
  upload_memory memory(100);
  upload_memory::member a;
  upload_memory::member b;
  REQUIRE(join(memory, a, 10));
  REQUIRE(join(memory, b, 10));
  int of_a = 0;
  int of_b = 0;
  for (int i = 0; i < 20; ++i) memory.acquire(a, 10, [&](const auto&) { ++of_a; });
  CHECK(of_a == 9);
  memory.acquire(b, 10, [&](const auto&) { ++of_b; });
  CHECK(of_b == 1);
  memory.acquire(b, 10, [&](const auto&) { ++of_b; });
  CHECK(of_b == 1);
  memory.release(a, 10);  // a was first
  CHECK(of_a == 10);
  memory.release(b, 10);  // its own is free again
  CHECK(of_b == 2);
}

TEST_CASE("upload_memory: who joins late waits for what is borrowed, not longer", "[transfer]") {
  upload_memory memory(40);
  upload_memory::member a;
  upload_memory::member b;
  REQUIRE(join(memory, a, 10));
  int of_a = 0;
  int of_b = 0;
  for (int i = 0; i < 6; ++i) memory.acquire(a, 10, [&](const auto&) { ++of_a; });
  CHECK(of_a == 4);
  REQUIRE(join(memory, b, 20));
  memory.acquire(b, 20, [&](const auto&) { ++of_b; });
  CHECK(of_b == 0);
  memory.release(a, 10);
  CHECK(of_b == 0);
  memory.release(a, 10);
  CHECK(of_b == 1);
  CHECK(of_a == 4);
  CHECK(memory.held() == 40);
}

TEST_CASE("upload_memory: who gives up waiting makes way for those behind (mend 8)", "[transfer]") {
  upload_memory memory(40);
  upload_memory::member a;
  upload_memory::member b;
  REQUIRE(join(memory, a, 10));
  REQUIRE(join(memory, b, 10));
  std::string order;
  memory.acquire(a, 10, [&](const auto&) { order += 'o'; });
  memory.acquire(a, 30, [&](const auto& r) { order += r ? "?" : "a"; });  // b's own is in the way
  memory.acquire(b, 20, [&](const auto&) { order += 'b'; });
  CHECK(order == "o");
  memory.forget(a, dataflux::error(dataflux::errc::cancelled, "over"));
  CHECK(order == "oab");
  memory.leave(a);
  memory.leave(b);
  CHECK(memory.held() == 0);
}

TEST_CASE("upload_memory: no more can be promised than there is", "[transfer]") {
  upload_memory memory(40);
  upload_memory::member a;
  upload_memory::member b;
  REQUIRE(join(memory, a, 30));
  CHECK_FALSE(join(memory, b, 20));
  REQUIRE(join(memory, b, 5));
  CHECK(memory.possible(a, 35));
  CHECK_FALSE(memory.possible(a, 36));
  CHECK(memory.possible(b, 10));
}

TEST_CASE("upload_memory: a producer waits for what goes on by itself, and for no producer",
          "[transfer]") {
  upload_memory memory(40);
  upload_memory::member file;
  upload_memory::member a;
  upload_memory::member b;
  std::string in;
  REQUIRE(memory.join(file, 20, source::by_itself, [&](const auto&) { in += 'f'; }));
  REQUIRE(memory.join(a, 15, source::producer, [&](const auto&) { in += 'a'; }));
  REQUIRE(memory.join(b, 25, source::producer, [&](const auto&) { in += 'b'; }));
  CHECK(in == "fa");
  upload_memory::member c;
  CHECK_FALSE(memory.join(c, 26, source::producer, [&](const auto&) { in += 'c'; }));
  memory.leave(file);
  CHECK(in == "fab");
  upload_memory::member d;
  CHECK_FALSE(memory.join(d, 1, source::producer, [&](const auto&) { in += 'd'; }));
  memory.leave(a);
  memory.leave(b);
  CHECK(memory.free_to_own() == 40);
}

TEST_CASE(
    "upload_memory: beside any producers one that goes on by itself has its own, then the next",
    "[transfer]") {
  upload_memory memory(40);
  upload_memory::member a;
  REQUIRE(join(memory, a, 35));
  std::vector<upload_memory::member> files(3);
  std::string in;
  int of_a = 0;
  memory.acquire(a, 40, [&](const auto&) { ++of_a; });
  CHECK(of_a == 1);
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(memory.join(files[i], 10, source::by_itself,
                        [&in, i](const auto& r) { in += r ? std::to_string(i) : "?"; }));
  }
  CHECK(in == "0");
  int got = 0;
  memory.acquire(files[0], 10, [&](const auto&) { ++got; });
  CHECK(got == 1);
  CHECK(memory.held() == 50);
  memory.forget(files[1], dataflux::error(dataflux::errc::cancelled, "over"));
  CHECK(in == "0?");
  memory.leave(files[0]);
  CHECK(in == "0?2");
  CHECK(memory.free_to_own() == 5);
  memory.leave(a);
  memory.leave(files[2]);
  CHECK(memory.held() == 0);
  CHECK(memory.free_to_own() == 40);
}

}  // namespace upload_memory_test
