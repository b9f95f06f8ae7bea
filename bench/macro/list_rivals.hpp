#pragma once

#include <support/list_model.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// How others list, on the same simulated service.

/// Slots of a simulation without probes and splits: what ends when.
class slot_queue {
 public:
  struct ending {
    double at{0};
    std::uint64_t order{0};
    std::size_t task{0};
    bool operator<(const ending& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  void start(std::size_t task, double duration) {
    endings_.push({time_ + duration, order_++, task});
  }
  bool empty() const { return endings_.empty(); }
  std::size_t busy() const { return endings_.size(); }
  double time() const { return time_; }
  std::size_t next() {
    const ending first = endings_.top();
    endings_.pop();
    time_ = first.at;
    return first.task;
  }

 private:
  std::priority_queue<ending> endings_{};
  std::uint64_t order_{0};
  double time_{0};
};

/// Where dataflux_core.range_splitter cuts (start, end) in two: names are numbers whose digits are
/// the characters of both bounds and "ab"; as few digits as tell the bounds apart, halved. Empty
/// where the original gives nothing, or never returns. By bytes, where it takes characters.
inline std::string original_cut(std::string_view start, std::string_view end) {
  std::set<unsigned char> digits{'a', 'b'};
  for (const char c : start) digits.insert(static_cast<unsigned char>(c));
  for (const char c : end) digits.insert(static_cast<unsigned char>(c));
  const std::vector<unsigned char> alphabet(digits.begin(), digits.end());
  const auto base = static_cast<std::int64_t>(alphabet.size());
  const auto digit = [&](std::string_view text, std::size_t at, std::int64_t missing) {
    if (at >= text.size()) return missing;
    const auto c = static_cast<unsigned char>(text[at]);
    return static_cast<std::int64_t>(std::lower_bound(alphabet.begin(), alphabet.end(), c) -
                                     alphabet.begin());
  };
  std::vector<std::int64_t> low;
  std::int64_t apart = 0;
  while (apart <= 1) {
    const std::size_t at = low.size();
    if (at > std::max(start.size(), end.size()) + 2) return {};
    low.push_back(digit(start, at, 0));
    apart = apart * base + digit(end, at, end.empty() ? base - 1 : 0) - low.back();
  }
  std::int64_t carry = apart / 2;
  for (std::size_t i = low.size(); i-- > 0 && carry > 0;) {
    carry += low[i];
    low[i] = carry % base;
    carry /= base;
  }
  std::string cut;
  for (const std::int64_t d : low) {
    cut += static_cast<char>(alphabet[static_cast<std::size_t>(d)]);
  }
  return cut > start && (end.empty() || cut < end) ? cut : std::string();
}

/// dataflux_core.fast_list with that many workers: after each 5,000 names, which are five calls, a
/// worker gives half of its name space to an idle one. Without its serial start of processes.
inline list_outcome list_as_original(const name_shape& shape, std::uint32_t workers,
                                     call_cost cost) {
  constexpr std::uint64_t batch = 5000;
  struct range {
    std::string start{};
    std::string end{};
    std::uint64_t position{0};
    std::uint64_t last{0};
    std::uint64_t asked{0};
  };
  std::vector<range> ranges{{"", "", 0, shape.size(), 0}};
  slot_queue slots;
  list_outcome outcome;
  const auto send = [&](std::size_t id) {
    range& r = ranges[id];
    r.asked = std::min(batch, r.last - r.position);
    double duration = 0;
    for (std::uint64_t left = r.asked, once = 1; left > 0 || once == 1; once = 0) {
      const std::uint64_t page = std::min<std::uint64_t>(1000, left);
      duration += cost.of(page);
      ++outcome.calls;
      left -= page;
    }
    slots.start(id, duration);
  };
  send(0);
  while (!slots.empty()) {
    const std::size_t id = slots.next();
    range* r = &ranges[id];
    r->position += r->asked;
    if (r->asked < batch) continue;
    shape.name_at(r->position - 1, r->start);
    if (slots.busy() + 1 < workers) {
      const std::string cut = original_cut(r->start, r->end);
      if (!cut.empty()) {
        const std::uint64_t rank = shape.lower_bound(cut);
        ranges.push_back({cut, r->end, rank, std::max(rank, r->last), 0});
        r = &ranges[id];
        r->end = cut;
        r->last = std::max(r->position, rank);
        send(ranges.size() - 1);
      }
    }
    send(id);
  }
  outcome.makespan = slots.time();
  return outcome;
}

/// Each folder by itself, many at a time, as gcsfs and the Multi-Storage Client do.
inline list_outcome list_by_folder(const name_shape& shape, std::uint32_t slots_wanted,
                                   call_cost cost) {
  struct folder {
    std::string path{};
    std::uint64_t position{0};
    std::vector<std::pair<std::string, std::uint64_t>> found{};
    bool more{false};
  };
  std::vector<folder> folders{{}};
  std::deque<std::size_t> waiting{0};
  slot_queue slots;
  list_outcome outcome;
  const auto send = [&](std::size_t id) {
    folder& f = folders[id];
    f.found.clear();
    std::uint64_t entries = 0;
    std::string name;
    f.more = false;
    while (f.position < shape.size()) {
      shape.name_at(f.position, name);
      if (!name.starts_with(f.path)) break;
      if (entries == 1000) {
        f.more = true;
        break;
      }
      ++entries;
      const std::string entry(dataflux::detail::folded(name, f.path, "/"));
      if (entry == name) {
        ++f.position;
      } else {
        f.found.emplace_back(entry, f.position);
        f.position = shape.lower_bound(dataflux::detail::after_prefix(entry));
      }
    }
    ++outcome.calls;
    slots.start(id, cost.of(entries));
  };
  while (!slots.empty() || !waiting.empty()) {
    while (!waiting.empty() && slots.busy() < slots_wanted) {
      send(waiting.front());
      waiting.pop_front();
    }
    const std::size_t id = slots.next();
    if (folders[id].more) waiting.push_front(id);
    const auto found = std::move(folders[id].found);
    for (const auto& [path, rank] : found) {
      waiting.push_back(folders.size());
      folders.push_back({path, rank, {}, false});
    }
  }
  outcome.makespan = slots.time();
  return outcome;
}
