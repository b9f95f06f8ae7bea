#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/list/detail/range_splitter.hpp>

#include <support/catch.hpp>
#include <support/list_model.hpp>
#include <support/sanitized.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace range_splitter_test {

using dataflux::detail::list_action;
using dataflux::detail::name_range;
using dataflux::detail::range_splitter;
using dataflux::detail::range_splitter_options;

namespace {

/// The shapes of names that simulations go through.
constexpr std::string_view shapes = sanitized ? std::string_view("afjm") : all_shapes;

list_outcome listed(char shape, std::uint64_t size, std::uint64_t seed, std::uint32_t slots,
                    bool jitter = false) {
  const auto names = make_shape(shape, size, seed);
  call_cost cost;
  cost.jitter = jitter;
  cost.dice.seed(seed);
  return list_model(*names, slots, cost).run();
}

/// The first range's page brings the first 100 names.
void end_first_page(range_splitter& splitter, const name_shape& names) {
  std::vector<std::string> kept(100);
  for (std::uint64_t i = 0; i < kept.size(); ++i) names.name_at(i, kept[i]);
  const std::vector<std::string_view> views(kept.begin(), kept.end());
  splitter.page_ended(0, {.entries = views.size(), .names = views});
}

/// A coordinator that believes nothing, on names in memory, with replies in any order and pages of
/// any length. Throws what is wrong.
class distrustful_listing {
 public:
  distrustful_listing(const std::vector<std::string>& names, range_splitter_options options,
                      std::uint32_t seed)
      : options_(std::move(options)), random_(seed), splitter_(options_) {
    for (const std::string& name : names) {
      if (!options_.range.contains(name)) continue;
      const std::string entry(dataflux::detail::folded(name, options_.prefix, options_.delimiter));
      if (entries_.empty() || entries_.back() != entry) entries_.push_back(entry);
    }
    ranges_.push_back({options_.range, options_.range.start, 0, false, true});
  }

