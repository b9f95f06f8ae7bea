#include <s3/verb_rows.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

namespace s3_retry_table_test {
// Each cell of the tables of docs/retries-s3.md: what a failure of the first attempt, or of all,
// comes to; and what is there afterwards.
namespace {

using namespace std::chrono_literals;
namespace fault = emulator::fault;

using namespace s3_verbs;

constexpr int most = 4;  // attempts of the clients

struct failure {
  std::string_view name;
  std::string_view column;
  fault::action action;
};

fault::send answer(int status, std::string_view code) {
  return {.status = status,
          .body = "<Error><Code>" + std::string(code) + "</Code></Error>",
          .content_type = "application/xml"};
}

const std::vector<failure>& failures() {
  static const std::vector<failure> all{
      {"429", "429, SlowDown", fault::refuse{429}},
      {"SlowDown", "429, SlowDown", answer(503, "SlowDown")},
      {"RequestTimeout", "408, 5xx", answer(400, "RequestTimeout")},
      {"408", "408, 5xx", fault::refuse{408}},
      {"500", "408, 5xx", answer(500, "InternalError")},
      {"502", "408, 5xx", fault::refuse{502}},
      {"504", "408, 5xx", fault::refuse{504}},
      {"reset", "reset", fault::cut{}},
      {"truncated", "truncated",
       fault::cut{.where = fault::point::in_body, .body_bytes = 40, .reset = false}},
      {"stalled", "lost, stalled", fault::stall{}},
      {"lost", "lost, stalled", fault::lose_reply{}},
  };
  return all;
}

struct cell {
  const verb_row* row;
  const failure* why;
  bool lasting;
};

/// Attempts by the name of their verb.
class attempt_counter final : public dataflux::observer {
 public:
  void on_request(const dataflux::request_event& e) noexcept override {
    const std::scoped_lock lock(mutex_);
    ++attempts_[std::string{e.verb}];
  }
  int of(std::string_view verb) const {
    const std::scoped_lock lock(mutex_);
    const auto at = attempts_.find(verb);
    return at == attempts_.end() ? 0 : at->second;
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    attempts_.clear();
  }

 private:
  mutable std::mutex mutex_{};
  std::map<std::string, int, std::less<>> attempts_{};
};

/// An S3 for one thread.
struct world {
  emulator::server server{[] {
    auto options = s3_test::s3_server({});
    options.threads = 1;
    return options;
  }()};
  std::shared_ptr<s3::client> helper{client(30s, 300s)};
  int count{0};

