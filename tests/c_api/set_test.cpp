#include <c_api/sets.hpp>

#include <support/run_child.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace c_api_set_test {

using namespace c_api_test;

TEST_CASE("dataflux_set: what is saved is loaded", "[c_api]") {
  world w;
  const set_ptr set = make_set(w.client, "run/step-1");
  begin(set);
  const std::string large = world::body_of(1, 6'000'000);
  const std::vector<std::string> records{save_member(set, "rank-1", large),
                                         save_member(set, "rank-0/weights", "abc")};
  CHECK(has(records[1], R"("rank-0/weights")"));
  open_set(set, DATAFLUX_FAILED_PRECONDITION);
  dataflux_record r{};
  const operation_ptr done = commit_set(set, records, ".metadata", "index", DATAFLUX_OK, &r);
  CHECK(r.size == large.size() + 3);
  CHECK(r.generation > 0);
  const std::string made = json_of(done);
  INFO(made);
  CHECK(has(made, R"({"last":{"bucket":"bkt","name":"run/step-1/.metadata","size":"5")"));
  CHECK(has(made, R"("manifest":"run/step-1/.dataflux-set-)"));
  CHECK(has(made, R"("members":2,"bytes":")" + std::to_string(large.size() + 3) + '"'));
  CHECK(made.ends_with(
      R"("replaced":{"objects":0,"uploads":0,"bytes":"0","sets":[],"failures":[],"spared":0}})"));
  commit_set(set, records, ".metadata", "index", DATAFLUX_ALREADY_EXISTS);
  begin(set, DATAFLUX_UNFINISHED_REPLACE, DATAFLUX_ALREADY_EXISTS);

  const operation_ptr opened = open_set(set);
  const set_reader_ptr saved = take_set(opened);
  const std::string json = json_of(saved);
  INFO(json);
  CHECK(has(json, R"({"prefix":"run/step-1/","last":".metadata","committed":")"));
  CHECK(has(json, R"("members_folder":"run/step-1/",)"
                  R"("members":[{"name":"rank-0/weights","size":"3","generation":")"));
  CHECK(has(json, R"({"name":"rank-1","size":")" + std::to_string(large.size())));
  CHECK(read_member(saved, "rank-1") == large);
  CHECK(read_member(saved, "rank-0/weights") == "abc");
  CHECK(read_member(saved, ".metadata") == "index");
  ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_set_reader_open(saved.get(), "rank-2", nullptr, queue, tag, op, err);
      },
      DATAFLUX_NOT_FOUND);
  dataflux_set_reader* again = nullptr;
  told why;
  CHECK(dataflux_operation_take_set_reader(opened.get(), &again, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(dataflux_operation_take_set_reader(done.get(), &again, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(why.message() == "the operation gives no set");

  w.server.put("bkt", "run/step-1/rank-1", "overwritten");
  open_set(set, DATAFLUX_DATA_LOSS);
}

TEST_CASE("dataflux_set_begin: what an earlier save has left", "[c_api]") {
  world w;
  const set_ptr set = make_set(w.client, "run/step-1/");
  save_member(set, "rank-0", "abc");
  begin(set, DATAFLUX_UNFINISHED_REFUSE, DATAFLUX_ALREADY_EXISTS);
  const std::string json = json_of(begin(set, DATAFLUX_UNFINISHED_REPLACE));
  INFO(json);
  CHECK(has(json, R"({"objects":1,"uploads":0,"bytes":"3",)"));
  CHECK_FALSE(w.server.get("bkt", "run/step-1/rank-0"));
  begin(set);
}

TEST_CASE("dataflux_list_sets, dataflux_latest_set, dataflux_keep_last_sets, dataflux_remove_sets",
          "[c_api]") {
  world w;
  for (const char* prefix : {"run/step-1", "run/step-2", "run/step-3"}) save(w.client, prefix);
  save_member(make_set(w.client, "run/step-4"), "rank-0", "unfinished");
  const auto list = [&] {
    const auto o = below("run");
    return json_of(ended([&](auto queue, auto tag, auto op, auto err) {
      return dataflux_list_sets(w.client.get(), &o, queue, tag, op, err);
    }));
  };
  std::string json = list();
  INFO(json);
  CHECK(has(json, R"({"complete":[{"prefix":"run/step-1/","last":".dataflux-complete",)"));
  CHECK(has(json, R"("bytes":"10","members":1},{"prefix":"run/step-2/")"));
  CHECK(has(json, R"("damaged":[],"unfinished":[{"prefix":"run/step-4/","objects":1,)"));
  const auto below_run = below("run");
  const set_reader_ptr latest = take_set(ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_latest_set(w.client.get(), &below_run, queue, tag, op, err);
  }));
  CHECK(read_member(latest, "rank-0") == "run/step-3");

  dataflux_keep_last_options keep;
  dataflux_keep_last_options_init(&keep, sizeof keep);
  keep.bucket = "bkt";
  keep.prefix = "run";
  keep.count = 2;
  dataflux_record r{};
  json = json_of(ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_keep_last_sets(w.client.get(), &keep, queue, tag, op, err);
      },
      DATAFLUX_OK, &r));
  CHECK(r.size > 0);
  CHECK(has(json, R"("sets":["run/step-1/"],"failures":[],"spared":0})"));
  json = list();
  CHECK_FALSE(has(json, "run/step-1/"));
  CHECK(has(json, "run/step-2/"));
  CHECK(has(json, "run/step-4/"));

  w.server.put("bkt", "run/step-3/rank-0", "overwritten");
  const set_reader_ptr older = take_set(ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_latest_set(w.client.get(), &below_run, queue, tag, op, err);
  }));
  const char* known = nullptr;
  REQUIRE(dataflux_set_reader_json(older.get(), &known, nullptr) == DATAFLUX_OK);
  CHECK(has(known, R"({"prefix":"run/step-2/")"));
  CHECK(has(known, R"("passed_over":[{"prefix":"run/step-3/")"));
  w.server.put("bkt", "run/step-2/rank-0", "overwritten");
  CHECK(has(list(), R"("damaged":[{"prefix":"run/step-2/")"));
  ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_latest_set(w.client.get(), &below_run, queue, tag, op, err);
      },
      DATAFLUX_DATA_LOSS);
  json = json_of(ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_remove_sets(w.client.get(), &below_run, queue, tag, op, err);
  }));
  CHECK(has(json, R"("run/step-3/")"));
  CHECK(list() == R"({"complete":[],"damaged":[],"unfinished":[]})");
  ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_latest_set(w.client.get(), &below_run, queue, tag, op, err);
      },
      DATAFLUX_NOT_FOUND);
}