  /// All entries, in order.
  std::vector<std::string> run() {
    std::vector<std::string> all;
    for (act(); !in_flight_.empty(); act()) {
      const std::size_t which = random_() % in_flight_.size();
      const auto [id, is_probe] = in_flight_[which];
      in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(which));
      if (is_probe) {
        answer_probe(id);
      } else {
        answer(ranges_.at(id), id, all);
      }
    }
    std::vector<name_range> pieces;
    for (const range& r : ranges_) {
      if (r.open) throw std::logic_error("a range was forgotten");
      pieces.push_back(r.names);
    }
    if (auto ok = dataflux::detail::check_cover(options_.range, pieces); !ok) {
      throw std::logic_error(ok.error().to_string());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  const std::vector<std::string>& truth() const { return entries_; }
  std::size_t ranges() const { return ranges_.size(); }

 private:
  struct range {
    name_range names{};
    std::string position{};  // what comes next is not before it
    std::uint32_t asked{0};
    bool in_flight{false};
    bool open{true};
  };

  void act() {
    for (const list_action& a : splitter_.plan(options_.parallelism - in_flight_.size())) {
      if (a.what == list_action::kind::split) {
        range& left = ranges_.at(a.range);
        if (!left.open || a.id != ranges_.size() || a.at <= left.position ||
            !dataflux::detail::is_cut(left.names, a.at, options_.prefix, options_.delimiter)) {
          throw std::logic_error("a bad cut: " + a.at);
        }
        range right{{a.at, left.names.end}, a.at, 0, false, true};
        left.names.end = a.at;
        ranges_.push_back(std::move(right));
      } else {
        if (a.what != list_action::kind::page) {
          ask(a);
          continue;
        }
        range& r = ranges_.at(a.range);
        if (r.in_flight || !r.open || a.max_results < 1 || a.max_results > options_.page_size) {
          throw std::logic_error("a bad page");
        }
        r.in_flight = true;
        r.asked = a.max_results;
        in_flight_.emplace_back(a.range, false);
      }
    }
    if (in_flight_.size() > options_.parallelism) throw std::logic_error("more than the slots");
  }

  void ask(const list_action& a) {
    if (!options_.delimiter.empty() || !options_.folder_probes || a.id != probes_.size() ||
        a.max_results < 1 || a.max_results > options_.page_size ||
        !dataflux::detail::codec::is_valid_utf8(a.at) ||
        !dataflux::detail::codec::is_valid_utf8(a.until) ||
        !dataflux::detail::name_range{a.within, a.until}.contains(a.at)) {
      throw std::logic_error("a bad probe: " + a.at);
    }
    probes_.push_back(a);
    in_flight_.emplace_back(a.id, true);
  }

  /// What is there, or, at times, nothing at all, or what was there an hour ago.
  void answer_probe(std::uint32_t id) {
    const list_action& asked = probes_.at(id);
    std::vector<std::string> entries;
    bool more = random_() % 8 == 0;
    auto at = std::lower_bound(entries_.begin(), entries_.end(), asked.at);
    for (; !more && at != entries_.end() && at->starts_with(asked.within); ++at) {
      if (!asked.until.empty() && *at >= asked.until) break;
      const bool folders = asked.what == list_action::kind::probe;
      const std::string entry(dataflux::detail::folded(*at, asked.within, folders ? "/" : ""));
      if (entries.empty() || entries.back() != entry) {
        more = entries.size() == asked.max_results;
        if (!more) entries.push_back(random_() % 16 == 0 ? entry + "~/" : entry);
      }
    }
    std::sort(entries.begin(), entries.end());
    const std::vector<std::string_view> views(entries.begin(), entries.end());
    splitter_.probe_answered(id, {.entries = views, .more = more});
  }

  void answer(range& r, std::uint32_t id, std::vector<std::string>& all) {
    // Any page may be shorter than asked, even empty, and go on.
    const std::uint64_t most = random_() % 4 == 0 ? random_() % (r.asked + 1) : r.asked;
    auto at = std::lower_bound(entries_.begin(), entries_.end(), r.position);
    std::vector<std::string_view> names;
    const std::uint64_t first = all.size();
    while (at != entries_.end() && !r.names.ends_before(*at) && all.size() - first < most) {
      all.push_back(*at++);
    }
    const std::uint64_t count = all.size() - first;
    const bool more = at != entries_.end() && !r.names.ends_before(*at);
    const std::uint64_t stride = range_splitter::stride(count);
    for (std::uint64_t i = 0; i < count; i += stride) names.emplace_back(all[first + i]);
    if (count > 0 && (count - 1) % stride != 0) names.emplace_back(all.back());
    if (count > 0) r.position = dataflux::detail::successor(all.back());
    r.in_flight = false;
    r.open = more;
    splitter_.page_ended(id, {.entries = count, .names = names, .finished = !more});
  }

  range_splitter_options options_;
  std::mt19937 random_;
  range_splitter splitter_;
  std::vector<std::string> entries_{};
  std::vector<range> ranges_{};
  std::vector<std::pair<std::uint32_t, bool>> in_flight_{};  // of a range, or of a probe
  std::vector<list_action> probes_{};
};

std::vector<std::string> random_names(std::mt19937& random, std::size_t count) {
  static const std::vector<std::string> alphabet{
      "a", "b",   "c", "/", "0", "1", "9", "-", "\xC3\xA9", "\xE4\xB8\x80", "\xF0\x9F\x98\x80",
      "~", "\x01"};
  const std::size_t letters = 1 + random() % alphabet.size();
  const std::size_t length = 1 + random() % 12;
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name;
    for (std::size_t n = 1 + random() % length; n > 0; --n) name += alphabet[random() % letters];
    names.insert(name);
  }
  return {names.begin(), names.end()};
}

}  // namespace

TEST_CASE("range_splitter: begins with a whole page, and a peek at its first names", "[list]") {
  range_splitter splitter({.range = name_range::of_prefix("a/"), .prefix = "a/", .parallelism = 8});
  const auto actions = splitter.plan(8);
  REQUIRE(actions.size() == 2);
  CHECK(actions[0].what == list_action::kind::page);
  CHECK(actions[0].range == 0);
  CHECK(actions[0].max_results == 1000);
  CHECK(actions[1].what == list_action::kind::peek);
  CHECK(actions[1].max_results >= 1);
  CHECK(actions[1].max_results < 1000);
  CHECK(actions[1].at == "a/");
  CHECK(actions[1].until == "a0");
  CHECK(actions[1].within == "a/");
  CHECK(splitter.plan(6).empty());
}

