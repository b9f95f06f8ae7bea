#pragma once

#include <dataflux/list/detail/range_outlook.hpp>
#include <dataflux/list/name_range.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The probability of each byte where names branch.
class branch_guess {
 public:
  branch_guess(const name_tree& tree, std::string_view path, std::size_t depth, double size)
      : all_(tree.all()),
        kind_(tree.statistics(name_tree::kind_before(path, depth))),
        doubt_(0.3 * std::sqrt(size)) {
    const std::size_t own = branch_statistics::size_class(size);
    everywhere_ = all_.by_size[0].get();
    if (kind_ == nullptr) return;
    alike_ = kind_->by_size[own > 0 ? own - 1 : 0].get();
    smaller_ = kind_->by_size[0].get();
  }

  /// Names have been seen to branch at such a place.
  bool known() const noexcept { return kind_ != nullptr && kind_->nodes > 0; }
  /// Names go on alike at most such places.
  bool straight() const noexcept {
    if (alike_ == nullptr) return false;
    return alike_->nodes + kind_->open <= alike_->straight;
  }

  /// That names branch at such a place, if they have not done so yet.
  double branches() const noexcept {
    if (kind_ == nullptr || smaller_ == nullptr) return 0.5;
    const double all = smaller_->nodes + smaller_->straight + 1;
    const double weight = std::min(1.0, 3 / all);
    double found = kind_->open + 0.5 + weight * smaller_->nodes;
    double straight = 0.5 + weight * smaller_->straight;
    if (alike_ != nullptr) {
      found += alike_->nodes;
      straight += alike_->straight;
    }
    return found / (found + straight);
  }
  /// The mean size of siblings over the size of the one where we are.
  double evenness() const noexcept {
    double even = 1;
    double whole = 2;
    for (const auto* s : {everywhere_, smaller_, alike_}) {
      if (s == nullptr || s->whole == 0) continue;
      // Each counts as much as all before, unless it knows little itself.
      const double weight = std::min(s->whole, 4 * whole);
      even += s->even / s->whole * weight;
      whole += weight;
    }
    return even / whole;
  }

  /// That the next byte of the class follows one that is there, before this node is looked at.
  double follows() const noexcept {
    double followed = 0.3;
    double followable = 1;
    for (const auto* s : {everywhere_, smaller_, alike_}) {
      if (s == nullptr || s->followable == 0) continue;
      const double weight = std::min(s->followable, 2 * followable);
      followed += s->followed / s->followable * weight;
      followable += weight;
    }
    return followed / followable;
  }

  /// The same for one byte, by what follows its predecessor elsewhere; `before` is what was
  /// thought so far.
  double follows(unsigned byte, double before) const noexcept {
    double followed = before * doubt_;
    double followable = doubt_;
    for (const auto* s : {smaller_, alike_}) {
      if (s == nullptr) continue;
      const auto seen = static_cast<double>(s->having[byte - 1]);
      if (seen <= 0) continue;
      const double weight = s == alike_ ? 1 : std::min(1.0, doubt_ / seen);
      followable += weight * seen;
      followed += weight * std::min(seen, static_cast<double>(s->having[byte]));
    }
    return followed / followable;
  }

  double of(unsigned byte) const noexcept {
    constexpr double general_doubt = 3;
    constexpr double of_smaller = 0.05;  // what smaller nodes count
    double prior = blind(all_, byte);
    if (everywhere_ != nullptr) {
      prior = (static_cast<double>(everywhere_->having[byte]) + general_doubt * prior) /
              (everywhere_->whole + general_doubt);
    }
    if (kind_ == nullptr || kind_->nodes == 0) return prior;
    prior = std::max(prior, blind(*kind_, byte));
    double having = doubt_ * prior;
    double whole = doubt_;
    if (alike_ != nullptr) {
      having += static_cast<double>(alike_->having[byte]);
      whole += alike_->whole;
    }
    if (smaller_ != nullptr && smaller_->whole > 0) {
      const double weight = std::min(of_smaller * smaller_->whole, doubt_);
      having += weight * static_cast<double>(smaller_->having[byte]) / smaller_->whole;
      whole += weight;
    }
    return std::max(having / whole,
                    static_cast<double>(kind_->seen[byte]) / std::max(1U, kind_->nodes));
  }

 private:
  /// Without experience: letters go with letters, digits with digits.
  static double blind(const branch_statistics& s, unsigned byte) noexcept {
    const byte_class c = class_of(byte);
    const bool met = s.seen_class[static_cast<std::size_t>(c)] > 0;
    switch (c) {
      case byte_class::digit:
        return met ? 0.4 : 0.01;
      case byte_class::other:
        return byte >= 0x20 && byte < 0x7F ? (met ? 0.03 : 0.01) : 0;
      default:
        return met ? 0.2 : byte < 0x80 ? 0.01 : 0;
    }
  }

