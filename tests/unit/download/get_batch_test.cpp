#include <dataflux/download/detail/get_batch.hpp>
#include <dataflux/download/detail/piece_source.hpp>

#include <support/short_memory.hpp>

#include "get_fixture.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace get_batch_test {
// Of a store that refuses batches, so that each piece is read by itself.
namespace {

using dataflux::errc;
using dataflux::detail::get_batch;
using dataflux::detail::get_piece;
using dataflux::test::short_memory;

constexpr std::size_t size = 100;

struct world : get_fixture {
  world() : pieces(3), memory(3, std::vector<std::byte>(size)) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      dataflux::detail::fill_piece(put(std::to_string(i), size, i), pieces[i]);
      pieces[i].begin_anew();
    }
  }
  void start(bool together) {
    get_batch::owner told{.whose = member,
                          .place =
                              [this](get_piece& p) {
                                p.to = memory[static_cast<std::size_t>(&p - pieces.data())];
                                return true;
                              },
                          .done = [this](std::size_t) { ++told_times; }};
    batch = std::make_shared<get_batch>(context.state()->engine, "bucket", pieces,
                                        dataflux::call_limits{}, std::move(told));
    batch->begin(together);
  }
  /// Nothing is owed, and each piece is right or has failed.
  std::size_t ended() {
    clock.run();
    CHECK(told_times == 1);
    CHECK(store.in_flight() == 0);
    std::size_t good = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].failure) {
        CHECK(pieces[i].failure->code() == errc::resource_exhausted);
        continue;
      }
      CHECK(same(memory[i], body_of(size, i)));
      ++good;
    }
    return good;
  }

  std::vector<get_piece> pieces;
  std::vector<std::vector<std::byte>> memory;
  dataflux::detail::read_member member{};
  std::shared_ptr<get_batch> batch{};
  int told_times{0};
};

/// With memory for 0, 1, ... allocations in `act`, until it is enough.
template <class Act>
void with_ever_more(Act act) {
  if (!short_memory::works()) return;
  dataflux::detail::short_of_memory();  // made before it is needed
  bool enough = false;
  std::int64_t k = -1;
  while (!enough) {
    REQUIRE(++k < 500);
    INFO(k);
    world w;
    w.clock.post([&] { act(w, k, enough); });
    const std::size_t good = w.ended();
    if (enough) CHECK(good == 3);
  }
}

}  // namespace

TEST_CASE("get_batch: what a batch leaves out is read by itself", "[download]") {
  for (const bool together : {true, false}) {
    world w;
    w.clock.post([&] { w.start(together); });
    CHECK(w.ended() == 3);
    CHECK(w.reads() == 3);
  }
}

TEST_CASE("get_batch: whichever allocation of its beginning fails, it ends once", "[download]") {
  for (const bool together : {true, false}) {
    INFO(together);
    with_ever_more([together](world& w, std::int64_t k, bool& enough) {
      bool begun = false;
      dataflux::detail::within_memory([&] {
        const short_memory now(k);
        w.start(together);
        begun = true;
        enough = !short_memory::felt();
      });
      if (!begun) ++w.told_times;  // there was no batch
      if (!begun) w.pieces.clear();
    });
  }
}

TEST_CASE("get_batch: whichever allocation fails when it has come, it ends once", "[download]") {
  if (!short_memory::works()) return;
  dataflux::detail::short_of_memory();
  bool enough = false;
  std::int64_t k = -1;
  while (!enough) {
    REQUIRE(++k < 500);
    INFO(k);
    world w;
    w.clock.post([&] { w.start(true); });
    REQUIRE(w.clock.run_one());
    {
      const short_memory now(k);
      // Its refusal, and the reads that follow begin.
      const bool ran = dataflux::detail::within_memory([&] { w.clock.run_one(); });
      enough = ran && !short_memory::felt();
    }
    const std::size_t good = w.ended();
    if (enough) CHECK(good == 3);
  }
}

}  // namespace get_batch_test
