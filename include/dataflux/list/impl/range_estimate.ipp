#pragma once

#include <dataflux/list/detail/branch_guess.hpp>
#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/list/detail/range_estimate.hpp>
#include <dataflux/list/detail/splitter_figures.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE std::span<const std::string> folder_list::below(
    std::string_view beginning) const noexcept {
  const auto first = std::lower_bound(entries.begin(), entries.end(), beginning);
  const auto last = std::find_if(first, entries.end(), [beginning](const std::string& entry) {
    return !entry.starts_with(beginning);
  });
  return {first, last};
}

DATAFLUX_INLINE std::pair<std::string, std::string> range_estimate::place_behind(
    std::size_t depth) const {
  const std::size_t before = depth == 0 ? std::string::npos : position_.rfind('/', depth - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t slash = position_.find('/', depth);
  return {position_.substr(0, begin), after_prefix(position_.substr(0, slash + 1))};
}

/// What is known of the folder in which the component at `depth` lies, if that is a folder itself.
DATAFLUX_INLINE const folder_list* range_estimate::list_at(const folder_lists& folders,
                                                           std::size_t depth) const {
  if (folders.empty() || position_.find('/', depth) == std::string::npos) return nullptr;
  const auto place = place_behind(depth);
  auto found = folders.upper_bound(place);
  if (found == folders.begin()) return nullptr;
  --found;
  if (found->first.first != place.first || !found->second.covers(place.second)) return nullptr;
  return &found->second;
}

DATAFLUX_INLINE std::optional<folder_question> range_estimate::question(
    const folder_lists& folders) const {
  std::size_t slash = position_.find('/');
  std::size_t begin = 0;
  for (; slash != std::string::npos; begin = slash + 1, slash = position_.find('/', begin)) {
    if (slash < shared_) continue;
    double mass = 0;
    for (const step& s : steps_) {
      if (s.depth >= begin && s.depth <= slash && !s.sure) mass += s.mass;
    }
    if (mass < splitting::worth_asking * expected_ || list_at(folders, slash) != nullptr) continue;
    folder_question asked{
        position_.substr(0, begin), after_prefix(position_.substr(0, slash + 1)), {}};
    asked.until = after_prefix(asked.within);
    if (!end_.empty() && (asked.until.empty() || end_ < asked.until)) asked.until = end_;
    if (!asked.until.empty() && asked.at >= asked.until) continue;
    return asked;
  }
  return std::nullopt;
}

DATAFLUX_INLINE void range_estimate::look(const name_tree& tree, const folder_lists& folders,
                                          std::string_view position, std::string_view end) {
  position_ = position;
  end_ = end;
  steps_.clear();
  unknown_.clear();
  expected_ = 0;
  shared_ = end.empty() ? 0 : shared_length(position, end);
  tree.path_to(position, spine_);
  std::size_t depth = tree.at(spine_.back()).path.size();
  if (position.empty() || depth < shared_) depth = shared_;
  depth = std::min(depth, position.empty() ? 0 : position.size() - 1);
  double whole = 1;
  own_listed_ = 1;
  for (std::size_t i = spine_.size();; --depth) {
    const name_tree::node* node = nullptr;
    while (i > 0 && tree.at(spine_[i - 1]).path.size() > depth) --i;
    if (i > 0 && tree.at(spine_[i - 1]).path.size() == depth) node = &tree.at(spine_[i - 1]);
    if (node != nullptr) {
      const auto* own = tree.find(*node, static_cast<std::uint8_t>(position_[depth]));
      if (own != nullptr) {
        own_listed_ = static_cast<double>(own->listed);
        whole = own_listed_ + expected_;
      }
    }
    look_at(tree, list_at(folders, depth), depth, node, whole);
    if (node != nullptr) {
      own_listed_ = static_cast<double>(node->listed);
      whole = own_listed_ + expected_;
    }
    if (depth <= shared_) break;
  }
}

/// Estimates siblings by the children that are known at a place: how large one is, how likely one
/// follows at all, and how likely one follows in a run.
DATAFLUX_INLINE range_estimate::siblings range_estimate::known_siblings(const branch_guess& guess,
                                                                        const name_tree::node& node,
                                                                        unsigned own, double size) {
  double followed = splitting::following_doubt_here * guess.follows();
  double followable = splitting::following_doubt_here;
  double sum = size;
  double count = 1;
  double met = 1;
  double foreseen = 1;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const name_tree::child& c = node.children[i];
    if (c.byte <= own) met += 1;
    // Behind one that is not whole, what is missing has not been listed.
    if (c.byte < own && c.whole && i + 1 < node.children.size()) {
      followable += 1;
      if (node.children[i + 1].byte == c.byte + 1) followed += 1;
    }
    const auto listed = static_cast<double>(c.listed);
    if (c.byte != own && (c.whole || listed > sum / count)) {
      sum += listed;
      count += 1;
    }
  }
  const unsigned first = node.children.empty() ? own : node.children.front().byte;
  for (unsigned b = first; b <= own; ++b) foreseen += guess.of(b);
  return {sum / count, met / foreseen, followed, followable};
}

