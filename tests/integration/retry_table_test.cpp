#include <support/catch.hpp>
#include <support/retry_table.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

namespace retry_table_test {

using dataflux::errc;

namespace {

constexpr int most = 4;  // of quick_options()

/// How an outcome differs from what the table says; empty when it does not.
std::string compare(const fault_cell& cell, const cell_outcome& got, const expected_outcome& want) {
  const verb_driver& verb = *cell.verb;
  const auto& failure = got.verb.failure;
  const errc code = failure ? failure->code() : errc::ok;
  const auto says = [](std::string_view what, auto is, auto should_be) {
    return std::string(what) + " " + std::to_string(is) + " instead of " +
           std::to_string(should_be);
  };
  if (code != want.code) return std::string(to_string(want.code)) + " expected";
  if (!got.verb.wrong.empty()) return "wrong value";
  const auto attempts = failure ? failure->attempts() : static_cast<int>(got.requests);
  if (want.attempts != 0 && attempts != want.attempts) {
    return says("attempts", attempts, want.attempts);
  }
  if (got.looks != static_cast<unsigned>(want.looks)) return says("looks", got.looks, want.looks);
  const stage_state state = want.carried_out ? verb.after : stage_state::old_object;
  if (got.state != state) {
    return std::string(to_string(got.state)) + " where " + std::string(to_string(state)) +
           " should be";
  }
  const std::size_t writes =
      state == stage_state::new_object || state == stage_state::patched ? 1 : 0;
  if (got.writes != writes) return says("objects written", got.writes, writes);
  const bool opens = verb.verb == "multipart.initiate" || verb.verb == "resumable.start";
  const bool ends = verb.verb == "multipart.complete" || verb.verb == "multipart.abort" ||
                    verb.verb == "resumable.chunk" || verb.verb == "resumable.cancel";
  const int opened = (opens && !failure ? 1 : 0) - (ends && want.carried_out ? 1 : 0);
  if (got.opened != opened + want.left_open) {
    return says("uploads opened", got.opened, opened + want.left_open);
  }
  return {};
}

}  // namespace

TEST_CASE("retry table: a driver for each verb", "[integration]") {
  std::set<std::string_view> driven;
  for (const verb_driver& verb : verb_drivers()) {
    CAPTURE(verb.name());
    driven.insert(verb.verb);
    CHECK(dataflux::detail::gcs::find_repeat_rule(verb.verb) != nullptr);
  }
  for (const auto& rule : dataflux::detail::gcs::repeat_rules) {
    CAPTURE(rule.verb);
    CHECK(driven.count(rule.verb) == 1);
  }
}

TEST_CASE("retry table: attempts, outcome and what is stored are as it says", "[integration]") {
  std::vector<fault_cell> cells;
  std::vector<expected_outcome> wanted;
  for (const failure_column& failure : failure_columns()) {
    for (const bool lasting : {false, true}) {
      for (const verb_driver& verb : verb_drivers()) {
        cells.push_back(cell_of(verb, failure, lasting));
        wanted.push_back(expect(verb, failure, lasting, most));
      }
    }
  }
  CHECK(run_cells(cells, [&](const fault_cell& cell, const cell_outcome& got) {
          return compare(cell, got, wanted[static_cast<std::size_t>(&cell - cells.data())]);
        }) == "");
}

// DATAFLUX_WRITE_DOCS=1 writes it anew.
TEST_CASE("retry table: the document says the same", "[integration]") {
  const std::string path = DATAFLUX_DOCS "/retries.md";
  if (std::getenv("DATAFLUX_WRITE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << retry_document();
  }
  std::ifstream file(path, std::ios::binary);
  const std::string kept{std::istreambuf_iterator<char>(file), {}};
  INFO(
      "write it anew with DATAFLUX_WRITE_DOCS=1 build/dev/tests/integration "
      "\"retry table: the document says the same\"");
  const bool same = kept == retry_document();
  CHECK(same);
}

}  // namespace retry_table_test
