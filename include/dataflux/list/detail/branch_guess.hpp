#pragma once

#include <dataflux/list/detail/name_tree.hpp>
#include <dataflux/list/detail/splitter_figures.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// How likely each byte is where names branch, by all that a name_tree has seen at places of that
/// kind, and by general experience where that is little. `size`: how many names lie at the place;
/// what smaller places teach counts less.
class branch_guess {
 public:
  branch_guess(const name_tree& tree, std::string_view path, std::size_t depth, double size)
      : all_(tree.all()),
        kind_(tree.statistics(name_tree::kind_before(path, depth))),
        doubt_(splitting::byte_doubt * std::sqrt(size)) {
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
    if (kind_ == nullptr || smaller_ == nullptr) return 0.5;  // as likely as not
    const double all = smaller_->nodes + smaller_->straight + 1;
    const double weight = std::min(1.0, splitting::branching_anywhere / all);
    double found = splitting::branching_doubt + kind_->open + weight * smaller_->nodes;
    double straight = splitting::branching_doubt + weight * smaller_->straight;
    if (alike_ != nullptr) {
      found += alike_->nodes;
      straight += alike_->straight;
    }
    return found / (found + straight);
  }
  /// The mean size of siblings over the size of the one where we are.
  double evenness() const noexcept {
    double even = splitting::evenness_doubt / 2;
    double whole = splitting::evenness_doubt;
    for (const auto* s : {everywhere_, smaller_, alike_}) {
      if (s == nullptr || s->whole == 0) continue;
      // Each counts as much as all before, unless it knows little itself.
      const double weight = std::min(s->whole, splitting::evenness_growth * whole);
      even += s->even / s->whole * weight;
      whole += weight;
    }
    return even / whole;
  }

  /// That the next byte of the class follows one that is there, before this node is examined.
  double follows() const noexcept {
    const double doubt = splitting::following_doubt;
    if (all_.followable == 0) return splitting::following;
    const double weight = std::min(all_.followable, splitting::following_growth * doubt);
    return (splitting::following * doubt + all_.followed / all_.followable * weight) /
           (doubt + weight);
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
    double prior = blind(all_, byte);
    if (everywhere_ != nullptr) {
      prior = (static_cast<double>(everywhere_->having[byte]) + splitting::general_doubt * prior) /
              (everywhere_->whole + splitting::general_doubt);
    }
    if (kind_ == nullptr || kind_->nodes == 0) return prior;
    prior = std::max(prior, blind(*kind_, byte));
    double having = doubt_ * prior;
    double whole = doubt_;
    if (alike_ != nullptr) {
      having += static_cast<double>(alike_->having[byte]);
      whole += alike_->whole;
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
        return met ? splitting::digit : splitting::unseen_class;
      case byte_class::other:
        if (byte < 0x20 || byte >= 0x7F) return 0;
        return met ? splitting::punctuation : splitting::unseen_class;
      default:
        if (met) return splitting::letter;
        return byte < 0x80 ? splitting::unseen_class : 0;
    }
  }

  const branch_statistics& all_;
  const branch_statistics* kind_;
  const branch_statistics::sized* alike_{nullptr};    // nodes of such a size, and larger
  const branch_statistics::sized* smaller_{nullptr};  // all nodes of the kind
  const branch_statistics::sized* everywhere_{nullptr};
  double doubt_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
