#include <dataflux/download/detail/get_queue.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>

#include <support/catch.hpp>
#include <support/short_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace get_queue_test {

using dataflux::borrowed_bytes;
using dataflux::got_item;
using dataflux::taken;
using dataflux::detail::get_event;
using dataflux::detail::get_queue;
using dataflux::detail::get_unit;
using dataflux::test::short_memory;

namespace {

constexpr std::size_t unit_count = 40;
constexpr std::size_t pieces_of_unit = 3;

/// Units of several pieces, ready to be handed out.
struct world {
  world() {
    for (std::size_t i = 0; i < unit_count; ++i) {
      get_unit& unit = *units.emplace_back(std::make_unique<get_unit>());
      unit.number = i;
      for (std::size_t n = 0; n < pieces_of_unit; ++n) {
        auto& piece = unit.pieces.emplace_back();
        piece.index = i * pieces_of_unit + n;
        piece.name = dataflux::object_name(std::string(40, 'n'));
      }
      batch.push_back(&unit);
    }
  }
  /// What is there, after all that happened before.
  void rest(std::vector<got_item>& all) {
    queue.put(batch);
    bool tell = false;
    while (queue.take(7, all, tell) == taken::some) {
    }
  }
  /// Each item once, in order, and each unit given back once.
  void check(const std::vector<got_item>& all) {
    REQUIRE(all.size() == unit_count * pieces_of_unit);
    for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i].index == i);
    std::vector<get_event> events;
    queue.events(events);
    std::vector<const get_unit*> back;
    for (const get_event& e : events) {
      if (e.what == get_event::kind::emptied) back.push_back(e.unit);
    }
    REQUIRE(back.size() == unit_count);
    for (std::size_t i = 0; i < unit_count; ++i) REQUIRE(back[i] == units[i].get());
  }

  dataflux::virtual_scheduler time{};
  std::vector<std::unique_ptr<get_unit>> units{};
  std::vector<get_unit*> batch{};
  get_queue queue{time, std::make_shared<borrowed_bytes::counter>(0), 1'000'000};
};

/// `act` with memory for 0, 1, ... allocations, until it is enough.
template <class Act>
void with_ever_more(Act act) {
  if (!short_memory::works()) return;
  bool enough = false;
  for (std::int64_t k = 0; !enough; ++k) {
    REQUIRE(k < 200);
    INFO(k);
    world w;
    std::vector<got_item> all;
    try {
      const short_memory now(k);
      act(w, all);
      enough = !short_memory::felt();
    } catch (const std::bad_alloc&) {
      enough = false;
    }
    w.rest(all);
    w.check(all);
  }
}

}  // namespace

TEST_CASE("get_queue: whichever allocation fails, each item is handed out once", "[download]") {
  with_ever_more([](world& w, std::vector<got_item>& all) {
    bool tell = false;
    w.queue.put(w.batch);
    while (w.queue.take(1'000, all, tell) == taken::some) {
    }
  });
}

TEST_CASE("get_queue: who waits gets what there is memory for, or a failure", "[download]") {
  with_ever_more([](world& w, std::vector<got_item>& all) {
    w.queue.wait(
        1'000,
        [&all](dataflux::result<std::vector<got_item>> some) {
          if (some) all = *std::move(some);
        },
        nullptr);
    w.queue.put(w.batch);
    w.queue.serve(1);
  });
}

}  // namespace get_queue_test
