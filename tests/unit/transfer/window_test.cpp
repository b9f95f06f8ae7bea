#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/transfer/detail/window.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

namespace window_test {

using namespace std::chrono_literals;
using dataflux::duration;
using dataflux::time_point;
using dataflux::virtual_scheduler;
using dataflux::detail::read_budget;
using dataflux::detail::read_window;
using dataflux::detail::read_window_options;
using dataflux::detail::window_fit;
using dataflux::detail::window_step;
using kind = dataflux::detail::window_step::kind;

namespace {

constexpr time_point start{100s};

/// All that a window wants to start now, each item of `bytes`; gives the number of starts.
int start_all(read_window& window, std::optional<std::uint64_t> bytes) {
  int started = 0;
  for (;;) {
    const window_step s = window.next();
    if (s.what == kind::none) return started;
    if (s.what == kind::pull) window.add(bytes);
    if (s.what == kind::start) ++started;
    if (s.what == kind::revoke) window.released(s.item);
  }
}

/// The owner of a window, and a network: items are read with some delay, an item by parts once it
/// has got them all, and handed out in order.
class stream {
 public:
  struct source_item {
    std::uint64_t bytes;
    bool known;
  };
  using delays = std::function<duration()>;

  stream(virtual_scheduler& clock, read_budget& budget, std::vector<source_item> source,
         delays delay, read_window_options options = {}, int connections = 1'000'000,
         std::uint64_t most_whole = 1'000'000)
      : clock_(clock),
        budget_(budget),
        source_(std::move(source)),
        delay_(std::move(delay)),
        connections_(connections),
        most_whole_(most_whole),
        window_(
            budget, [this] { clock_.post([this] { advance(); }); }, options) {}

  read_window& window() { return window_; }
  std::uint64_t handed_out() const { return next_out_; }
  bool done() const { return next_out_ == source_.size(); }
  duration waited() const { return waited_; }
  int too_large() const { return too_large_; }
  int parts() const { return parts_; }

  /// Calls `then` once the next item is there and taken; its memory is returned at once.
  void take(std::function<void()> then) {
    then_ = std::move(then);
    asked_at_ = clock_.now();
    window_.asked(clock_.now(), ready_.count(next_out_) != 0);
    advance();
    hand_out();
  }
  void advance() {
    for (;;) {
      const window_step s = window_.next(in_flight_ < connections_);
      if (budget_.held() > budget_.cap()) throw std::logic_error("above the cap");
      switch (s.what) {
        case kind::none:
          return;
        case kind::pull:
          pull();
          break;
        case kind::start:
          begin(s.item, s.bytes);
          break;
        case kind::more:
          ++parts_;
          parts_of_.at(s.item) += s.bytes;
          end(s.item);
          break;
        case kind::too_large:
          ++too_large_;
          ready_[s.item] = true;
          hand_out();
          break;
        case kind::revoke:
          drop(s.item);
          break;
      }
    }
  }

 private:
  void pull() {
    if (pulled_ == source_.size()) return window_.finish();
    const source_item& item = source_[pulled_];
    const std::uint64_t id =
        window_.add(item.known ? std::optional(item.bytes) : std::optional<std::uint64_t>(),
                    item.known && item.bytes > most_whole_);
    if (id != pulled_++) throw std::logic_error("a number that is not the next");
  }
  void begin(std::uint64_t item, std::uint64_t bytes) {
    if (reads_.count(item) != 0 || ready_.count(item) != 0) throw std::logic_error("read twice");
    ++in_flight_;
    parts_of_[item] = bytes;
    const std::uint64_t attempt = reads_[item] = ++attempts_;
    clock_.at(clock_.now() + delay_() / 2, [this, item, attempt] { head(item, attempt); });
  }
  bool current(std::uint64_t item, std::uint64_t attempt) {
    const auto i = reads_.find(item);
    return i != reads_.end() && i->second == attempt;
  }
  void head(std::uint64_t item, std::uint64_t attempt) {
    if (!current(item, attempt)) return;
    if (!source_[item].known) {
      const std::uint64_t bytes = source_[item].bytes;
      switch (window_.sized(item, bytes, bytes > most_whole_)) {
        case window_fit::fits:
          break;
        case window_fit::later:
          return drop(item);
        case window_fit::too_large:
          ++too_large_;
          reads_.erase(item);
          --in_flight_;
          ready_[item] = true;
          advance();
          return hand_out();
      }
      source_[item].known = true;
      parts_of_[item] = window_.held_by(item);
    }
    headed_[item] = attempt;
    end(item);
  }
  void end(std::uint64_t item) {
    if (headed_.count(item) == 0 || parts_of_.at(item) < source_[item].bytes) return;
    const std::uint64_t attempt = headed_[item];
    headed_.erase(item);
    const duration rest = delay_() / 2;
    clock_.at(clock_.now() + rest, [this, item, attempt, rest] {
      if (!current(item, attempt)) return;
      reads_.erase(item);
      --in_flight_;
      ready_[item] = true;
      window_.arrived(item, 2 * rest);
      advance();
      hand_out();
    });
  }
  void drop(std::uint64_t item) {
    in_flight_ -= static_cast<int>(reads_.erase(item));
    ready_.erase(item);
    headed_.erase(item);
    clock_.at(clock_.now() + 1ms, [this, item] {
      window_.released(item);
      advance();
    });
  }
  void hand_out() {
    if (!then_ || ready_.erase(next_out_) == 0) return;
    waited_ += clock_.now() - asked_at_;
    window_.taken(next_out_++, clock_.now());
    advance();
    std::exchange(then_, nullptr)();
  }