  const branch_statistics& all_;
  const branch_statistics* kind_;
  const branch_statistics::sized* alike_{nullptr};    // nodes of such a size, and larger
  const branch_statistics::sized* smaller_{nullptr};  // all nodes of the kind
  const branch_statistics::sized* everywhere_{nullptr};
  double doubt_;
};

DATAFLUX_INLINE std::span<const std::string> folder_list::below(
    std::string_view beginning) const noexcept {
  const auto first = std::lower_bound(entries.begin(), entries.end(), beginning);
  const auto last = std::find_if(first, entries.end(), [beginning](const std::string& entry) {
    return !entry.starts_with(beginning);
  });
  return {first, last};
}

DATAFLUX_INLINE std::pair<std::string, std::string> range_outlook::place_behind(
    std::size_t depth) const {
  const std::size_t before = depth == 0 ? std::string::npos : position_.rfind('/', depth - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t slash = position_.find('/', depth);
  return {position_.substr(0, begin), after_prefix(position_.substr(0, slash + 1))};
}

/// What is known of the folder in which the component at `depth` lies, if that is a folder itself.
DATAFLUX_INLINE const folder_list* range_outlook::list_at(const folder_lists& folders,
                                                          std::size_t depth) const {
  if (folders.empty() || position_.find('/', depth) == std::string::npos) return nullptr;
  const auto place = place_behind(depth);
  auto found = folders.upper_bound(place);
  if (found == folders.begin()) return nullptr;
  --found;
  if (found->first.first != place.first || !found->second.covers(place.second)) return nullptr;
  return &found->second;
}

DATAFLUX_INLINE std::optional<folder_question> range_outlook::question(const folder_lists& folders,
                                                                       double least) const {
  std::size_t slash = position_.find('/');
  std::size_t begin = 0;
  for (; slash != std::string::npos; begin = slash + 1, slash = position_.find('/', begin)) {
    if (slash < shared_) continue;
    double mass = 0;
    for (const step& s : steps_) {
      if (s.depth >= begin && s.depth <= slash && !s.sure) mass += s.mass;
    }
    if (mass < least || mass < 0.5 * expected_ || list_at(folders, slash) != nullptr) continue;
    folder_question asked{
        position_.substr(0, begin), after_prefix(position_.substr(0, slash + 1)), {}};
    asked.until = after_prefix(asked.within);
    if (!end_.empty() && (asked.until.empty() || end_ < asked.until)) asked.until = end_;
    if (!asked.until.empty() && asked.at >= asked.until) continue;
    return asked;
  }
  return std::nullopt;
}

DATAFLUX_INLINE void range_outlook::look(const name_tree& tree, const folder_lists& folders,
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
    whole = (node != nullptr ? static_cast<double>(node->listed) : whole) + 0;
    if (node != nullptr) {
      whole += expected_;
      own_listed_ = static_cast<double>(node->listed);
    }
    if (depth <= shared_) break;
  }
}