TEST_CASE("dataflux_set: bad input is answered", "[c_api]") {
  world w;
  told why;
  constexpr dataflux_status invalid = DATAFLUX_INVALID_ARGUMENT;
  auto o = below("run");
  dataflux_set* made = nullptr;
  dataflux_operation* op = nullptr;
  const auto client = w.client.get();
  CHECK(dataflux_set_create(nullptr, &o, &made, why) == invalid);
  CHECK(dataflux_set_create(client, &o, nullptr, why) == invalid);
  CHECK(dataflux_set_create(client, nullptr, &made, why) == invalid);
  CHECK(why.message() == "bucket is NULL");
  o.prefix = nullptr;
  CHECK(dataflux_set_create(client, &o, &made, why) == invalid);
  CHECK(dataflux_list_sets(client, &o, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_latest_set(client, &o, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_remove_sets(client, &o, nullptr, 0, &op, why) == invalid);
  CHECK(why.message() == "prefix is NULL");
  o = below("run");
  CHECK(dataflux_list_sets(nullptr, &o, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_latest_set(nullptr, &o, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_remove_sets(nullptr, &o, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_keep_last_sets(client, nullptr, nullptr, 0, &op, why) == invalid);
  o.struct_size = 2;
  CHECK(dataflux_set_create(client, &o, &made, why) == invalid);
  CHECK(made == nullptr);

  const set_ptr set = make_set(w.client, "run");
  CHECK(dataflux_set_begin(nullptr, 0, nullptr, 0, &op, why) == invalid);
  CHECK(why.message() == "set is NULL");
  CHECK(dataflux_set_begin(set.get(), 2, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_set_begin(set.get(), 0, nullptr, 0, nullptr, why) == invalid);
  CHECK(dataflux_set_open_member(nullptr, "m", nullptr, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_set_open_member(set.get(), nullptr, nullptr, nullptr, 0, &op, why) == invalid);
  const auto of_another = writer_of("o");
  CHECK(dataflux_set_open_member(set.get(), "m", &of_another, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_set_commit(nullptr, nullptr, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_set_open(nullptr, nullptr, nullptr, 0, &op, why) == invalid);
  dataflux_set_commit_options c;
  dataflux_set_commit_options_init(&c, sizeof c);
  c.record_count = 1;
  CHECK(dataflux_set_commit(set.get(), &c, nullptr, 0, &op, why) == invalid);
  CHECK(why.message() == "records is NULL");
  const char* texts[]{nullptr};
  c.records = texts;
  CHECK(dataflux_set_commit(set.get(), &c, nullptr, 0, &op, why) == invalid);
  texts[0] = "{}";
  CHECK(dataflux_set_commit(set.get(), &c, nullptr, 0, &op, why) == invalid);
  c.record_count = 0;
  c.size = 3;
  CHECK(dataflux_set_commit(set.get(), &c, nullptr, 0, &op, why) == invalid);
  CHECK(why.message() == "data is NULL");
  CHECK(op == nullptr);
  commit_set(set, {}, nullptr, {}, invalid);
  c.size = 0;
  c.kms_key_name = "a\nkey";
  ended([&](auto queue, auto tag, auto out,
            auto err) { return dataflux_set_commit(set.get(), &c, queue, tag, out, err); },
        invalid);
  ended(
      [&](auto queue, auto tag, auto out, auto err) {
        return dataflux_set_open_member(set.get(), "/absolute", nullptr, queue, tag, out, err);
      },
      invalid);
  CHECK(w.server.counters().of() == 0);

  char* text = nullptr;
  const operation_ptr begun = begin(set);
  CHECK(dataflux_set_record(nullptr, begun.get(), &text, why) == invalid);
  CHECK(dataflux_set_record(set.get(), nullptr, &text, why) == invalid);
  CHECK(dataflux_set_record(set.get(), begun.get(), nullptr, why) == invalid);
  CHECK(dataflux_set_record(set.get(), begun.get(), &text, why) == invalid);
  CHECK(why.message() == "the operation is no commit of a writer");
  // An object that is no member.
  const operation_ptr elsewhere = commit(make_writer(w.client, writer_of("o")));
  CHECK(dataflux_set_record(set.get(), elsewhere.get(), &text, why) == invalid);
  CHECK(text == nullptr);

  commit_set(set, {save_member(set, "m", "x")});
  const set_reader_ptr saved = take_set(open_set(set));
  const char* json = nullptr;
  CHECK(dataflux_set_reader_json(nullptr, &json, why) == invalid);
  CHECK(dataflux_set_reader_json(saved.get(), nullptr, why) == invalid);
  CHECK(dataflux_set_reader_open(nullptr, "m", nullptr, nullptr, 0, &op, why) == invalid);
  CHECK(dataflux_set_reader_open(saved.get(), nullptr, nullptr, nullptr, 0, &op, why) == invalid);
  dataflux_reader_options how;
  dataflux_reader_options_init(&how, sizeof how);
  how.generation = 5;
  CHECK(dataflux_set_reader_open(saved.get(), "m", &how, nullptr, 0, &op, why) == invalid);
  dataflux_set_reader* none = nullptr;
  CHECK(dataflux_operation_take_set_reader(nullptr, &none, why) == invalid);
  dataflux_set_free(nullptr);
  dataflux_set_reader_free(nullptr);
}

TEST_CASE("dataflux_set: cancelled, out of time, and with its client closed", "[c_api]") {
  world w;
  told why;
  const set_ptr set = make_set(w.client, "run");
  auto short_lived = below("run");
  short_lived.timeout_ns = 20'000'000;
  dataflux_set* made = nullptr;
  REQUIRE(dataflux_set_create(w.client.get(), &short_lived, &made, why) == DATAFLUX_OK);
  const set_ptr hasty(made);
  w.hold();
  open_set(hasty, DATAFLUX_DEADLINE_EXCEEDED);
  dataflux_operation* op = nullptr;
  REQUIRE(dataflux_set_open(set.get(), nullptr, nullptr, 0, &op, why) == DATAFLUX_OK);
  const operation_ptr first(op);
  dataflux_operation_cancel(op);
  REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
  CHECK(dataflux_operation_result(op, why) == DATAFLUX_CANCELLED);
  const queue_ptr queue = make_queue();
  REQUIRE(dataflux_set_begin(set.get(), 0, queue.get(), 3, nullptr, why) == DATAFLUX_OK);
  dataflux_client_close(w.client.get());
  CHECK(next(queue)[0].status == DATAFLUX_CANCELLED);
  CHECK(dataflux_set_begin(set.get(), 0, queue.get(), 3, nullptr, why) ==
        DATAFLUX_FAILED_PRECONDITION);
  CHECK(dataflux_set_open_member(set.get(), "m", nullptr, queue.get(), 3, nullptr, why) ==
        DATAFLUX_FAILED_PRECONDITION);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes

TEST_CASE("dataflux_set: in the child of a fork it answers, and is freed", "[c_api]") {
  world w(2);
  save(w.client, "run/step-1");
  const set_ptr set = make_set(w.client, "run/step-1");
  const set_reader_ptr saved = take_set(open_set(set));
  CHECK(run_child([&] {
          constexpr dataflux_status refused = DATAFLUX_FAILED_PRECONDITION;
          dataflux_operation* none = nullptr;
          const char* json = nullptr;
          if (dataflux_set_begin(set.get(), 0, nullptr, 0, &none, nullptr) != refused) return 1;
          if (dataflux_set_open(set.get(), nullptr, nullptr, 0, &none, nullptr) != refused)
            return 2;
          if (dataflux_set_reader_json(saved.get(), &json, nullptr) != refused) return 3;
          if (dataflux_set_reader_open(saved.get(), "rank-0", nullptr, nullptr, 0, &none,
                                       nullptr) != refused) {
            return 4;
          }
          dataflux_set_free(set.get());
          dataflux_set_reader_free(saved.get());
          return 0;
        }) == 0);
  CHECK(read_member(saved, "rank-0") == "run/step-1");
}

#endif

}  // namespace c_api_set_test