/// What a folder_list says about the siblings at one place: how many entries, below how many bytes.
DATAFLUX_INLINE range_estimate::listed_entries range_estimate::count_entries(
    const folder_list* list, std::size_t depth, unsigned own, unsigned behind) const {
  listed_entries found;
  if (list == nullptr) return found;
  const std::string_view before = std::string_view(position_).substr(0, depth);
  std::string beginning(before);
  beginning += ' ';
  bool begun = false;
  for (unsigned b = own + 1; b < behind; ++b) {
    beginning.back() = static_cast<char>(b);
    begun = begun || beginning >= list->from;
    if (!list->upto.empty() && beginning >= list->upto) break;
    found.covered.at(b) = begun;
  }
  beginning.back() = static_cast<char>(own);
  auto entry = std::lower_bound(list->entries.begin(), list->entries.end(), beginning);
  for (; entry != list->entries.end() && entry->starts_with(before); ++entry) {
    const unsigned b = entry->size() > depth ? static_cast<unsigned char>((*entry)[depth]) : 0;
    if (!found.covered.at(b)) continue;
    if (found.below.at(b) == 0) found.bytes += 1;
    found.below.at(b) += 1;
    found.all += 1;
  }
  return found;
}

DATAFLUX_INLINE void range_estimate::look_at(const name_tree& tree, const folder_list* list,
                                             std::size_t depth, const name_tree::node* node,
                                             double whole) {
  const bool at_end = !end_.empty() && depth == shared_;
  const unsigned own = position_.empty() ? 0 : static_cast<unsigned char>(position_[depth]);
  const unsigned behind = at_end ? static_cast<unsigned char>(end_[depth]) : 256;
  const branch_guess guess(tree, position_, depth, whole);
  const listed_entries entries = count_entries(list, depth, own, behind);
  if (node == nullptr && entries.bytes == 0 && (!guess.known() || guess.straight())) {
    if (behind - own > 1 && !guess.straight()) unknown_.push_back(depth);
    return;
  }
  const double even = guess.evenness();
  // The less equal siblings are, the less the unseen part of this one says about them.
  const double uneven = std::max(splitting::full_evenness - even, splitting::least_unevenness);
  const double sure = own_listed_ * (splitting::certainty / (uneven * uneven) + 1);
  siblings ahead{std::min(whole, sure) * even, guess.branches(), 0, 1};
  if (node != nullptr) ahead = known_siblings(guess, *node, own, ahead.size);
  double run = 1;
  for (unsigned b = own + 1; b < behind; ++b) {
    run = run > splitting::negligible && class_of(b) == class_of(own)
              ? run * guess.follows(b, ahead.followed / ahead.followable)
              : 0;
    // The longer a run has gone on, the surer it does.
    ahead.followed += 1;
    ahead.followable += 1;
    double chance = std::min(1.0, std::max(run, ahead.ratio * guess.of(b)));
    bool is_sure = chance > splitting::sure;
    if (entries.covered.at(b)) {
      chance = entries.all > 0 ? entries.below.at(b) * entries.bytes / entries.all : 0;
      is_sure = true;
    }
    if (chance >= splitting::negligible) add_step(depth, b, chance * ahead.size, 1, is_sure);
  }
  if (!at_end) return;
  const double part = part_before_end(tree, depth + 1, ahead.size);
  if (part > splitting::negligible) add_step(depth, behind, part * ahead.size, part, false);
}