  std::shared_ptr<s3::client> client(dataflux::duration patience, dataflux::duration all,
                                     dataflux::observer* observer = nullptr) const {
    auto options = s3_test::options_of(server);
    options.retry = {.max_attempts = most, .first = 1ms, .cap = 4ms};
    options.retry.max_elapsed = all;
    options.stall_timeout = options.first_byte_timeout = options.complete_timeout = patience;
    options.observer = observer;
    return s3::client::create(options).value();
  }
  int seen(std::string_view verb) const { return static_cast<int>(server.counters().of(verb)); }
  std::size_t open_uploads(const stage& s) const {
    return helper->run(dataflux::list_uploads_request{.bucket = s.bucket})->uploads.size();
  }
};

/// What is wrong with what is there, by what the caller was told; empty if nothing.
std::string check_state(const world& w, const stage& s, const verb_row& row,
                        const result<void>& made) {
  const bool fresh_name = row.when == condition::absent || row.on_wire.starts_with("multipart.");
  const std::string name = fresh_name ? "new" : "o";
  const auto there = w.server.get(s.bucket, name);
  const auto before = fresh_name ? decltype(there){} : decltype(there){old_bytes};
  const bool changed = there != before;
  if (row.what == effect::none) return changed ? "the object was changed" : "";
  const bool right = row.what == effect::makes ? there == new_bytes : !there;
  if (changed && !right) return "an object of other bytes";
  return made && !right ? "said to be done, and is not" : "";
}

/// The attempts of the verb itself, and how many HeadObject looked what had become of it.
struct sent_requests {
  int attempts{0};
  int looks{0};
};

/// `requests` and `heads`: what the service saw of the verb, and of HeadObject.
sent_requests count(const verb_row& row, const attempt_counter& made, int requests, int heads,
                    bool once_and_done) {
  if (row.verb == "HeadObject") return {once_and_done ? requests : made.of(row.verb), 0};
  const int looks = made.of("HeadObject");
  // What is no look is of the call itself: for a condition on a state, or a copy's source.
  const int own = made.of(row.verb) - (heads - looks);
  // A request on a connection that has ended since it was used before is sent again at once, within
  // its attempt.
  return {once_and_done ? requests : std::min(own, requests), looks};
}

std::string number(int attempts) {
  if (attempts == most) return "n";
  return attempts == most + 1 ? "n + 1" : std::to_string(attempts);
}

/// What a cell of the document says.
std::string run_cell(world& w, const cell& c) {
  const verb_row& row = *c.row;
  const bool stalls = std::holds_alternative<fault::stall>(c.why->action);
  const bool throttles = c.why->column == failures().front().column;
  attempt_counter made_attempts;
  const auto subject = w.client(stalls ? 600ms : 120'000ms,
                                throttles && c.lasting ? 20ms : 300'000ms, &made_attempts);
  w.server.faults().clear();
  stage s = set_stage(w.server, *w.helper, *subject, row, "cell-" + std::to_string(++w.count));
  auto action = c.why->action;
  if (auto* cut = std::get_if<fault::cut>(&action); cut != nullptr && cut->body_bytes != 0) {
    if (row.verb == "GetObject") cut->body_bytes = piece;
  }
  const auto open = w.open_uploads(s);
  const int requests = w.seen(row.on_wire);
  const int heads = w.seen("objects.get");
  made_attempts.clear();
  w.server.faults().add({.verb = std::string(row.on_wire),
                         .bucket = s.bucket,
                         .count = c.lasting ? 0U : 1U,
                         .action = action});
  const auto made = row.run(s, row.when);
  w.server.faults().clear();
  const auto sent = count(row, made_attempts, w.seen(row.on_wire) - requests,
                          w.seen("objects.get") - heads, made && !c.lasting);
  const std::string wrong = check_state(w, s, row, made);
  if (!wrong.empty()) return wrong + (made ? "" : ": " + made.error().to_string());
  const errc code = made ? errc::ok : made.error().code();
  std::string text = code == errc::resource_exhausted ? "t" : number(sent.attempts);
  if (row.verb == "GetObject" && c.lasting && made) text = "one a piece";
  if (sent.looks != 0) text += " + look";
  if (code != errc::ok) text += ", " + std::string(to_string(code));
  if (row.verb == "CreateMultipartUpload" && w.open_uploads(s) > open + (made ? 1 : 0)) {
    text += " (!)";
  }
  return text;
}

std::string_view text_of(const verb_row& row) {
  const auto* const rule = std::find_if(std::begin(dataflux::detail::s3::repeat_rules),
                                        std::end(dataflux::detail::s3::repeat_rules),
                                        [&](const auto& each) { return each.verb == row.verb; });
  switch (row.when) {
    case condition::absent:
      return "if_generation_match = 0";
    case condition::state:
      return "if_generation_match";
    case condition::last_writer:
      return "none, last_writer_wins";
    default:
      return rule->safe == dataflux::detail::s3::repeat_condition::always ? "" : "none";
  }
}

/// Both tables, as the page has them.
std::vector<std::string> play_all() {
  std::vector<cell> cells;
  for (const bool lasting : {false, true}) {
    for (const verb_row& row : rows) {
      for (const failure& why : failures()) cells.push_back({&row, &why, lasting});
    }
  }
  std::vector<std::string> told(cells.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      world mine;
      for (std::size_t at = next++; at < cells.size(); at = next++) {
        told[at] = run_cell(mine, cells[at]);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  return told;
}

/// The cells of one column, which are equal, or told apart.
std::string one_text(const std::vector<std::string>& all) {
  std::string text = all.front();
  for (const std::string& each : all) {
    if (each != all.front()) text += " OR " + each;
  }
  return text;
}

std::string table(const std::vector<std::string>& told, std::size_t first) {
  std::string out = "| verb | precondition |";
  std::string rule = "|---|---|";
  std::vector<std::string_view> columns;
  for (const failure& each : failures()) {
    if (!columns.empty() && columns.back() == each.column) continue;
    columns.push_back(each.column);
    out.append(" ").append(each.column).append(" |");
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  const std::size_t width = failures().size();
  for (std::size_t r = 0; r < std::size(rows); ++r) {
    out.append("| ").append(rows[r].verb).append(" | ").append(text_of(rows[r])).append(" |");
    const bool has_document = !rows[r].verb.starts_with("Head");
    for (const std::string_view column : columns) {
      std::vector<std::string> same;
      for (std::size_t k = 0; k < width; ++k) {
        const bool by_document_alone = failures()[k].name == "RequestTimeout";
        if (by_document_alone && !has_document) continue;
        if (failures()[k].column == column) same.push_back(told[first + r * width + k]);
      }
      out.append(" ").append(one_text(same)).append(" |");
    }
    out += "\n";
  }
  return out;
}

/// Between these lines the page has what is played.
constexpr std::string_view begins[] = {"## When the first attempt fails\n\n",
                                       "## When every attempt fails in that way\n\n"};

std::string page_with(std::string page, const std::string& first, const std::string& second) {
  const std::string* const tables[] = {&first, &second};
  for (int i = 0; i < 2; ++i) {
    const std::size_t at = page.find(begins[i]);
    if (at == std::string::npos) return "the page lacks its headings";
    const std::size_t from = at + begins[i].size();
    std::size_t end = from;
    while (end < page.size() && page[end] == '|') end = page.find('\n', end) + 1;
    page.replace(from, end - from, *tables[i]);
  }
  return page;
}

}  // namespace

TEST_CASE("s3 retry table: a row for each verb", "[s3]") {
  std::set<std::string_view> played{"UploadPartCopy"};  // joins of objects play it
  for (const verb_row& row : rows) played.insert(row.verb);
  for (const auto& rule : dataflux::detail::s3::repeat_rules) {
    CAPTURE(rule.verb);
    CHECK(played.count(rule.verb) == 1);
  }
}

// DATAFLUX_WRITE_DOCS=1 writes the tables anew: read what has changed.
TEST_CASE("s3 retry table: each cell is as the document says", "[s3]") {
  const std::string path = DATAFLUX_DOCS "/retries-s3.md";
  std::ifstream file(path, std::ios::binary);
  const std::string kept{std::istreambuf_iterator<char>(file), {}};
  std::string now;
  // On a busy machine time limits pass that the fault has nothing to do with.
  for (int attempt = 0; attempt < 2 && now != kept; ++attempt) {
    const auto told = play_all();
    now = page_with(kept, table(told, 0), table(told, told.size() / 2));
  }
  if (std::getenv("DATAFLUX_WRITE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << now;
  }
  INFO(now);
  CHECK(now.find(" OR ") == std::string::npos);
  const bool same = kept == now;
  CHECK(same);
}

}  // namespace s3_retry_table_test
