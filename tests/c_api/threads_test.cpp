#include <c_api/harness.hpp>

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

namespace c_api_threads_test {

using namespace c_api_test;

namespace {

/// Random calls on handles that all threads share, and on some of its own.
void play(const world& w, const queue_ptr& shared, const listing_ptr& listing, unsigned seed,
          std::atomic<int>& wrong) {
  std::mt19937 dice(seed);
  queue_ptr own;
  dataflux_queue* made = nullptr;
  if (dataflux_queue_create(&made, nullptr) != DATAFLUX_OK) return static_cast<void>(++wrong);
  own.reset(made);
  std::vector<operation_ptr> under_way;
  std::vector<getter_ptr> streams;
  for (int i = 0; i < 60; ++i) {
    const queue_ptr& queue = dice() % 2 == 0 ? shared : own;
    const std::string name = world::name_of(static_cast<int>(dice() % 60));
    const auto o = world::object(name.c_str());
    switch (dice() % 6) {
      case 0: {
        dataflux_operation* op = nullptr;
        if (dataflux_stat(w.client.get(), &o, queue.get(), 1, &op, nullptr) != DATAFLUX_OK) ++wrong;
        under_way.emplace_back(op);
        break;
      }
      case 1: {
        dataflux_get_many_options many;
        dataflux_get_many_options_init(&many, sizeof many);
        many.bucket = "bkt";
        const std::uint64_t rows[]{dice() % 50, dice() % 50, dice() % 50};
        dataflux_getter* getter = nullptr;
        if (dataflux_get_many(w.client.get(), &many, listing.get(), rows, 3, queue.get(), 7,
                              &getter, nullptr) != DATAFLUX_OK) {
          ++wrong;
        }
        streams.emplace_back(getter);
        break;
      }
      case 2:
        if (!under_way.empty()) {
          const operation_ptr& op = under_way[dice() % under_way.size()];
          if (dice() % 2 == 0) dataflux_operation_cancel(op.get());
          if (dataflux_operation_wait(op.get(), 1'000'000, nullptr) == DATAFLUX_OK) {
            dataflux_operation_result(op.get(), nullptr);
          }
        }
        break;
      case 3:
        if (!streams.empty() && dice() % 2 == 0) {
          dataflux_getter_cancel(streams[dice() % streams.size()].get());
        } else if (!streams.empty()) {
          streams.pop_back();
        } else if (!under_way.empty()) {
          under_way.pop_back();
        }
        break;
      default: {
        std::array<dataflux_record, 8> records{};
        std::size_t count = 0;
        const dataflux_status status = dataflux_queue_next(
            queue.get(), records.data(), sizeof records[0], records.size(), 500'000, &count);
        if (status != DATAFLUX_OK) ++wrong;
        for (std::size_t k = 0; k < count; ++k) {
          const dataflux_record& r = records[k];
          if (r.data != nullptr && r.size < 2000) ++wrong;
          if (r.error != 0) dataflux_error_free(dataflux_queue_error(queue.get(), r.error));
          dataflux_slabs_release(&r.slab, 1);
        }
      }
    }
  }
}

/// Plays on `count` threads, with `meanwhile` beside them; gives how many calls went wrong.
template <class Meanwhile>
int play_all(const world& w, unsigned count, Meanwhile meanwhile) {
  const listing_ptr listing = w.list();
  const queue_ptr shared = make_queue();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t) {
    threads.emplace_back([&, t] { play(w, shared, listing, t, wrong); });
  }
  meanwhile();
  for (auto& each : threads) each.join();
  // What they left in the shared queue.
  for (auto records = next(shared, 64, 0); !records.empty(); records = next(shared, 64, 0)) {
    release(records);
  }
  return wrong;
}

}  // namespace

TEST_CASE("c_api: many threads on one client and one queue", "[c_api]") {
  world w(2);
  w.fill(50);
  CHECK(play_all(w, 64, [] {}) == 0);
}

TEST_CASE("c_api: a client that is closed while many threads use it", "[c_api]") {
  world w(2);
  w.fill(50);
  CHECK(play_all(w, 16, [&w] { dataflux_client_close(w.client.get()); }) > 0);
}

}  // namespace c_api_threads_test
