#include <support/sanitized.hpp>

#include "fast_list_fixture.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string_view>

namespace fast_list_property_test {

using dataflux::fast_list_request;
using dataflux::fast_lister;
using dataflux::list_order;

// Random names, requests, faults and changes: what is listed is what was there all the time.

namespace {

using random_source = std::mt19937_64;

std::uint64_t below(random_source& random, std::uint64_t bound) { return random() % bound; }
bool one_in(random_source& random, std::uint64_t n) { return below(random, n) == 0; }

std::string random_code_point(random_source& random) {
  static const std::vector<std::string> all{"a",
                                            "b",
                                            "Z",
                                            "0",
                                            "9",
                                            "/",
                                            "~",
                                            "\x7f",
                                            "\xc2\x80",
                                            "\xc3\xa9",
                                            "\xdf\xbf",
                                            "\xe0\xa0\x80",
                                            "\xe4\xb8\xad",
                                            "\xed\x9f\xbf",
                                            "\xee\x80\x80",
                                            "\xef\xbf\xbd",
                                            "\xf0\x90\x80\x80",
                                            "\xf0\x9f\x98\x80",
                                            "\xf4\x8f\xbf\xbf"};
  return all[below(random, all.size())];
}

std::string random_name(random_source& random, int shape) {
  const auto digits = [&](std::uint64_t bound) { return std::to_string(below(random, bound)); };
  std::string name;
  switch (shape) {
    case 0:
      return "data/" + digits(100'000);
    case 1:
      do name += "ab/"[below(random, 3)];
      while (!one_in(random, 8));
      return name;
    case 2:
      return digits(5) + "/" + digits(4) + "/" + digits(30) + (one_in(random, 3) ? "/x" : "");
    case 3:
      do name += random_code_point(random);
      while (!one_in(random, 5));
      return name;
    case 4:
      return std::string(60, 'p') + digits(2'000);
    default:
      do name += static_cast<char>(' ' + below(random, 95));
      while (!one_in(random, 20));
      return name;
  }
}

std::vector<std::string> random_names(random_source& random) {
  const int shape = static_cast<int>(below(random, 6));
  const bool mixed = one_in(random, 5);
  std::set<std::string> names;
  for (auto left = below(random, one_in(random, 10) ? 1'500 : 300); left > 0; --left) {
    std::string name = random_name(random, mixed ? static_cast<int>(below(random, 6)) : shape);
    if (name != "." && name != "..") names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

fast_list_request random_request(random_source& random, const std::vector<std::string>& names) {
  fast_list_request r{.bucket = "bucket"};
  const auto some_name = [&] {
    return names.empty() ? std::string("x") : names[below(random, names.size())];
  };
  if (one_in(random, 3)) {
    const std::string name = some_name();
    r.prefix =
        dataflux::detail::well_formed_part(std::string_view(name).substr(0, below(random, 8)));
  }
  if (one_in(random, 4)) r.start_offset = some_name();
  if (one_in(random, 4)) r.end_offset = some_name();
  if (one_in(random, 3)) r.delimiter = one_in(random, 4) ? "a" : "/";
  r.include_trailing_delimiter = one_in(random, 2);
  r.filter.skip_markers = one_in(random, 2);
  if (one_in(random, 6)) r.filter.suffix = "1";
  if (one_in(random, 12)) r.filter.regex = "[a2/]";
  r.parallelism = static_cast<std::uint32_t>(below(random, 3) == 0 ? 0 : 1 + below(random, 40));
  r.page_size = static_cast<std::uint32_t>(1 + below(random, one_in(random, 2) ? 5 : 60));
  r.calls_per_page = one_in(random, 2) ? 0 : 5;
  r.order = one_in(random, 2) ? list_order::any : list_order::by_name;
  if (one_in(random, 3)) r.memory_cap = 1 + below(random, 200'000);
  return r;
}

/// What a service that has `names` lists for `r`, and what the filter leaves of it.
struct expectation {
  std::vector<std::string> objects;
  std::vector<std::string> prefixes;
};
expectation expected(const fast_list_request& r, const std::vector<std::string>& names) {
  expectation all;
  std::set<std::string> prefixes;
  for (const std::string& name : names) {
    if (!name.starts_with(r.prefix) || name < r.start_offset) continue;
    if (!r.end_offset.empty() && name >= r.end_offset) continue;
    const std::string shown(dataflux::detail::folded(name, r.prefix, r.delimiter));
    const bool folds = !r.delimiter.empty() && shown.ends_with(r.delimiter) &&
                       shown.size() >= r.prefix.size() + r.delimiter.size();
    if (folds) {
      prefixes.insert(shown);
      if (!r.include_trailing_delimiter || shown != name) continue;
    }
    if (r.filter.skip_markers && name.ends_with('/')) continue;  // all objects are empty here
    if (!name.ends_with(r.filter.suffix)) continue;
    if (!r.filter.regex.empty() && name.find_first_of("a2/") == std::string::npos) continue;
    all.objects.push_back(name);
  }
  all.prefixes.assign(prefixes.begin(), prefixes.end());
  return all;
}

/// A listing as it is given, by fast_list or by a stream.
struct outcome {
  std::vector<std::string> objects;
  std::vector<std::string> prefixes;
  dataflux::list_summary summary;
};

class simulation {
 public:
  explicit simulation(std::uint64_t seed)
      : random_(seed),
        inner_(clock_, {.rtt = std::chrono::milliseconds(100),
                        .jitter = one_in(random_, 2) ? 0.5 : 0.0,
                        .time_per_listed = std::chrono::milliseconds(1),
                        .seed = seed}),
        store_(inner_, [this](const dataflux::list_page_request&) { return draw_fault(); }) {
    inner_.create_bucket("bucket");
    names_ = random_names(random_);
    for (const std::string& name : names_) inner_.put("bucket", name, dataflux::bytes_view{});
    static constexpr std::uint64_t rates[]{0, 0, 20, 4};
    fault_rate_ = rates[below(random_, 4)];
    request_ = random_request(random_, names_);
    if (one_in(random_, 2)) plan_changes();
  }

  void check() {
    const outcome got = one_in(random_, 2) ? as_whole() : as_stream();
    const bool any = request_.order == list_order::any;
    const bool objects_ascend = std::adjacent_find(got.objects.begin(), got.objects.end(),
                                                   std::greater_equal<>{}) == got.objects.end();
    CHECK((any || objects_ascend));
    std::vector<std::string> objects = got.objects;
    std::vector<std::string> prefixes = got.prefixes;
    std::sort(objects.begin(), objects.end());
    std::sort(prefixes.begin(), prefixes.end());
    // What was there all the time, and that with everything that was there at some time.
    const expectation least = expected(request_, stable());
    const expectation most = expected(request_, ever());
    between(least.objects, objects, most.objects);
    between(least.prefixes, prefixes, most.prefixes);
    CHECK(got.summary.objects == got.objects.size());
    CHECK(got.summary.prefixes == got.prefixes.size());
    CHECK(got.summary.calls == store_.calls);
    CHECK(store_.in_flight == 0);
    const std::size_t most_calls = request_.parallelism == 0 ? 128 : request_.parallelism;
    CHECK(store_.peak_in_flight <= most_calls);
    CHECK(got.summary.missing.empty());
  }

 private:
  page_fault draw_fault() {
    if (fault_rate_ == 0 || !one_in(random_, fault_rate_)) return page_fault::none;
    return static_cast<page_fault>(1 + below(random_, 5));
  }

  void plan_changes() {
    for (auto left = 1 + below(random_, 60); left > 0; --left) {
      const bool made = one_in(random_, 2) || names_.empty();
      std::string name = made ? random_name(random_, static_cast<int>(below(random_, 6)))
                              : names_[below(random_, names_.size())];
      if (name == "." || name == "..") continue;
      changed_.insert(name);
      const auto when = clock_.now() + std::chrono::milliseconds(below(random_, 4'000));
      clock_.at(when, [this, made, name] {
        if (made) {
          inner_.put("bucket", name, dataflux::bytes_view{});
        } else {
          inner_.start_remove({.bucket = "bucket", .object = name}, [](auto) {});
        }
      });
    }
  }
  std::vector<std::string> stable() const {
    std::vector<std::string> names;
    std::set_difference(names_.begin(), names_.end(), changed_.begin(), changed_.end(),
                        std::back_inserter(names));
    return names;
  }
  std::vector<std::string> ever() const {
    std::vector<std::string> names;
    std::set_union(names_.begin(), names_.end(), changed_.begin(), changed_.end(),
                   std::back_inserter(names));
    return names;
  }

  outcome as_whole() {
    const auto cap = std::exchange(request_.memory_cap, 0);
    auto op = dataflux::submit_fast_list(store_, request_);
    request_.memory_cap = cap;
    clock_.run();
    REQUIRE(op.poll());
    auto all = op.take();
    INFO((all ? "" : all.error().to_string()));
    REQUIRE(all);
    request_.order = list_order::by_name;
    return {names_of(all->objects), all->prefixes, all->summary};
  }

  outcome as_stream() {
    fast_lister lister(store_, request_);
    const bool slow = one_in(random_, 3);
    outcome all;
    while (true) {
      auto op = lister.submit_next_page();
      while (!op.poll() && clock_.run_one()) {
      }
      if (!op.poll()) {
        lister.cancel();
        clock_.run();  // else `op` waits for ever
        FAIL("nothing is under way, and the listing has not ended");
      }
      auto page = op.take();
      INFO((page ? "" : page.error().to_string()));
      REQUIRE(page);
      if (!*page) break;
      for (auto& name : names_of((*page)->objects)) all.objects.push_back(std::move(name));
      for (auto& name : (*page)->prefixes) all.prefixes.push_back(std::move(name));
      if (slow) clock_.run_for(std::chrono::milliseconds(below(random_, 500)));
    }
    all.summary = lister.summary();
    clock_.run();
    return all;
  }

  static void between(const std::vector<std::string>& least, const std::vector<std::string>& got,
                      const std::vector<std::string>& most) {
    const bool unique = std::adjacent_find(got.begin(), got.end()) == got.end();
    CHECK(unique);
    const bool complete = std::includes(got.begin(), got.end(), least.begin(), least.end());
    CHECK(complete);
    const bool nothing_else = std::includes(most.begin(), most.end(), got.begin(), got.end());
    CHECK(nothing_else);
  }

  random_source random_;
  dataflux::virtual_scheduler clock_{};
  dataflux::memory_store inner_;
  scripted_store store_;
  std::vector<std::string> names_{};
  std::set<std::string> changed_{};
  std::uint64_t fault_rate_{0};
  fast_list_request request_{};
};

void simulate(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    INFO("seed " << seed);
    simulation(seed).check();
  }
}

}  // namespace

TEST_CASE("fast_list: what was there all the time is listed once, in 1500 fixtures", "[list]") {
  simulate(1, sanitized ? 200 : 1'500);
}

TEST_CASE("fast_list: what was there all the time is listed once, in 20000 fixtures",
          "[list][.full]") {
  simulate(100'000, 20'000);
}

}  // namespace fast_list_property_test
