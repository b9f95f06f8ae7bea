#include <c_api/harness.hpp>

#include <support/run_child.hpp>

#include <cstdint>
#include <string>

namespace c_api_fork_test {

// What a child of a fork does with handles of its parent fails at once, and takes no lock that a
// thread of the parent may have held.
#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes

using namespace c_api_test;

TEST_CASE("c_api: in the child of a fork each handle answers, and is freed", "[c_api]") {
  world w(2);
  w.fill(200);
  auto with_events = w.options();
  with_events.event_capacity = 10;
  w.client = world::make_client(with_events);
  const listing_ptr listing = w.list();
  told why;
  const queue_ptr queue = make_queue();
  dataflux_get_many_options many;
  dataflux_get_many_options_init(&many, sizeof many);
  many.bucket = "bkt";
  many.feed = 1;
  const auto object = world::object("o/000001");
  for (int round = 0; round < 100; ++round) {
    dataflux_getter* getter = nullptr;
    REQUIRE(dataflux_get_many(w.client.get(), &many, listing.get(), nullptr, 0, queue.get(), 7,
                              &getter, why) == DATAFLUX_OK);
    const getter_ptr items(getter);
    std::vector<std::uint64_t> rows(64);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    std::size_t taken = 0;
    REQUIRE(dataflux_getter_push_rows(getter, rows.data(), rows.size(), &taken, why) ==
            DATAFLUX_OK);
    dataflux_operation* op = nullptr;
    REQUIRE(dataflux_stat(w.client.get(), &object, queue.get(), 8, &op, why) == DATAFLUX_OK);
    const operation_ptr owner(op);
    dataflux_events* events = nullptr;
    REQUIRE(dataflux_client_events(w.client.get(), queue.get(), 9, &events, why) == DATAFLUX_OK);
    const events_ptr kept(events);
    const std::vector<dataflux_record> lent = next(queue, 4);
    const int in_child = run_child([&] {
      constexpr dataflux_status refused = DATAFLUX_FAILED_PRECONDITION;
      dataflux_record r{};
      std::size_t count = 0;
      dataflux_operation* none = nullptr;
      dataflux_getter* no_getter = nullptr;
      dataflux_events* no_events = nullptr;
      char* text = nullptr;
      const char* json = nullptr;
      if (dataflux_queue_next(queue.get(), &r, sizeof r, 1, -1, &count) != refused) return 1;
      if (dataflux_queue_fd(queue.get()) != -1) return 2;
      if (dataflux_queue_error(queue.get(), 1) != nullptr) return 3;
      if (dataflux_operation_wait(op, -1, nullptr) != refused) return 4;
      if (dataflux_operation_result(op, nullptr) != refused) return 5;
      if (dataflux_operation_json(op, &json, nullptr) != refused) return 6;
      if (dataflux_stat(w.client.get(), &object, nullptr, 0, &none, nullptr) != refused) return 7;
      if (dataflux_get(w.client.get(), &object, 0, UINT64_MAX, queue.get(), 8, &none, nullptr) !=
          refused) {
        return 15;
      }
      if (dataflux_client_metrics(w.client.get(), &text, nullptr) != refused) return 8;
      if (dataflux_client_prometheus(w.client.get(), &text, nullptr) != refused) return 13;
      if (dataflux_client_set_token(w.client.get(), "t", 0, nullptr) != refused) return 9;
      if (dataflux_client_fail_token(w.client.get(), DATAFLUX_ABORTED, "m", nullptr) != refused) {
        return 16;
      }
      std::int64_t expires = 0;
      if (dataflux_client_token(w.client.get(), &text, &expires, nullptr) != refused) return 17;
      if (dataflux_getter_push_rows(getter, rows.data(), 1, &taken, nullptr) != refused) return 10;
      if (dataflux_get_many(w.client.get(), &many, nullptr, nullptr, 0, queue.get(), 7, &no_getter,
                            nullptr) != refused) {
        return 11;
      }
      if (dataflux_listing_size(listing.get()) != 200) return 12;  // plain memory
      if (dataflux_client_events(w.client.get(), queue.get(), 9, &no_events, nullptr) != refused) {
        return 14;
      }
      dataflux_operation_cancel(op);
      dataflux_getter_cancel(getter);
      dataflux_getter_finish(getter);
      dataflux_queue_close(queue.get());
      dataflux_client_close(w.client.get());
      for (const auto& each : lent) dataflux_slabs_release(&each.slab, 1);
      dataflux_getter_free(getter);
      dataflux_operation_free(op);
      dataflux_events_free(events);
      dataflux_queue_free(queue.get());
      dataflux_client_free(w.client.get());
      return 0;
    });
    REQUIRE(in_child == 0);
    for (const auto& each : lent) {
      if (each.tag == 7) CHECK(bytes_of(each) == world::body_of(static_cast<int>(each.index)));
    }
    release(lent);
    // The parent goes on.
    dataflux_getter_finish(getter);
    for (bool ended = false; !ended;) {
      const auto records = next(queue);
      for (const auto& each : records) {
        CHECK(each.status == DATAFLUX_OK);
        if (each.tag == 7 && (each.flags & DATAFLUX_RECORD_END) != 0) ended = true;
      }
      release(records);
    }
  }
}

TEST_CASE("c_api: the child of a fork has a client of its own", "[c_api]") {
  world w;
  w.fill(20);
  const listing_ptr listing = w.list();
  CHECK(run_child([&] {
          const client_ptr client = w.make_client();
          const queue_ptr queue = make_queue();
          dataflux_get_many_options many;
          dataflux_get_many_options_init(&many, sizeof many);
          many.bucket = "bkt";
          dataflux_getter* getter = nullptr;
          if (dataflux_get_many(client.get(), &many, listing.get(), nullptr, 0, queue.get(), 7,
                                &getter, nullptr) != DATAFLUX_OK) {
            return 1;
          }
          int good = 0;
          for (;;) {
            const auto records = next(queue);
            for (const auto& r : records) {
              if ((r.flags & DATAFLUX_RECORD_END) != 0) {
                dataflux_getter_free(getter);
                return good == 20 ? 0 : 2;
              }
              good += bytes_of(r) == world::body_of(static_cast<int>(r.index)) ? 1 : 0;
            }
            release(records);
          }
        }) == 0);
}

#endif

}  // namespace c_api_fork_test
