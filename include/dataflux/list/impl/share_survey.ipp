#pragma once

#include <dataflux/list/detail/share_survey.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Questions of one survey, at most. Who lists the pieces can look again.
inline constexpr std::size_t most_survey_questions = 160;

/// Where the character that begins at `at` ends.
inline std::size_t character_end(std::string_view text, std::size_t at) noexcept {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
  return at;
}

DATAFLUX_INLINE share_survey::share_survey(name_range range, const std::string& prefix,
                                           std::size_t wanted)
    : wanted_(wanted) {
  node& n = nodes_.emplace_back();
  n.depth = prefix.size();
  n.from = std::max(range.start, prefix);
  n.names = std::move(range);
}

DATAFLUX_INLINE std::optional<share_survey::question> share_survey::next() {
  if (asked_ >= most_survey_questions) return std::nullopt;
  for (std::size_t i = level_; open_ > 0 && i < nodes_.size(); ++i) {
    node& n = nodes_[i];
    if (n.asking || n.at == phase::done) continue;
    n.asking = true;
    ++asked_;
    ++asking_;
    return question{i, {n.from, n.names.end}};
  }
  return std::nullopt;
}

DATAFLUX_INLINE void share_survey::answered(std::size_t id, std::optional<std::string_view> name) {
  node& n = nodes_[id];
  n.asking = false;
  --asking_;
  if (n.at == phase::begin && name) {
    n.first = *name;
    look_at(n);
  } else if (n.at == phase::search) {
    if (name) {
      const auto differs =
          std::upper_bound(n.ends.begin(), n.ends.end(), shared_length(n.first, *name));
      n.high = std::min(n.high, static_cast<std::size_t>(differs - n.ends.begin()));
      n.other = *name;
    } else {
      n.low = n.tried + 1;
    }
    search(n);
  } else if (n.at == phase::scan && name) {
    found(n, *name);
  } else {
    end(n);
  }
  // What was found until then is good.
  if (asked_ >= most_survey_questions && asking_ == 0 && open_ > 0) {
    for (std::size_t i = level_; i < nodes_.size(); ++i) {
      for (std::string& branch : nodes_[i].branches) {
        cuts_.push_back(branch.substr(0, character_end(branch, place(nodes_[i]))));
      }
    }
    std::sort(cuts_.begin(), cuts_.end());
    open_ = 0;
  }
}

/// How far its names agree: to `depth` at least.
DATAFLUX_INLINE void share_survey::look_at(node& n) {
  n.at = phase::search;
  n.ends.clear();
  n.low = 0;
  for (std::size_t at = n.depth; at < n.first.size(); n.ends.push_back(at)) {
    at = character_end(n.first, at);
  }
  n.high = n.ends.size();
  search(n);
}

/// Most often they differ in the first character; else what is left is halved.
DATAFLUX_INLINE void share_survey::search(node& n) {
  for (; n.low < n.high; n.low = n.tried + 1) {
    n.tried = n.low == 0 ? 0 : n.low + (n.high - n.low) / 2;
    n.from = after_prefix(std::string_view(n.first).substr(0, n.ends[n.tried]));
    if (!n.from.empty() && !n.names.ends_before(n.from)) return;
  }
  if (n.high < n.ends.size()) {
    n.at = phase::scan;
    return found(n, n.other);
  }
  // All begin with the first one, as with the marker of a folder: how do the others go on?
  n.at = phase::begin;
  n.depth = n.first.size();
  n.from = successor(n.first);
  if (n.names.ends_before(n.from)) end(n);
}

/// Where its names differ first.
DATAFLUX_INLINE std::size_t share_survey::place(const node& n) const noexcept {
  return n.high == 0 ? n.depth : n.ends[n.high - 1];
}

/// `name` is the first one with the next character there.
DATAFLUX_INLINE void share_survey::found(node& n, std::string_view name) {
  n.branches.emplace_back(name);
  n.from = after_prefix(name.substr(0, character_end(name, place(n))));
  if (n.from.empty() || n.names.ends_before(n.from)) end(n);
}

DATAFLUX_INLINE void share_survey::end(node& n) {
  n.at = phase::done;
  if (--open_ == 0) end_level();
}

/// Its branches are cuts; where there are not enough yet they are the nodes of the next level.
DATAFLUX_INLINE void share_survey::end_level() {
  const std::size_t end = nodes_.size();
  for (; level_ < end; ++level_) {
    const std::size_t at = place(nodes_[level_]);
    const std::vector<std::string> branches = std::move(nodes_[level_].branches);
    if (branches.empty()) continue;
    const auto piece = [&](std::string start, const std::string& first) {
      node& next = nodes_.emplace_back();
      next.names = {std::move(start), nodes_[level_].names.end};
      next.first = first;
      next.depth = character_end(first, at);
      return &next;
    };
    node* last = piece(nodes_[level_].names.start, nodes_[level_].first);
    for (const std::string& branch : branches) {
      std::string cut = branch.substr(0, character_end(branch, at));
      last->names.end = cut;
      cuts_.push_back(cut);
      last = piece(std::move(cut), branch);
    }
  }
  std::sort(cuts_.begin(), cuts_.end());
  if (cuts_.size() + 1 >= wanted_ || level_ == nodes_.size()) return;
  open_ = nodes_.size() - level_;
  const std::size_t count = nodes_.size();
  const std::size_t begin = level_;
  for (std::size_t i = begin; i < count && open_ > 0; ++i) look_at(nodes_[i]);
}

DATAFLUX_INLINE std::vector<name_range> cut_at(const name_range& range,
                                               const std::vector<std::string>& cuts) {
  std::vector<name_range> pieces{range};
  for (const std::string& cut : cuts) {
    if (cut <= pieces.back().start || range.ends_before(cut)) continue;
    pieces.back().end = cut;
    pieces.push_back({cut, range.end});
  }
  return pieces;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