DATAFLUX_INLINE void range_outlook::look_at(const name_tree& tree, const folder_list* list,
                                            std::size_t depth, const name_tree::node* node,
                                            double whole) {
  const bool at_end = !end_.empty() && depth == shared_;
  const unsigned own = position_.empty() ? 0 : static_cast<unsigned char>(position_[depth]);
  const unsigned behind = at_end ? static_cast<unsigned char>(end_[depth]) : 256;
  const branch_guess guess(tree, position_, depth, whole);
  const double even = guess.evenness();
  // The less equal siblings are, the less the unseen part of this one says about them.
  const double sure = own_listed_ * (0.5 / std::pow(std::max(1.02 - even, 0.001), 2) + 1);
  double sibling = std::min(whole, sure) * even;
  double ratio = node == nullptr ? guess.branches() : 1;
  std::string beginning = position_.substr(0, depth) + ' ';
  const auto begin_with = [&beginning](unsigned byte) -> const std::string& {
    beginning.back() = static_cast<char>(byte);
    return beginning;
  };
  double entries = 0;
  double groups = 0;
  if (list != nullptr) {
    for (unsigned b = own + 1; b < behind; ++b) {
      if (!list->covers(begin_with(b))) continue;
      const auto count = static_cast<double>(list->below(beginning).size());
      entries += count;
      groups += count > 0 ? 1 : 0;
    }
  }
  if (node == nullptr && groups == 0 && (!guess.known() || guess.straight())) {
    if (behind - own > 1 && !guess.straight()) unknown_.push_back(depth);
    return;
  }
  double follows = 0;
  if (node != nullptr) {
    double followed = 2 * guess.follows();
    double followable = 2;
    for (std::size_t i = 0; i + 1 < node->children.size() && node->children[i].byte < own; ++i) {
      followable += 1;
      if (node->children[i + 1].byte == node->children[i].byte + 1) followed += 1;
    }
    follows = followed / followable;
    double sum = sibling;
    double count = 1;
    double met = 1;
    double foreseen = 1;
    for (const name_tree::child& c : node->children) {
      if (c.byte <= own) {
        met += 1;
        foreseen += 0;
      }
      if (c.byte == own) continue;
      const double size = static_cast<double>(c.listed);
      if (c.whole || size > sum / count) {
        sum += size;
        count += 1;
      }
    }
    const unsigned first = node->children.empty() ? own : node->children.front().byte;
    for (unsigned b = first; b <= own; ++b) foreseen += guess.of(b);
    ratio = std::clamp(met / foreseen, 0.2, 5.0);
    sibling = sum / count;
  }
  double run = 1;
  for (unsigned b = own + 1; b < behind; ++b) {
    run = run > 0.005 && class_of(b) == class_of(own) ? run * guess.follows(b, follows) : 0;
    double chance = std::min(1.0, std::max(run, ratio * guess.of(b)));
    bool sure = chance > 0.9;
    if (list != nullptr && list->covers(begin_with(b))) {
      chance =
          groups == 0 ? 0 : static_cast<double>(list->below(beginning).size()) * groups / entries;
      sure = true;
    }
    if (chance < 0.005) continue;
    steps_.push_back({depth, static_cast<std::uint8_t>(b), chance * sibling, 1, sure});
    expected_ += chance * sibling;
  }
  if (at_end && end_.size() > depth + 1) {
    double part = 0;
    double share = 1;
    for (std::size_t i = depth + 1; i < end_.size() && share > 0.01; ++i) {
      const branch_guess inner(tree, end_, i, share * sibling);
      if (!inner.known() || inner.straight()) continue;
      double before = 0;
      double sum = 0;
      const auto stop = static_cast<unsigned char>(end_[i]);
      for (unsigned b = 0; b < 256; ++b) {
        const double p = inner.of(b);
        sum += p;
        if (b < stop) before += p;
      }
      part += share * before / sum;
      share *= inner.of(stop) / sum;
    }
    if (part > 0.005) {
      steps_.push_back({depth, static_cast<std::uint8_t>(behind), part * sibling, part});
      expected_ += part * sibling;
    }
  }
}

DATAFLUX_INLINE std::string range_outlook::cut_beyond(const name_tree& tree,
                                                      std::size_t depth) const {
  if (depth >= position_.size()) return {};
  const branch_guess guess(tree, position_, depth, 1);
  unsigned last = static_cast<unsigned char>(position_[depth]);
  for (unsigned b = last; b < 256; ++b) {
    if (guess.of(b) > 0.05) last = b;
  }
  if (last >= 0xF0) return {};
  return position_.substr(0, depth) + (last < 0x7F ? "\x7F" : "\xF0\x90\x80\x80");
}

DATAFLUX_INLINE std::string range_outlook::cut_behind(std::size_t depth) const {
  return after_prefix(well_formed_part(std::string_view(position_).substr(0, depth + 1)));
}

DATAFLUX_INLINE std::string range_outlook::cut_at(const name_tree& tree,
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
    if (!entries.empty()) {
      const auto at =
          static_cast<std::size_t>(wanted / in.mass * static_cast<double>(entries.size()) + 0.5);
      if (at < entries.size()) return entries[at];
    }
  }
  double size = in.mass / in.part;
  while (wanted > slack && cut.size() < 512) {
    const branch_guess guess(tree, cut, cut.size(), size);
    if (!guess.known() || guess.straight()) break;
    double sum = 0;
    for (unsigned b = 0; b < 256; ++b) sum += guess.of(b);
    double passed = 0;
    unsigned chosen = 0;
    double last = 0;
    for (unsigned b = 0; b < 256; ++b) {
      const double p = guess.of(b);
      if (p < 0.01 * sum && p < 0.005) continue;
      if ((passed + p) / sum * size > wanted) {
        chosen = b;
        last = p;
        break;
      }
      passed += p;
    }
    if (last == 0) break;
    wanted -= passed / sum * size;
    size *= last / sum;
    cut += static_cast<char>(chosen);
  }
  if (wanted > slack && wanted > 0.5 * in.mass && i + 1 < steps_.size()) {
    const step& next = steps_[i + 1];
    return position_.substr(0, next.depth) + static_cast<char>(next.byte);
  }
  return cut;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