TEST_CASE("range_splitter: no peek where it would see something else, or takes the only slot",
          "[list]") {
  const auto first = [](range_splitter_options options, std::size_t slots) {
    return range_splitter(std::move(options)).plan(slots).size();
  };
  CHECK(first({}, 48) == 2);
  CHECK(first({.folder_probes = false}, 48) == 1);
  CHECK(first({.prefix = "a", .delimiter = "/"}, 48) == 1);
  CHECK(first({}, 1) == 1);
  CHECK(range_splitter({}).plan(48, true).size() == 1);
}

TEST_CASE("range_splitter: a peek counts once, and for nothing behind the page", "[list]") {
  const std::vector<std::string_view> names{"a", "b", "c", "d"};
  const std::span<const std::string_view> all(names);
  range_splitter splitter({});
  REQUIRE(splitter.plan(48).size() == 2);
  SECTION("before the page") {
    splitter.probe_answered(0, {.entries = all.first(2), .more = true});
    CHECK(splitter.listed() == 2);
    splitter.page_ended(0, {.entries = 4, .names = all});
  }
  SECTION("behind it") {
    splitter.page_ended(0, {.entries = 4, .names = all});
    splitter.probe_answered(0, {.entries = all.first(2), .more = true});
  }
  SECTION("when it fails") {
    splitter.probe_answered(0, {.more = true});
    splitter.page_ended(0, {.entries = 4, .names = all});
  }
  CHECK(splitter.listed() == 4);
}

TEST_CASE("range_splitter: an empty listing is one page and a peek", "[list]") {
  range_splitter splitter({});
  REQUIRE(splitter.plan(48).size() == 2);
  splitter.page_ended(0, {.finished = true});
  splitter.probe_answered(0, {});
  CHECK(splitter.open_ranges() == 0);
  CHECK(splitter.plan(48).empty());
}

TEST_CASE("range_splitter: with one slot it is the plain scan", "[list]") {
  const list_outcome outcome = listed('b', 20000, 1, 1);
  CHECK(outcome.calls == 20);
  CHECK(outcome.empty == 0);
}

TEST_CASE("range_splitter: no slot, no action", "[list]") {
  range_splitter splitter({});
  CHECK(splitter.plan(0).empty());
  CHECK(splitter.plan(1).size() == 1);
}

TEST_CASE("range_splitter: every name of every shape is listed once", "[list]") {
  for (const char shape : shapes) {
    for (const std::uint64_t size : {1U, 99U, 1000U, 30000U}) {
      for (const std::uint32_t slots : {2U, 48U}) {
        CAPTURE(shape, size, slots);
        CHECK_NOTHROW(listed(shape, size, size + slots, slots, slots == 48));
      }
    }
  }
}

TEST_CASE("range_splitter: equal replies give equal calls", "[list]") {
  constexpr std::uint64_t size = sanitized ? 10'000 : 50'000;
  for (const char shape : {'a', 'f', 'j'}) {
    const list_outcome once = listed(shape, size, 3, 48, true);
    const list_outcome again = listed(shape, size, 3, 48, true);
    CAPTURE(shape);
    CHECK(once.calls == again.calls);
    CHECK(once.makespan == again.makespan);
    CHECK(once.busy == again.busy);
  }
}

