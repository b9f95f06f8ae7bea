#pragma once

#include <dataflux/list/detail/share_plan.hpp>
#include <dataflux/list/detail/share_survey.hpp>

#include <support/list_model.hpp>
#include <support/name_shapes.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// How processes that share a listing are simulated. A unit of time is what it is for list_model: a
/// full page takes 1.1.
struct share_settings {
  std::uint32_t ranks{64};
  std::uint32_t lanes{4};   ///< tasks of a process at a time
  std::uint32_t slots{12};  ///< calls of a task in flight; of the first one those of all lanes
  /// This one takes a claim and is never heard of again; ranks = nobody does.
  std::uint32_t dies{UINT32_MAX};
  double lease{400};
  std::uint64_t seed{1};
};

struct share_outcome {
  double makespan{0};            ///< until the last task is done
  std::uint64_t calls{0};        ///< of the listings
  std::uint64_t surveyed{0};     ///< calls for a single name
  std::uint64_t board_calls{0};  ///< to look, to claim, to read, to write
  std::uint64_t tasks{0};
  std::uint64_t pieces{0};             ///< ranges of names that the manifests of tasks have
  std::uint64_t refused{0};            ///< claims that another process had before
  double used{0};                      ///< slots, in units of time
  std::vector<std::uint64_t> names{};  ///< by rank
};

/// Processes that share one listing by share_plan, on a simulated service.
class share_model {
 public:
  share_model(const name_shape& shape, share_settings settings, call_cost cost = {})
      : shape_(shape), s_(settings), cost_(std::move(cost)) {
    for (std::uint32_t r = 0; r < s_.ranks; ++r)
      ranks_.emplace_back(r + s_.seed * 1000, lease(), s_.lanes);
    for (rank& each : ranks_) {
      for (std::uint32_t r = 0; r < s_.ranks; ++r) each.plan.saw_rank(std::to_string(r));
    }
    tasks_["0"].left = {shape.size(), {}};
    out_.names.resize(s_.ranks);
  }

  /// Throws where a name was listed twice or not at all.
  share_outcome run() {
    for (std::uint32_t r = 0; r < s_.ranks; ++r) {
      for (std::uint32_t lane = 0; lane < s_.lanes; ++lane) want(r);
    }
    while (!events_.empty()) {
      event now = events_.top();
      events_.pop();
      time_ = now.at;
      (this->*now.what)(now);
    }
    std::uint64_t names = 0;
    for (const std::uint64_t each : out_.names) names += each;
    if (names != shape_.size() || open_ != 0) throw std::logic_error("names were lost");
    out_.tasks = tasks_.size();
    return std::move(out_);
  }

 private:
  static constexpr double round_trip = call_cost::round_trip;
  /// A part and then the done, or the parent's done and then the claim.
  static constexpr double two_calls = 2 * round_trip;