DATAFLUX_INLINE void range_estimate::add_step(std::size_t depth, unsigned byte, double mass,
                                              double part, bool sure) {
  steps_.push_back({depth, static_cast<std::uint8_t>(byte), mass, part, sure});
  expected_ += mass;
}

/// How much of the sibling through which the range's end runs lies before it.
DATAFLUX_INLINE double range_estimate::part_before_end(const name_tree& tree, std::size_t depth,
                                                       double size) const {
  double part = 0;
  double share = 1;
  for (; depth < end_.size() && share > splitting::negligible_part; ++depth) {
    const branch_guess inner(tree, end_, depth, share * size);
    if (!inner.known() || inner.straight()) continue;
    double before = 0;
    double sum = 0;
    const auto stop = static_cast<unsigned char>(end_[depth]);
    for (unsigned b = 0; b < 256; ++b) {
      const double chance = inner.of(b);
      sum += chance;
      if (b < stop) before += chance;
    }
    part += share * before / sum;
    share *= inner.of(stop) / sum;
  }
  return part;
}

DATAFLUX_INLINE std::string range_estimate::cut_beyond(std::size_t depth) const {
  if (depth >= position_.size()) return {};
  const auto last = static_cast<unsigned char>(position_[depth]);
  if (last >= 0xF0) return {};
  return position_.substr(0, depth) + (last < 0x7F ? "\x7F" : "\xF0\x90\x80\x80");
}

DATAFLUX_INLINE std::string range_estimate::cut_behind(std::size_t depth) const {
  return after_prefix(well_formed_part(std::string_view(position_).substr(0, depth + 1)));
}

DATAFLUX_INLINE std::string range_estimate::cut_at(const name_tree& tree,
                                                   const folder_lists& folders, double mass,
                                                   double slack) const {
  std::size_t i = 0;
  double before = 0;
  while (i < steps_.size() && before + steps_[i].mass <= mass) before += steps_[i++].mass;
  if (i == steps_.size()) {
    if (i == 0) return {};
    --i;
    before -= steps_[i].mass;
    mass = before;
  }
  const step& in = steps_[i];
  std::string cut = position_.substr(0, in.depth) + static_cast<char>(in.byte);
  double wanted = mass - before;
  if (const folder_list* list = list_at(folders, in.depth); list != nullptr && list->covers(cut)) {
    const auto entries = list->below(cut);
    const auto count = static_cast<double>(entries.size());
    const auto at = static_cast<std::size_t>(std::lround(wanted / in.mass * count));
    if (at < entries.size()) return entries[at];
  }
  wanted = descend(tree, cut, wanted, in.mass / in.part, slack);
  // The next sibling's beginning may be nearer.
  if (wanted > slack && wanted > in.mass / 2 && i + 1 < steps_.size()) {
    const step& next = steps_[i + 1];
    return position_.substr(0, next.depth) + static_cast<char>(next.byte);
  }
  return cut;
}

/// Lengthens `cut`, below which `size` names are expected, towards the place that has `wanted` of
/// them before it, as far as is known how such names branch. How much is still missing.
DATAFLUX_INLINE double range_estimate::descend(const name_tree& tree, std::string& cut,
                                               double wanted, double size, double slack) {
  while (wanted > slack && cut.size() < splitting::longest_cut) {
    const branch_guess guess(tree, cut, cut.size(), size);
    if (!guess.known() || guess.straight()) break;
    double sum = 0;
    for (unsigned b = 0; b < 256; ++b) sum += guess.of(b);
    double passed = 0;
    double last = 0;
    for (unsigned b = 0; b < 256; ++b) {
      const double chance = guess.of(b);
      if ((passed + chance) / sum * size > wanted) {
        last = chance;
        cut += static_cast<char>(b);
        break;
      }
      passed += chance;
    }
    if (last == 0) break;
    wanted -= passed / sum * size;
    size *= last / sum;
  }
  return wanted;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