  virtual_scheduler& clock_;
  read_budget& budget_;
  std::vector<source_item> source_;
  delays delay_;
  int connections_;
  std::uint64_t most_whole_;  ///< larger items are read by parts
  std::uint64_t pulled_{0};
  std::uint64_t next_out_{0};
  std::uint64_t attempts_{0};
  int in_flight_{0};
  int too_large_{0};
  int parts_{0};                                     // but the first of each item
  std::map<std::uint64_t, std::uint64_t> reads_{};   // item to attempt
  std::map<std::uint64_t, std::uint64_t> headed_{};  // the same: whose first bytes are there
  std::map<std::uint64_t, std::uint64_t> parts_of_{};
  std::map<std::uint64_t, bool> ready_{};
  std::function<void()> then_{};
  time_point asked_at_{};
  duration waited_{0};
  read_window window_;
};

stream::delays always(duration d) {
  return [d] { return d; };
}

/// Takes everything, with `think` between two items.
void consume(virtual_scheduler& clock, stream& s, duration think) {
  std::function<void()> again = [&] {
    if (s.done()) return;
    clock.at(clock.now() + think, [&] { s.take(again); });
  };
  s.take(again);
  clock.run();
}

}  // namespace

TEST_CASE("read_window: starts in order as far as the budget goes", "[transfer]") {
  read_budget budget(100);
  read_window window(budget, {});
  for (const std::uint64_t bytes : {40U, 30U, 50U, 10U}) window.add(bytes);
  for (std::uint64_t item = 0; item < 2; ++item) {
    const window_step s = window.next();
    CHECK(s.what == kind::start);
    CHECK(s.item == item);
  }
  CHECK(window.next().what == kind::none);  // 10 would fit, but it is not its turn
  CHECK(budget.held() == 70);
  window.arrived(0, 1ms);
  window.taken(0, start);
  CHECK(budget.held() == 30);
  CHECK(window.next().item == 2);
  CHECK(window.next().item == 3);
  CHECK(budget.held() == 90);
}

TEST_CASE("read_window: pulls from its source one by one, until it is finished", "[transfer]") {
  read_budget budget(100);
  read_window window(budget, {});
  CHECK(window.next(false).what == kind::none);
  CHECK(window.next().what == kind::pull);
  CHECK(window.add(10) == 0);
  CHECK(window.next().what == kind::start);
  CHECK(window.next().what == kind::pull);
  window.finish();
  CHECK(window.next().what == kind::none);
  CHECK_FALSE(window.drained());
  window.arrived(0, 1ms);
  window.taken(0, start);
  CHECK(window.drained());
}

TEST_CASE("read_window: no more items ahead than the option allows", "[transfer]") {
  read_budget budget(1'000);
  read_window window(budget, {}, {.max_items = 3});
  CHECK(start_all(window, 1) == 3);
  CHECK(window.ahead() == 3);
}

TEST_CASE("read_window: no more bytes ahead than are of use, but for two items", "[transfer]") {
  read_budget budget(1'000);
  read_window window(budget, {});
  window.set_most_ahead(25);
  CHECK(start_all(window, 10) == 3);
  window.arrived(0, 1ms);
  window.taken(0, start);
  CHECK(start_all(window, 10) == 1);
  read_budget other(1'000);
  read_window large(other, {});
  large.set_most_ahead(25);
  CHECK(start_all(large, 100) == 2);
  large.set_most_ahead(1'000);
  CHECK(start_all(large, 100) == 8);
}

TEST_CASE("read_window: of unknown size a guess is set aside", "[transfer]") {
  read_budget budget(1'000);
  read_window window(budget, {}, {.first_guess = 100});
  window.add(std::nullopt);
  CHECK(window.next().bytes == 100);
  CHECK(window.sized(0, 30) == window_fit::fits);
  CHECK(budget.held() == 30);
  window.add(std::nullopt);
  CHECK(window.next().bytes == 99);  // forgotten slowly
  CHECK(window.sized(1, 400) == window_fit::fits);
  CHECK(budget.held() == 430);
  window.add(std::nullopt);
  CHECK(window.next().bytes == 400);
  CHECK(window.sized(2, 571) == window_fit::later);
  CHECK(budget.held() == 830);
  window.released(2);
  CHECK(budget.held() == 430);
  CHECK(window.next().what == kind::none);
  window.arrived(0, 1ms);
  window.taken(0, start);
  const window_step again = window.next();
  CHECK(again.what == kind::start);
  CHECK(again.item == 2);
  CHECK(again.bytes == 571);
  CHECK(window.sized(2, 571) == window_fit::fits);
}

TEST_CASE("read_window: what is larger than the cap is said to be, and keeps its place",
          "[transfer]") {
  read_budget budget(100);
  read_window window(budget, {}, {.first_guess = 10});
  window.add(101);
  window.add(std::nullopt);
  window.add(100);
  const window_step s = window.next();
  CHECK(s.what == kind::too_large);
  CHECK(s.item == 0);
  CHECK(s.bytes == 101);
  CHECK(window.next().item == 1);
  CHECK(window.sized(1, 1'000) == window_fit::too_large);
  CHECK(budget.held() == 0);
  const window_step whole = window.next();  // exactly the cap, and nothing else is held
  CHECK(whole.what == kind::start);
  CHECK(whole.item == 2);
  window.taken(0, start);
  window.taken(1, start);
}

TEST_CASE("read_window: a failed item holds nothing and keeps its place", "[transfer]") {
  read_budget budget(100);
  read_window window(budget, {});
  window.add(100);
  window.add(50);
  CHECK(window.next().what == kind::start);
  window.failed(0);
  CHECK(budget.held() == 0);
  CHECK(window.next().item == 1);
  window.taken(0, start);
  CHECK(window.ahead() == 1);
}

TEST_CASE("read_window: items may be taken as they become ready", "[transfer]") {
  read_budget budget(30);
  read_window window(budget, {}, {.max_items = 3});
  CHECK(start_all(window, 10) == 3);
  window.arrived(1, 1ms);
  window.asked(start, true);
  window.taken(1, start);
  CHECK(start_all(window, 10) == 1);
  CHECK(budget.held() == 30);
  window.arrived(0, 1ms);
  window.taken(0, start);
  CHECK(start_all(window, 10) == 1);
}

TEST_CASE("read_window: a large item begins with what room there is", "[transfer]") {
  read_budget budget(256);
  read_window window(budget, {});
  for (const std::uint64_t bytes : {150U, 150U, 30U}) window.add(bytes, bytes > 64);
  CHECK(window.next().bytes == 150);
  const window_step part = window.next();
  CHECK(part.what == kind::start);
  CHECK(part.item == 1);
  CHECK(part.bytes == 106);
  CHECK(window.next().what == kind::none);  // nothing behind it before it has the rest
  window.arrived(0, 1ms);
  window.taken(0, start);
  const window_step rest = window.next(false);  // without a connection of its own
  CHECK(rest.what == kind::more);
  CHECK(rest.item == 1);
  CHECK(rest.bytes == 44);
  CHECK(window.held_by(1) == 150);
  CHECK(window.next().item == 2);
  CHECK(budget.held() == 180);
}

TEST_CASE("read_window: what is small is read whole, and no part is a trifle", "[transfer]") {
  read_budget budget(320);
  read_window window(budget, {});
  for (const std::uint64_t bytes : {250U, 80U, 311U}) window.add(bytes, bytes > 80);
  CHECK(window.next().bytes == 250);
  CHECK(window.next().what == kind::none);  // 70 of 80
  window.arrived(0, 1ms);
  window.taken(0, start);
  CHECK(window.next().bytes == 80);
  CHECK(window.next().bytes == 240);
  read_window other(budget, {});
  other.add(100, true);
  CHECK(other.next().what == kind::none);
  window.arrived(1, 1ms);
  window.taken(1, start);
  CHECK(window.next().bytes == 71);
  CHECK(other.next().what == kind::none);  // 9 of 100, and parts are 10 at least
}

TEST_CASE("read_window: of two that wait with a part each the first in line gets the other's",
          "[transfer]") {
  read_budget budget(100);
  read_window one(budget, {});
  read_window other(budget, {});
  {
    read_window third(budget, {});
    third.add(40);
    CHECK(third.next().what == kind::start);
    one.add(90, true);
    CHECK(one.next().bytes == 60);
    third.arrived(0, 1ms);
    third.taken(0, start);
  }
  other.add(80, true);
  CHECK(other.next().bytes == 40);
  one.asked(start, false);
  other.asked(start, false);
  CHECK(one.next().what == kind::none);
  const window_step s = other.next(false);
  CHECK(s.what == kind::revoke);
  CHECK(s.item == 0);
  other.released(0);
  CHECK(other.next().what == kind::none);
  CHECK(one.next().bytes == 30);
  one.arrived(0, 1ms);
  one.taken(0, start);
  CHECK(other.next().bytes == 80);
}

TEST_CASE("read_window: an item with a part that turns out as large as was said keeps it",
          "[transfer]") {
  read_budget budget(100);
  read_window window(budget, {});
  window.add(60, true);
  window.add(60, true);
  CHECK(window.next().bytes == 60);
  CHECK(window.next().bytes == 40);
  CHECK(window.sized(1, 60, true) == window_fit::fits);
  CHECK(window.held_by(1) == 40);
  window.failed(0);
  CHECK(window.next().bytes == 20);
  window.add(90, true);
  CHECK(window.next().bytes == 40);
  CHECK(window.sized(2, 95, true) == window_fit::later);
  window.released(2);
  CHECK(budget.held() == 60);
}

TEST_CASE("read_window: several share the cap equally", "[transfer]") {
  read_budget budget(100);
  read_window one(budget, {});
  CHECK(start_all(one, 10) == 10);
  {
    read_window other(budget, {});
    CHECK(start_all(other, 10) == 0);
    for (std::uint64_t i = 0; i < 6; ++i) {
      one.arrived(i, 1ms);
      one.taken(i, start);
    }
    CHECK(start_all(one, 10) == 1);  // half of the cap
    CHECK(start_all(other, 10) == 5);
  }
  CHECK(budget.held() == 50);
  CHECK(start_all(one, 10) == 5);
}

TEST_CASE("read_window: an item that is waited for gets what others read ahead", "[transfer]") {
  read_budget budget(100);
  int one_woken = 0;
  int other_woken = 0;
  read_window one(budget, [&] { ++one_woken; });
  CHECK(start_all(one, 20) == 5);
  read_window other(budget, [&] { ++other_woken; });
  other.add(30);
  CHECK(other.next().what == kind::none);
  CHECK(one_woken == 0);

  other.asked(start, false);
  CHECK(other.next().what == kind::none);
  CHECK(one_woken == 1);
  CHECK(other.next().what == kind::none);
  CHECK(one_woken == 1);                         // it has been told
  for (const std::uint64_t item : {4U, 3U}) {    // 30 bytes: the last two
    const window_step s = one.next(item == 4U);  // with a free connection or without
    CHECK(s.what == kind::revoke);
    CHECK(s.item == item);
  }
  CHECK(one.next().what == kind::none);
  CHECK(budget.held() == 100);  // until they are released
  one.released(4);
  CHECK(one.next().what == kind::none);  // there is room for it, but another one waits
  one.released(3);
  CHECK(other_woken >= 1);
  CHECK(other.next().what == kind::start);
  CHECK(one.revoked() == 2);
  CHECK(one_woken >= 2);
  other.arrived(0, 1ms);
  other.taken(0, start);
  CHECK(one.next().what == kind::none);  // half of the cap is reached
}

TEST_CASE("read_window: the first items of those who are waited for are never revoked",
          "[transfer]") {
  read_budget budget(100);
  read_window one(budget, {});
  one.add(60);
  one.add(20);
  one.asked(start, false);
  CHECK(one.next().item == 0);
  CHECK(one.next().item == 1);
  read_window other(budget, {});
  other.add(70);
  other.asked(start, false);
  CHECK(other.next().what == kind::none);
  const window_step s = one.next();
  CHECK(s.what == kind::revoke);
  CHECK(s.item == 1);
  one.released(1);
  CHECK(other.next().what == kind::none);
  one.arrived(0, 1ms);
  one.taken(0, start);
  CHECK(other.next().what == kind::start);
}

TEST_CASE("read_window: those who are waited for are served in turn", "[transfer]") {
  read_budget budget(100);
  auto busy = std::make_unique<read_window>(budget, dataflux::unique_function<void()>());
  busy->add(60);
  busy->asked(start, false);
  CHECK(busy->next().what == kind::start);
  read_window large(budget, {});
  large.add(90);
  large.asked(start, false);
  CHECK(large.next().what == kind::none);
  read_window small(budget, {});
  small.add(10);
  small.asked(start, false);
  CHECK(small.next().what == kind::none);  // it would fit now, and starve the other
  busy.reset();
  CHECK(small.next().what == kind::none);
  CHECK(large.next().what == kind::start);
  CHECK(small.next().what == kind::start);
}

TEST_CASE("read_window: what was to be revoked may be handed out all the same", "[transfer]") {
  read_budget budget(100);
  read_window one(budget, {});
  CHECK(start_all(one, 50) == 2);
  one.arrived(0, 1ms);
  one.arrived(1, 1ms);
  read_window other(budget, {});
  other.add(100);
  other.asked(start, false);
  CHECK(other.next().what == kind::none);
  one.taken(0, start);  // before it was told
  CHECK(one.next().what == kind::revoke);
  one.released(1);
  CHECK(other.next().what == kind::start);
  CHECK(budget.held() == 100);
}

TEST_CASE("read_window: one consumer at several windows always gets on, within the cap",
          "[transfer]") {
  const auto seed = GENERATE(range(0U, 60U));
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  virtual_scheduler clock;
  read_budget budget(1'000);
  const std::uint64_t largest = seed % 3 == 0 ? 1'001 : seed % 3 == 1 ? 300 : 30;
  const std::size_t count = 1 + below(5);
  std::vector<std::unique_ptr<stream>> streams;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<stream::source_item> source(below(200));
    for (auto& item : source) item = {below(largest + 1), below(seed % 4 + 1) == 0};
    streams.push_back(std::make_unique<stream>(
        clock, budget, source, [&] { return duration(1ms) * static_cast<int>(1 + below(50)); },
        read_window_options{.max_items = 1 + below(100), .first_guess = below(400)},
        1 + static_cast<int>(below(20)), below(2) == 0 ? 2'000 : 20 + below(500)));
  }
  // Runs of items from one window, then from another; all begin to read at once.
  for (auto& s : streams) s->advance();
  std::size_t which = 0;
  std::uint64_t left = 0;
  std::function<void()> again = [&] {
    const auto open =
        std::count_if(streams.begin(), streams.end(), [](const auto& s) { return !s->done(); });
    if (open == 0) return;
    if (left == 0 || streams[which]->done()) {
      left = 1 + below(30);
      do which = below(streams.size());
      while (streams[which]->done());
    }
    --left;
    if (below(10) == 0)
      streams[which]->window().set_most_ahead(below(2) == 0 ? below(300) : 1'000'000);
    clock.at(clock.now() + duration(1ms) * static_cast<int>(below(3)),
             [&] { streams[which]->take(again); });
  };
  again();
  clock.run();
  for (const auto& s : streams) {
    CHECK(s->done());
    CHECK(s->window().held() == 0);
    if (largest <= budget.cap()) CHECK(s->too_large() == 0);
  }
  CHECK(budget.held() == 0);
}

TEST_CASE("read_window: several consumers get on as well", "[transfer]") {
  const auto seed = GENERATE(range(0U, 20U));
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  virtual_scheduler clock;
  read_budget budget(1'000);
  std::vector<std::unique_ptr<stream>> streams;
  std::vector<std::function<void()>> consumers(4);
  for (std::size_t i = 0; i < consumers.size(); ++i) {
    std::vector<stream::source_item> source(200);
    for (auto& item : source) item = {below(1'001), below(2) == 0};
    streams.push_back(std::make_unique<stream>(
        clock, budget, source, [&] { return duration(1ms) * static_cast<int>(1 + below(50)); },
        read_window_options{}, 1'000'000, seed % 2 == 0 ? 2'000 : 20 + below(500)));
    consumers[i] = [&, i] {
      if (streams[i]->done()) return;
      clock.at(clock.now() + duration(1ms) * static_cast<int>(below(20)),
               [&, i] { streams[i]->take(consumers[i]); });
    };
  }
  for (auto& consumer : consumers) consumer();
  clock.run();
  for (const auto& s : streams) CHECK(s->done());
  CHECK(budget.held() == 0);
}

TEST_CASE("read_window: a single one never revokes where sizes are known", "[transfer]") {
  virtual_scheduler clock;
  read_budget budget(1'000);
  std::vector<stream::source_item> source;
  for (std::uint64_t i = 0; i < 500; ++i) source.push_back({i * 37 % 1'001, true});
  const bool by_parts = GENERATE(false, true);
  stream s(clock, budget, source, always(20ms), {}, 1'000'000, by_parts ? 250U : 1'000U);
  consume(clock, s, 0ms);
  CHECK(s.done());
  CHECK(s.window().revoked() == 0);
  CHECK((s.parts() > 0) == by_parts);
}

TEST_CASE("read_window: a consumer at fixed steps does not wait, nor read far ahead",
          "[transfer]") {
  virtual_scheduler clock;
  read_budget budget(1U << 30U);
  std::mt19937 random(1);
  // 20 to 60 ms, and one in a hundred takes a second.
  const auto delay = [&] {
    const std::chrono::microseconds usual(20'000 + static_cast<int>(random() % 40'000));
    return random() % 100 == 0 ? duration(1s) : duration(usual);
  };
  stream s(clock, budget, std::vector<stream::source_item>(5'000, {1'000, true}), delay);
  consume(clock, s, 5ms);
  const duration all = 5ms * 5'000;
  INFO("waited " << std::chrono::duration<double>(s.waited()).count() << " s, depth "
                 << s.window().depth());
  CHECK(s.waited() <= all / 20);
  CHECK(s.window().depth() >= 200);  // a second's worth
  CHECK(s.window().depth() <= 1'500);
}

TEST_CASE("read_window: a slow consumer holds little", "[transfer]") {
  virtual_scheduler clock;
  read_budget budget(1U << 30U);
  stream s(clock, budget, std::vector<stream::source_item>(500, {1'000, true}), always(20ms));
  consume(clock, s, 100ms);
  CHECK(s.window().depth() <= 4);
}

TEST_CASE("read_window: a consumer without a pause gets all that the budget allows", "[transfer]") {
  virtual_scheduler clock;
  read_budget budget(600'000);
  stream s(clock, budget, std::vector<stream::source_item>(20'000, {1'000, true}), always(20ms));
  const time_point began = clock.now();
  consume(clock, s, 0ms);
  // 600 at a time, each round trip.
  CHECK(clock.now() - began <= 20ms * 20'000 / 600 * 1.1);
}

TEST_CASE("read_window: a consumer of batches waits less and less", "[transfer]") {
  virtual_scheduler clock;
  read_budget budget(1U << 30U);
  stream s(clock, budget, std::vector<stream::source_item>(64 * 200, {1'000, true}), always(20ms));
  std::vector<duration> waits;  // after each batch, in all
  std::function<void()> again = [&] {
    if (s.handed_out() % 64 == 0) waits.push_back(s.waited());
    if (s.done()) return;
    clock.at(clock.now() + (s.handed_out() % 64 == 0 ? 100ms : 0ms), [&] { s.take(again); });
  };
  again();
  clock.run();
  CHECK(waits.back() - waits.at(100) <= 100 * 100ms / 20);
}

TEST_CASE("read_window: while the consumer waits for one item, those behind it are read",
          "[transfer]") {
  read_budget budget(1'000);
  read_window window(budget, [] {});
  time_point now = start;
  // It takes an item in 10 ms, a read takes 20.
  for (std::uint64_t item = 0; item < 300; ++item) {
    start_all(window, 1);
    window.arrived(item, 20ms);
    window.asked(now, true);
    window.taken(item, now);
    now += 10ms;
  }
  start_all(window, 1);
  CHECK(window.ahead() < 100);
  window.asked(now, false);
  start_all(window, 1);
  CHECK(window.ahead() == 1'000);
  window.arrived(300, 500ms);
  window.taken(300, now + 490ms);
  CHECK(start_all(window, 1) == 0);
}

}  // namespace window_test
