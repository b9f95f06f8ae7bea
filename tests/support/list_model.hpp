#pragma once

#include <dataflux/list/detail/range_splitter.hpp>

#include <support/name_shapes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <map>
#include <queue>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The service as listings are simulated on it: a call takes a round trip of 0.1 and 0.001 for each
/// entry of its answer, so a full page takes 1.1. Nothing else takes time.
struct call_cost {
  static constexpr double round_trip = 0.1;
  static constexpr double per_entry = 0.001;
  /// Of calls, by chance: a log-normal factor with sigma 0.3, and one in a hundred three times
  /// slower.
  bool jitter{false};
  /// A page ends where its range does. S3 knows no end: a page has as many entries as were asked
  /// for, and whether a range has ended is known by the first name behind it.
  bool bounded{true};
  std::mt19937_64 dice{};

  double of(std::uint64_t entries) {
    const double base = round_trip + per_entry * static_cast<double>(entries);
    if (!jitter) return base;
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += chance();
    return base * std::exp(0.3 * sum) * (chance() < 0.01 ? 3 : 1);
  }
  double chance() { return static_cast<double>(dice() >> 11U) * 0x1p-53; }

  /// Of a listing page after page, without jitter.
  static double sequential(std::uint64_t names) {
    const std::uint64_t pages = names == 0 ? 1 : (names + 999) / 1000;
    return static_cast<double>(pages) * round_trip + static_cast<double>(names) * per_entry;
  }
};

struct list_outcome {
  double makespan{0};
  std::uint64_t calls{0};
  std::uint64_t probes{0};   ///< for folders
  std::uint64_t empty{0};    ///< pages that brought nothing
  std::uint64_t dropped{0};  ///< entries that came twice
  double splitter_seconds{0};
  /// What the calls were not enough for, in order: names and how many there are.
  std::vector<std::pair<dataflux::detail::name_range, std::uint64_t>> left{};
  /// Each change of the number of calls in flight: since when, how many.
  std::vector<std::pair<double, std::uint32_t>> busy{};
};

/// One listing by range_splitter: the coordinator's loop on a simulated service.
class list_model {
 public:
  list_model(const name_shape& shape, std::uint32_t slots, call_cost cost,
             dataflux::detail::name_range names = {}, std::uint64_t max_calls = UINT64_MAX)
      : shape_(shape),
        slots_(slots),
        max_calls_(max_calls),
        whole_(std::move(names)),
        cost_(std::move(cost)),
        splitter_({.range = whole_, .parallelism = slots}) {
    ranges_.push_back({.names = whole_,
                       .position = shape.lower_bound(whole_.start),
                       .end = whole_.bounded() ? shape.lower_bound(whole_.end) : shape.size()});
  }

