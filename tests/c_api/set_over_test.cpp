#include <c_api/sets.hpp>

#include <support/run_child.hpp>

#include <cstdint>
#include <string>

namespace c_api_set_over_test {

using namespace c_api_test;

namespace {

/// The text of a new save.
std::string begin_over(const set_ptr& set) {
  return json_of(ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_set_begin_over(set.get(), queue, tag, op, err);
  }));
}
set_ptr over(const set_ptr& set, const std::string& text) {
  told why;
  dataflux_set* made = nullptr;
  const dataflux_status status = dataflux_set_over(set.get(), text.c_str(), &made, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  return set_ptr(made);
}
/// Saves one member; gives what the commit says.
std::string save_over(const set_ptr& set, std::string_view body) {
  const set_ptr mine = over(set, begin_over(set));
  return json_of(commit_set(mine, {save_member(mine, "rank-0", body)}));
}

}  // namespace

TEST_CASE("dataflux_set_over: one set is saved again and again", "[c_api]") {
  world w;
  const client_ptr other = w.make_client();
  const set_ptr set = make_set(w.client, "run/latest");
  // The first save finds no set.
  std::string made = save_over(set, "first");
  INFO(made);
  CHECK(has(made, R"("replaced":{"objects":0,)"));
  const set_reader_ptr old = take_set(open_set(set));
  CHECK(read_member(old, "rank-0") == "first");

  // By two processes, as it were: the text travels, and records come back.
  const std::string text = begin_over(set);
  CHECK(text.find('\n') == std::string::npos);
  set_ptr theirs = make_set(other, "run/latest");
  const set_ptr mine = over(set, text);
  const set_ptr yours = over(theirs, text);
  theirs.reset();
  const std::string records[]{save_member(mine, "rank-0", "second"),
                              save_member(yours, "rank-1", "and more")};
  CHECK(read_member(take_set(open_set(set)), "rank-0") == "first");
  dataflux_record r{};
  made = json_of(commit_set(yours, {records[0], records[1]}, nullptr, {}, DATAFLUX_OK, &r));
  INFO(made);
  CHECK(r.size == 14);
  CHECK(has(made, R"("members":2,"bytes":"14","replaced":{"objects":2,)"));
  CHECK(has(made, R"("failures":[],"spared":0}})"));

  const set_reader_ptr saved = take_set(open_set(set));
  CHECK(read_member(saved, "rank-0") == "second");
  CHECK(read_member(saved, "rank-1") == "and more");
  // The old one is gone, and says so.
  ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_set_reader_open(old.get(), "rank-0", nullptr, queue, tag, op, err);
      },
      DATAFLUX_NOT_FOUND);
  CHECK_FALSE(w.server.get("bkt", "run/latest/rank-0"));
}

TEST_CASE("dataflux_set_over: of several saves one is committed", "[c_api]") {
  world w;
  const set_ptr set = make_set(w.client, "run/latest");
  save_over(set, "zeroth");
  const set_ptr first = over(set, begin_over(set));
  const set_ptr second = over(set, begin_over(set));
  const std::string of_first = save_member(first, "rank-0", "first");
  const std::string of_second = save_member(second, "rank-0", "second");
  commit_set(second, {of_second});
  commit_set(first, {of_first}, nullptr, {}, DATAFLUX_ABORTED);
  CHECK(read_member(take_set(open_set(set)), "rank-0") == "second");

  // One whose set is removed meanwhile.
  const set_ptr late = over(set, begin_over(set));
  const std::string of_late = save_member(late, "rank-0", "late");
  const auto last = world::object("run/latest/.dataflux-complete");
  ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_remove(w.client.get(), &last, queue, tag, op, err);
  });
  commit_set(late, {of_late}, nullptr, {}, DATAFLUX_ABORTED);
  open_set(set, DATAFLUX_FAILED_PRECONDITION);
}

