#include <c_api/harness.hpp>

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace c_api_queue_test {

using namespace c_api_test;

namespace {

void begin_stat(const client_ptr& client, const queue_ptr& queue, const char* name,
                std::uint64_t tag) {
  told why;
  const auto o = world::object(name);
  REQUIRE(dataflux_stat(client.get(), &o, queue.get(), tag, nullptr, why) == DATAFLUX_OK);
}

bool readable(const queue_ptr& queue) {
  pollfd look{dataflux_queue_fd(queue.get()), POLLIN, 0};
  return ::poll(&look, 1, 0) == 1;
}

}  // namespace

TEST_CASE("dataflux_queue: bad input is answered", "[c_api]") {
  told why;
  CHECK(dataflux_queue_create(nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "out is NULL");
  CHECK(dataflux_queue_create(nullptr, nullptr) == DATAFLUX_INVALID_ARGUMENT);
  const queue_ptr queue = make_queue();
  dataflux_record r{};
  std::size_t count = 7;
  CHECK(dataflux_queue_next(nullptr, &r, sizeof r, 1, 0, &count) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(count == 0);
  CHECK(dataflux_queue_next(queue.get(), nullptr, sizeof r, 1, 0, &count) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_queue_next(queue.get(), &r, sizeof r, 0, 0, &count) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_queue_next(queue.get(), &r, sizeof r, 1, 0, nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_queue_next(queue.get(), &r, sizeof r - 8, 1, 0, &count) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_queue_next(queue.get(), &r, sizeof r, 1, 0, &count) == DATAFLUX_OK);
  CHECK(dataflux_queue_fd(nullptr) == -1);
  CHECK(dataflux_queue_error(nullptr, 1) == nullptr);
  CHECK(dataflux_queue_error(queue.get(), 1) == nullptr);
  dataflux_queue_close(nullptr);
  dataflux_queue_free(nullptr);
}

TEST_CASE("dataflux_queue: a call's record has its tag, and the descriptor tells of it",
          "[c_api]") {
  world w;
  w.server.put("bkt", "o", "0123456789");
  const queue_ptr queue = make_queue();
  CHECK_FALSE(readable(queue));
  begin_stat(w.client, queue, "o", 41);
  pollfd look{dataflux_queue_fd(queue.get()), POLLIN, 0};
  REQUIRE(::poll(&look, 1, 60'000) == 1);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].tag == 41);
  CHECK(records[0].size == 10);
  CHECK(records[0].status == DATAFLUX_OK);
  CHECK(records[0].flags == DATAFLUX_RECORD_END);
  CHECK(records[0].error == 0);
  CHECK(records[0].generation > 0);
  CHECK_FALSE(readable(queue));
  CHECK(next(queue, 64, 0).empty());
  CHECK(next(queue, 64, 1'000'000).empty());
}

TEST_CASE("dataflux_queue: errors are asked for by number", "[c_api]") {
  world w;
  const queue_ptr queue = make_queue();
  begin_stat(w.client, queue, "first", 1);
  const auto first = next(queue);
  begin_stat(w.client, queue, "second", 2);
  const auto second = next(queue);
  REQUIRE(first.size() + second.size() == 2);
  CHECK(first[0].status == DATAFLUX_NOT_FOUND);
  CHECK(first[0].error != 0);
  CHECK(first[0].error != second[0].error);
  const error_ptr e(dataflux_queue_error(queue.get(), first[0].error));
  REQUIRE(e != nullptr);
  CHECK(dataflux_error_status(e.get()) == DATAFLUX_NOT_FOUND);
  CHECK(std::string_view(dataflux_error_object(e.get())) == "first");
  CHECK(std::string_view(dataflux_error_bucket(e.get())) == "bkt");
  CHECK(std::string_view(dataflux_error_verb(e.get())) == "objects.get");
  CHECK(dataflux_error_http_status(e.get()) == 404);
  CHECK(dataflux_error_attempts(e.get()) == 1);
  CHECK(dataflux_error_retryable(e.get()) == 0);
  CHECK(dataflux_error_outcome_unknown(e.get()) == 0);
  CHECK(std::string(dataflux_error_text(e.get())).find("not_found") != std::string::npos);
  const error_ptr again(dataflux_queue_error(queue.get(), first[0].error));
  CHECK(again != nullptr);  // as often as one likes
  CHECK(dataflux_queue_error(queue.get(), second[0].error + 1) == nullptr);
  CHECK(dataflux_queue_error(queue.get(), 0) == nullptr);
}

TEST_CASE("dataflux_error: of a write that a 500 has answered nobody knows the outcome",
          "[c_api]") {
  world w;
  w.server.faults().add(
      {.verb = "objects.insert", .count = 0, .action = emulator::fault::refuse{500}});
  const queue_ptr queue = make_queue();
  auto o = world::object("o");
  // With this condition it is sent once.
  dataflux_conditions other;
  dataflux_conditions_init(&other, sizeof other);
  other.has = DATAFLUX_IF_GENERATION_NOT_MATCH;
  other.generation_not_match = 1;
  o.conditions = &other;
  told why;
  REQUIRE(dataflux_put(w.client.get(), &o, "12345", 5, nullptr, queue.get(), 1, nullptr, why) ==
          DATAFLUX_OK);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status != DATAFLUX_OK);
  const error_ptr e(dataflux_queue_error(queue.get(), records[0].error));
  CHECK(dataflux_error_outcome_unknown(e.get()) == 1);
  CHECK(dataflux_error_outcome_unknown(nullptr) == 0);
}

TEST_CASE("dataflux_queue: one queue serves many clients, few records at a time", "[c_api]") {
  world w;
  w.fill(40);
  const client_ptr other = w.make_client();
  const queue_ptr queue = make_queue();
  for (std::uint64_t i = 0; i < 40; ++i) {
    begin_stat(i % 2 == 0 ? w.client : other, queue, world::name_of(static_cast<int>(i)).c_str(),
               i);
  }
  std::vector<bool> seen(40);
  for (std::size_t n = 0; n < 40;) {
    const auto records = next(queue, 3);
    REQUIRE(records.size() <= 3);
    for (const auto& r : records) {
      CHECK_FALSE(seen.at(r.tag));
      seen.at(r.tag) = true;
      CHECK(r.status == DATAFLUX_OK);
    }
    n += records.size();
  }
  CHECK_FALSE(readable(queue));
}

TEST_CASE("dataflux_queue: records of a later version are longer, and 0 at their end", "[c_api]") {
  world w;
  w.server.put("bkt", "o", "12345");
  const queue_ptr queue = make_queue();
  begin_stat(w.client, queue, "o", 1);
  begin_stat(w.client, queue, "o", 2);
  struct later {
    dataflux_record known;
    std::uint64_t more[2];
  };
  std::array<later, 4> records{};
  std::size_t got = 0;
  while (got < 2) {
    for (auto& each : records) each.more[0] = each.more[1] = 99;
    std::size_t count = 0;
    REQUIRE(dataflux_queue_next(queue.get(), &records[0].known, sizeof(later), 4, -1, &count) ==
            DATAFLUX_OK);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(records[i].known.size == 5);
      CHECK(records[i].more[0] == 0);
      CHECK(records[i].more[1] == 0);
    }
    got += count;
  }
}

TEST_CASE("dataflux_queue: closing wakes those who wait, and all that comes later", "[c_api]") {
  world w;
  w.hold();
  queue_ptr queue = make_queue();
  begin_stat(w.client, queue, "o", 1);
  told why;
  const auto o = world::object("o");
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_stat(w.client.get(), &o, queue.get(), 2, &op, why) == DATAFLUX_OK);
  const operation_ptr owner(op);
  std::vector<std::thread> waiting;
  std::atomic<int> refused{0};
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      dataflux_record r{};
      std::size_t count = 0;
      if (dataflux_queue_next(queue.get(), &r, sizeof r, 1, -1, &count) ==
          DATAFLUX_FAILED_PRECONDITION) {
        ++refused;
      }
    });
  }
  dataflux_queue_close(queue.get());
  for (auto& each : waiting) each.join();
  CHECK(refused == 3);
  dataflux_queue_close(queue.get());
  CHECK(dataflux_stat(w.client.get(), &o, queue.get(), 3, nullptr, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(why.message() == "the queue was closed");
  // What has a handle goes on without it.
  CHECK(dataflux_operation_wait(op, 0, why) == DATAFLUX_DEADLINE_EXCEEDED);
  dataflux_operation_cancel(op);
  CHECK(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(op, why) == DATAFLUX_CANCELLED);
}

namespace {
void nothing(int) {}
}  // namespace

TEST_CASE("dataflux_queue: a signal ends the waiting", "[c_api]") {
  struct sigaction how {};
  struct sigaction before {};
  how.sa_handler = nothing;
  how.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR2, &how, &before);
  const queue_ptr queue = make_queue();
  std::atomic<bool> over{false};
  std::atomic<int> status{-1};
  std::thread waiting([&] {
    dataflux_record r{};
    std::size_t count = 0;
    status = dataflux_queue_next(queue.get(), &r, sizeof r, 1, -1, &count);
    over = true;
  });
  while (!over) {
    ::pthread_kill(waiting.native_handle(), SIGUSR2);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  waiting.join();
  CHECK(status == DATAFLUX_INTERRUPTED);
  ::sigaction(SIGUSR2, &before, nullptr);
}

}  // namespace c_api_queue_test