  /// Throws if the splitter breaks its contract or a name is not listed exactly once.
  list_outcome run() {
    std::uint64_t listed = 0;
    const std::uint64_t names = ranges_.front().end - ranges_.front().position;
    act();
    while (!events_.empty()) {
      const event now = events_.top();
      events_.pop();
      time_ = now.at;
      --in_flight_;
      if (now.probe) {
        answer_probe(now);
      } else {
        listed += end_page(now);
      }
      if (open_ == 0) break;  // what is still in flight is cancelled
      act();
    }
    listed += leave_rest();
    if (listed != names) throw std::logic_error("names were lost");
    std::vector<dataflux::detail::name_range> all;
    for (const range& r : ranges_) all.push_back(r.names);
    if (auto ok = dataflux::detail::check_cover(whole_, std::move(all)); !ok) {
      throw std::logic_error(ok.error().to_string());
    }
    outcome_.makespan = time_;
    return std::move(outcome_);
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct range {
    dataflux::detail::name_range names{};
    std::uint64_t position{0};  // ranks
    std::uint64_t end{0};
    std::uint64_t call{0};     // its page in flight
    std::uint32_t next{none};  // the range behind
    bool open{true};
  };
  struct page {
    std::uint64_t from{0};  // of its range, when it was sent
    std::uint64_t end{0};
    std::string until{};
    std::uint64_t brings{0};
    bool tells_end{true};
  };
  struct event {
    double at{0};
    std::uint64_t order{0};
    std::uint32_t id{0};
    bool probe{false};
    bool operator<(const event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  struct asked_probe {
    std::vector<std::string> entries{};
    bool more{false};
  };

  void send(std::uint32_t id, bool probe, std::uint64_t entries) {
    events_.push({time_ + cost_.of(entries), outcome_.calls++, id, probe});
    ++in_flight_;
  }

  std::span<const dataflux::detail::list_action> plan() {
    const double before = cpu_seconds();
    const auto actions =
        splitter_.plan(std::min<std::uint64_t>(slots_ - in_flight_, max_calls_ - outcome_.calls));
    spent(before);
    return actions;
  }
  /// Of this thread, so that whatever else the machine does counts for nothing.
  static double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  void spent(double before) { outcome_.splitter_seconds += cpu_seconds() - before; }

  void act() {
    using kind = dataflux::detail::list_action::kind;
    for (const dataflux::detail::list_action& a : plan()) {
      if (a.what == kind::split) {
        split(a);
      } else if (a.what == kind::page) {
        range& r = ranges_.at(a.range);
        const std::uint64_t brings = std::min<std::uint64_t>(a.max_results, r.end - r.position);
        r.call = outcome_.calls;
        const std::uint64_t given =
            cost_.bounded ? brings
                          : std::min<std::uint64_t>(a.max_results, shape_.size() - r.position);
        pages_[r.call] = {r.position, r.end, r.names.end, brings,
                          cost_.bounded || given > brings || r.end == shape_.size()};
        send(a.range, false, given);
      } else {
        if (a.what == kind::probe) ++outcome_.probes;
        asked_probe answer = look(a, a.until);
        const std::uint64_t entries = (cost_.bounded ? answer : look(a, {})).entries.size();
        if (probes_.size() <= a.id) probes_.resize(a.id + 1);
        probes_[a.id] = std::move(answer);
        send(a.id, true, entries);
      }
    }
    if (in_flight_ > slots_) throw std::logic_error("more calls than slots");
    if (outcome_.busy.empty() || outcome_.busy.back().second != in_flight_) {
      outcome_.busy.emplace_back(time_, in_flight_);
    }
  }

  void split(const dataflux::detail::list_action& a) {
    range& left = ranges_.at(a.range);
    if (!dataflux::detail::is_cut(left.names, a.at)) throw std::logic_error("no cut: " + a.at);
    const std::uint64_t cut = shape_.lower_bound(a.at);
    if (cut < left.position) throw std::logic_error("cut inside what was listed: " + a.at);
    range right{
        .names = {a.at, left.names.end}, .position = cut, .end = left.end, .next = left.next};
    left.names.end = a.at;
    left.end = cut;
    left.next = a.id;
    ++open_;
    if (a.id != ranges_.size()) throw std::logic_error("unexpected id");
    ranges_.push_back(std::move(right));
  }

  /// What lies behind the range's end, since it was cut meanwhile, goes to the ranges there.
  std::uint64_t end_page(const event& now) {
    const page sent = std::move(pages_.at(now.order));
    pages_.erase(now.order);
    const range own = ranges_.at(now.id);
    const std::uint64_t upto = sent.from + sent.brings;
    const bool last = upto == sent.end && sent.tells_end;
    std::uint64_t kept = 0;
    if (own.open) kept += take(now.id, upto, last, own.call == now.order);
    for (std::uint32_t id = own.next; id != none; id = ranges_.at(id).next) {
      const range& r = ranges_.at(id);
      const bool reached =
          last ? sent.until.empty() || (r.names.bounded() && r.names.end <= sent.until)
               : upto > r.position || !r.open;
      if (!reached) break;
      if (r.open) kept += take(id, upto, last, false);
    }
    outcome_.dropped += sent.brings - kept;
    outcome_.empty += kept == 0 ? 1U : 0U;
    return kept;
  }

  /// How many names are left.
  std::uint64_t leave_rest() {
    std::uint64_t count = 0;
    for (std::uint32_t id = 0; id != none; id = ranges_.at(id).next) {
      const range& r = ranges_.at(id);
      if (!r.open) continue;
      std::string last = r.names.start;
      if (r.position > 0) shape_.name_at(r.position - 1, last);
      outcome_.left.push_back(
          {{last < r.names.start ? r.names.start : dataflux::detail::successor(last), r.names.end},
           r.end - r.position});
      count += r.end - r.position;
    }
    return count;
  }

  /// The names up to rank `upto`, and with `last` all of the range; how many are new to it.
  std::uint64_t take(std::uint32_t id, std::uint64_t upto, bool last, bool own) {
    range& r = ranges_.at(id);
    const std::uint64_t end = std::max(r.position, std::min(upto, r.end));
    const std::uint64_t kept = end - r.position;
    r.open = !last && upto <= r.end;
    if (!r.open) --open_;
    const std::uint64_t stride = dataflux::detail::range_splitter::stride(kept);
    for (std::uint64_t i = 0; i < kept; i += stride) add_row(r.position + i);
    if (kept > 0 && (kept - 1) % stride != 0) add_row(r.position + kept - 1);
    names_.clear();
    for (std::size_t i = 0; i < count_; ++i) names_.emplace_back(kept_names_[i]);
    count_ = 0;
    r.position = end;
    const dataflux::detail::list_page_report report{
        .entries = kept, .names = names_, .finished = !r.open};
    const double before = cpu_seconds();
    own ? splitter_.page_ended(id, report) : splitter_.names_given(id, report);
    spent(before);
    return kept;
  }
  void add_row(std::uint64_t rank) {
    if (kept_names_.size() <= count_) kept_names_.emplace_back();
    shape_.name_at(rank, kept_names_[count_++]);
  }

  asked_probe look(const dataflux::detail::list_action& a, std::string_view until) const {
    const bool folders = a.what == dataflux::detail::list_action::kind::probe;
    asked_probe answer;
    const std::uint64_t end = until.empty() ? shape_.size() : shape_.lower_bound(until);
    std::uint64_t rank = shape_.lower_bound(std::max(a.at, a.within));
    std::string name;
    while (rank < end) {
      shape_.name_at(rank, name);
      if (!name.starts_with(a.within)) break;
      if (answer.entries.size() == a.max_results) {
        answer.more = true;
        break;
      }
      const std::string entry(dataflux::detail::folded(name, a.within, folders ? "/" : ""));
      rank = entry == name ? rank + 1 : shape_.lower_bound(dataflux::detail::after_prefix(entry));
      answer.entries.push_back(entry);
    }
    return answer;
  }

  void answer_probe(const event& now) {
    const asked_probe& answer = probes_.at(now.id);
    names_.assign(answer.entries.begin(), answer.entries.end());
    const double before = cpu_seconds();
    splitter_.probe_answered(now.id, {.entries = names_, .more = answer.more});
    spent(before);
  }

  const name_shape& shape_;
  const std::uint32_t slots_;
  const std::uint64_t max_calls_;
  const dataflux::detail::name_range whole_;
  call_cost cost_;
  dataflux::detail::range_splitter splitter_;
  std::vector<range> ranges_{};
  std::size_t open_{1};
  std::vector<asked_probe> probes_{};
  std::map<std::uint64_t, page> pages_{};  // in flight, by the number of the call
  std::priority_queue<event> events_{};
  std::vector<std::string> kept_names_{};
  std::size_t count_{0};
  std::vector<std::string_view> names_{};
  list_outcome outcome_{};
  double time_{0};
  std::uint32_t in_flight_{0};
};