TEST_CASE("dataflux_set_over: a removal that fails is told by the commit", "[c_api]") {
  world w;
  const set_ptr set = make_set(w.client, "run/latest");
  save_over(set, "first");
  w.server.faults().add(
      {.verb = "objects.delete", .count = 0, .action = emulator::fault::refuse{403}});
  const std::string made = save_over(set, "second");
  INFO(made);
  CHECK(has(made, R"("replaced":{"objects":0,)"));
  CHECK(has(made, R"("failures":[{"name":"run/latest/.dataflux-save-)"));
  CHECK(has(made, "permission_denied"));
  w.server.faults().clear();
  CHECK(read_member(take_set(open_set(set)), "rank-0") == "second");
  // That and the second save's.
  CHECK(has(save_over(set, "third"), R"("replaced":{"objects":4,)"));
}

TEST_CASE("dataflux_set_over: bad input is answered", "[c_api]") {
  world w;
  told why;
  constexpr dataflux_status invalid = DATAFLUX_INVALID_ARGUMENT;
  const set_ptr set = make_set(w.client, "run");
  const queue_ptr queue = make_queue();
  dataflux_operation* op = nullptr;
  dataflux_set* made = nullptr;
  CHECK(dataflux_set_begin_over(nullptr, queue.get(), 1, &op, why) == invalid);
  CHECK(why.message() == "set is NULL");
  CHECK(dataflux_set_begin_over(set.get(), queue.get(), 1, nullptr, why) == invalid);
  CHECK(why.message() == "out is NULL");
  CHECK(dataflux_set_over(nullptr, "{}", &made, why) == invalid);
  CHECK(dataflux_set_over(set.get(), "{}", nullptr, why) == invalid);
  CHECK(dataflux_set_over(set.get(), nullptr, &made, why) == invalid);
  CHECK(why.message() == "text is NULL");
  const auto text_of = [](const char* version, const char* id) {
    return std::string(R"({"dataflux-save-over":)") + version + R"(,"id":")" + id +
           R"(","last":"","last_generation":"0","last_manifest":""})";
  };
  const std::string good = text_of("1", "0123456789abcdef");
  for (const std::string& bad :
       {std::string(), std::string("save"), std::string("{}"), good + good,
        text_of("1", "../../elsewhere/"), text_of("null", "0123456789abcdef")}) {
    INFO(bad);
    CHECK(dataflux_set_over(set.get(), bad.c_str(), &made, why) == invalid);
    CHECK(made == nullptr);
  }
  CHECK(dataflux_set_over(set.get(), text_of("2", "0123456789abcdef").c_str(), &made, why) ==
        DATAFLUX_UNIMPLEMENTED);
  CHECK(made == nullptr);
  const set_ptr mine = over(set, good);
  begin(mine, DATAFLUX_UNFINISHED_REFUSE, DATAFLUX_FAILED_PRECONDITION);
  CHECK(w.server.counters().of() == 0);

  // Another name than that of the last object which is there.
  commit_set(set, {save_member(set, "rank-0", "x")}, ".metadata");
  const set_ptr next = over(set, begin_over(set));
  commit_set(next, {save_member(next, "rank-0", "y")}, ".other", {}, invalid);
  CHECK(read_member(take_set(open_set(set)), "rank-0") == "x");
}

TEST_CASE("dataflux_set_over: cancelled, out of time, and with its client closed", "[c_api]") {
  world w;
  told why;
  auto short_lived = below("run");
  short_lived.timeout_ns = 20'000'000;
  dataflux_set* made = nullptr;
  REQUIRE(dataflux_set_create(w.client.get(), &short_lived, &made, why) == DATAFLUX_OK);
  const set_ptr hasty(made);
  const set_ptr set = make_set(w.client, "run");
  const std::string text = begin_over(set);
  const set_ptr mine = over(set, text);
  const std::string record = save_member(mine, "rank-0", "x");
  w.hold();
  ended([&](auto queue, auto tag, auto op,
            auto err) { return dataflux_set_begin_over(hasty.get(), queue, tag, op, err); },
        DATAFLUX_DEADLINE_EXCEEDED);
  // The time limit of the set is that of the save.
  commit_set(over(hasty, text), {record}, nullptr, {}, DATAFLUX_DEADLINE_EXCEEDED);
  const queue_ptr queue = make_queue();
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_set_begin_over(set.get(), queue.get(), 3, &op, why) == DATAFLUX_OK);
  const operation_ptr first(op);
  dataflux_operation_cancel(op);
  CHECK(next(queue)[0].status == DATAFLUX_CANCELLED);
  const char* json = nullptr;
  CHECK(dataflux_operation_json(op, &json, why) == DATAFLUX_CANCELLED);
  REQUIRE(dataflux_set_begin_over(set.get(), queue.get(), 4, &op, why) == DATAFLUX_OK);
  const operation_ptr second(op);
  dataflux_client_close(w.client.get());
  CHECK(next(queue)[0].status == DATAFLUX_CANCELLED);
  CHECK(dataflux_set_begin_over(set.get(), queue.get(), 5, &op, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(op == nullptr);
  const set_ptr late = over(set, text);
  CHECK(dataflux_set_open_member(late.get(), "rank-0", nullptr, queue.get(), 6, &op, why) ==
        DATAFLUX_FAILED_PRECONDITION);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes

TEST_CASE("dataflux_set_over: in the child of a fork it answers, and is freed", "[c_api]") {
  world w(2);
  const set_ptr set = make_set(w.client, "run");
  const std::string text = begin_over(set);
  const set_ptr mine = over(set, text);
  CHECK(run_child([&] {
          constexpr dataflux_status refused = DATAFLUX_FAILED_PRECONDITION;
          dataflux_operation* op = nullptr;
          dataflux_set* made = nullptr;
          if (dataflux_set_begin_over(set.get(), nullptr, 0, &op, nullptr) != refused) return 1;
          if (dataflux_set_over(set.get(), text.c_str(), &made, nullptr) != refused) return 2;
          if (made != nullptr) return 3;
          dataflux_set_free(mine.get());
          return 0;
        }) == 0);
  commit_set(mine, {save_member(mine, "rank-0", "x")});
}

#endif

}  // namespace c_api_set_over_test