  struct rank {
    rank(std::uint64_t seed, dataflux::duration lease, std::size_t lanes)
        : plan(seed, lease, lanes) {}
    dataflux::detail::share_plan plan;
    std::size_t seen{0};       ///< of the log
    std::uint32_t waiting{0};  ///< lanes that wait for the look
    bool looking{false};
    double pause{0};
  };
  struct task {
    std::pair<std::uint64_t, dataflux::detail::name_range> left{};
    std::int64_t claim{0};
    bool done{false};
  };
  struct change {
    std::string id;
    std::int64_t claim{0};
    std::size_t children{0};
  };
  struct event {
    double at{0};
    std::uint64_t order{0};
    void (share_model::*what)(event&){nullptr};
    std::uint32_t rank{0};
    std::size_t upto{0};  ///< of the log
    dataflux::detail::share_plan::choice choice{};
    bool operator<(const event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  static dataflux::duration ticks(double units) {
    return std::chrono::microseconds(static_cast<std::int64_t>(units * 1e6));
  }
  dataflux::duration lease() const { return ticks(s_.lease); }
  dataflux::time_point now() const { return dataflux::time_point{ticks(time_)}; }

  void push(double wait, void (share_model::*what)(event&), std::uint32_t r,
            dataflux::detail::share_plan::choice choice = {}) {
    events_.push({time_ + wait, order_++, what, r, log_.size(), std::move(choice)});
  }

  /// A lane that has nothing to do looks at the board, together with others of its process.
  void want(std::uint32_t r) {
    ++ranks_[r].waiting;
    if (!ranks_[r].looking && !ranks_[r].plan.must_look()) return take(r);
    if (std::exchange(ranks_[r].looking, true)) return;
    const std::uint64_t rows = 2 * tasks_.size();
    out_.board_calls += 1 + rows / 1000;
    push(round_trip +
             call_cost::per_entry * static_cast<double>(std::min<std::uint64_t>(rows, 1000)) +
             (rows > 1000 ? 1.1 : 0),
         &share_model::looked, r);
  }
  void looked(event& e) {
    rank& r = ranks_[e.rank];
    r.looking = false;
    for (; r.seen < e.upto; ++r.seen) {
      const change& c = log_[r.seen];
      if (c.claim != 0) {
        r.plan.saw_claim(c.id, c.claim, now());
      } else {
        r.plan.saw_done(c.id, c.children);
      }
    }
    r.plan.looked();
    take(e.rank);
  }
  void take(std::uint32_t which) {
    rank& r = ranks_[which];
    if (r.plan.whole()) return;
    std::uint32_t idle = 0;
    for (std::uint32_t lanes = std::exchange(r.waiting, 0); lanes > 0; --lanes) {
      if (auto choice = r.plan.next(now())) {
        out_.board_calls += 2;
        push(two_calls, &share_model::claimed, which, *std::move(choice));
      } else {
        ++idle;
      }
    }
    r.pause = idle == 0 ? 0 : std::clamp(2 * r.pause, 0.5, 4.0);
    for (; idle > 0; --idle) push(r.pause, &share_model::rested, which);
  }
  void rested(event& e) { want(e.rank); }

  void claimed(event& e) {
    task& t = tasks_.at(e.choice.id);
    if (t.done || t.claim != e.choice.claim) {
      ++out_.refused;
      ranks_[e.rank].plan.lost(e.choice, now());
      return want(e.rank);
    }
    t.claim = ++generations_;
    log_.push_back({e.choice.id, t.claim, 0});
    if (e.rank == s_.dies) return;
    const auto slots = static_cast<std::uint32_t>(s_.slots * s_.lanes / e.choice.lanes);
    call_cost cost = cost_;
    cost.dice.seed(s_.seed + order_);
    list_outcome listed = list_model(shape_, slots, cost, t.left.second, e.choice.calls).run();
    out_.calls += listed.calls;
    out_.used += listed.makespan * slots;
    const double took = listed.makespan + survey(listed);
    results_[e.choice.id + "/" + std::to_string(e.rank)] = std::move(listed);
    push(took + two_calls, &share_model::written, e.rank, std::move(e.choice));
  }

  /// Cuts what is left; how long that takes.
  double survey(list_outcome& listed) {
    if (listed.left.empty()) return 0;
    const dataflux::detail::name_range hull{listed.left.front().first.start,
                                            listed.left.back().first.end};
    dataflux::detail::share_survey survey(hull, "", dataflux::detail::wanted_share_pieces);
    double took = 0;
    std::string name;
    while (!survey.finished()) {
      took += round_trip + call_cost::per_entry;
      std::vector<dataflux::detail::share_survey::question> questions;
      while (questions.size() < s_.slots) {
        auto question = survey.next();
        if (!question) break;
        questions.push_back(*std::move(question));
      }
      if (questions.empty()) throw std::logic_error("a survey without a question");
      out_.surveyed += questions.size();
      for (const auto& q : questions) {
        const std::uint64_t at = shape_.lower_bound(q.names.start);
        const bool there = at < shape_.size();
        if (there) shape_.name_at(at, name);
        if (there && q.names.contains(name)) {
          survey.answered(q.id, name);
        } else {
          survey.answered(q.id, std::nullopt);
        }
      }
    }
    std::vector<std::pair<dataflux::detail::name_range, std::uint64_t>> pieces;
    for (const auto& [range, names] : listed.left) {
      for (dataflux::detail::name_range& piece : dataflux::detail::cut_at(range, survey.cuts())) {
        const std::uint64_t begin = shape_.lower_bound(piece.start);
        const std::uint64_t end = piece.bounded() ? shape_.lower_bound(piece.end) : shape_.size();
        pieces.emplace_back(std::move(piece), end - begin);
      }
    }
    listed.left = std::move(pieces);
    return took;
  }

  void written(event& e) {
    out_.board_calls += 2;
    const auto result = results_.extract(e.choice.id + "/" + std::to_string(e.rank));
    task& t = tasks_.at(e.choice.id);
    if (!t.done) {
      t.done = true;
      const auto& left = result.mapped().left;
      std::uint64_t names = t.left.first;
      for (std::size_t i = 0; i < left.size(); ++i) {
        names -= left[i].second;
        tasks_[dataflux::detail::share_plan::child_of(e.choice.id, i)].left = {left[i].second,
                                                                               left[i].first};
      }
      open_ = open_ + left.size() - 1;
      out_.names[e.rank] += names;
      out_.pieces += left.size() + 1;
      log_.push_back({e.choice.id, 0, left.size()});
      if (open_ == 0) out_.makespan = time_;
    }
    want(e.rank);
  }

  const name_shape& shape_;
  const share_settings s_;
  const call_cost cost_;
  std::vector<rank> ranks_{};
  std::map<std::string, task> tasks_{};
  std::map<std::string, list_outcome> results_{};
  std::vector<change> log_{};
  std::priority_queue<event> events_{};
  std::uint64_t open_{1};
  std::uint64_t order_{0};
  std::int64_t generations_{0};
  double time_{0};
  share_outcome out_{};
};