TEST_CASE("range_splitter: small buckets are not slower than page after page", "[list]") {
  for (const char shape : shapes) {
    for (const std::uint64_t size : {1U, 50U, 100U, 250U}) {
      CAPTURE(shape, size);
      const list_outcome outcome = listed(shape, size, 2, 48);
      CHECK(outcome.makespan <= call_cost::sequential(size) + 1e-9);
      CHECK(outcome.calls == 2);  // a page and a peek
    }
    // What the page in flight brings behind a cut is not lost. 2 %: for one name more than a page
    // page after page needs a call that asks for one name.
    for (const std::uint64_t size : {300U, 500U, 999U, 1000U, 1001U, 1500U, 2000U, 3000U}) {
      CAPTURE(shape, size);
      CHECK(listed(shape, size, 2, 48).makespan <= call_cost::sequential(size) * 1.02);
    }
    CHECK(listed(shape, 5000, 2, 48).makespan < call_cost::sequential(5000));
  }
}

TEST_CASE("range_splitter: keeps many slots busy, whatever the names look like", "[list]") {
  for (const char shape : shapes) {
    CAPTURE(shape);
    const list_outcome outcome = listed(shape, 200000, 5, 48);
    CHECK(call_cost::sequential(200000) / outcome.makespan > 10);
    CHECK(outcome.calls < 5 * 200);
  }
}

TEST_CASE("range_splitter: calls_per_page bounds what a small bucket costs", "[list]") {
  for (const char shape : {'a', 'b', 'd', 'f'}) {
    const auto names = make_shape(shape, 5000, 1);
    CAPTURE(shape);
    CHECK(list_model(*names, 48, {}).run().calls <= 5 * (5 + 4));
  }
}

TEST_CASE("range_splitter: whatever comes back in whatever order, all is covered once", "[list]") {
  std::size_t ranges = 0;
  for (std::uint32_t seed = 1; seed <= (sanitized ? 100U : 400U); ++seed) {
    std::mt19937 random{seed};
    const auto names = random_names(random, random() % 3000);
    range_splitter_options options;
    options.parallelism = static_cast<std::uint32_t>(1 + random() % 60);
    options.page_size = static_cast<std::uint32_t>(1 + random() % (seed % 2 == 0 ? 20 : 1000));
    options.calls_per_page = seed % 3 == 0 ? 0 : 5;
    options.in_order = seed % 5 == 0;
    options.folder_probes = seed % 9 != 0;
    if (seed % 4 == 0) options.delimiter = seed % 8 == 0 ? "/" : "-";
    if (seed % 7 == 0) {
      options.prefix = "a";
      options.range = name_range::of_prefix("a");
    } else if (seed % 11 == 0) {
      options.range = {"a0", "\xE4\xB8\x80"};
    }
    CAPTURE(seed);
    distrustful_listing listing(names, options, seed);
    REQUIRE(listing.run() == listing.truth());
    ranges += listing.ranges();
  }
  CHECK(ranges > (sanitized ? 375U : 1500U));
}

TEST_CASE("range_splitter: asks for folders where that is allowed", "[list]") {
  const auto probes = [](const char shape) { return listed(shape, 200000, 1, 48).probes; };
  CHECK(probes('f') > 0);
  CHECK(probes('a') <= 1);  // for what may lie beside the only one
  CHECK(probes('d') == 0);
}

TEST_CASE("range_splitter: leftmost_only asks for nothing but the first open range", "[list]") {
  const auto names = make_shape('a', 100000, 1);
  range_splitter splitter({.parallelism = 8});
  REQUIRE(splitter.plan(8).size() == 2);
  end_first_page(splitter, *names);
  const auto actions = splitter.plan(8, true);
  REQUIRE(actions.size() == 1);
  CHECK(actions[0].range == 0);
  CHECK(actions[0].what == list_action::kind::page);
  CHECK(splitter.plan(7, true).empty());
  CHECK_FALSE(splitter.plan(7).empty());
}

TEST_CASE("range_splitter: foresees more than it has seen, and never less", "[list]") {
  const auto names = make_shape('d', 1000000, 1);
  range_splitter splitter({.parallelism = 48});
  CHECK(splitter.expected_total() == 0);
  REQUIRE(splitter.plan(48).size() == 2);
  end_first_page(splitter, *names);
  CHECK(splitter.listed() == 100);
  CHECK(splitter.expected_total() >= 100);
  CHECK(splitter.plan(48).size() > 1);
  CHECK(splitter.expected_total() > 150);
}

}  // namespace range_splitter_test
