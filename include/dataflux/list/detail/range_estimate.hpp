#pragma once

#include <dataflux/list/detail/name_tree.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

class branch_guess;

/// What one folder holds directly, from one place to another: its folders and names.
struct folder_list {
  std::string from{};
  std::string upto{};                  ///< empty = all behind `from`
  std::vector<std::string> entries{};  ///< ascending

  /// Whether everything that begins with `beginning` has been examined.
  bool covers(std::string_view beginning) const noexcept {
    return beginning >= from && (upto.empty() || beginning < upto);
  }
  std::span<const std::string> below(std::string_view beginning) const noexcept;
};
/// By path, which ends with '/', and where the list begins.
using folder_lists = std::map<std::pair<std::string, std::string>, folder_list>;

/// A listing with a delimiter that would show where to cut.
struct folder_question {
  std::string within{};
  std::string at{};
  std::string until{};
};

/// What is expected between the last listed name of a range and its end, by a name_tree: at each
/// place of that name where names branch, how many siblings are still to come, times the size of a
/// sibling.
class range_estimate {
 public:
  void look(const name_tree& tree, const folder_lists& folders, std::string_view position,
            std::string_view end);

  double expected() const noexcept { return expected_; }
  /// Where about `mass` of what is expected lies before; empty when nothing is known there. What
  /// comes out is a beginning of names: it may end inside a code point. `slack`: how far off is
  /// good enough.
  std::string cut_at(const name_tree& tree, const folder_lists& folders, double mass,
                     double slack) const;
  /// Places of the last name where nothing has branched so far, and something might: a cut behind
  /// each shows how far the names reach. The rightmost first.
  const std::vector<std::size_t>& unknown() const noexcept { return unknown_; }
  std::string cut_behind(std::size_t depth) const;
  /// Behind all ASCII at a place of the last name, or behind all code points of up to three bytes
  /// where there is none. Empty when that place is behind both.
  std::string cut_beyond(std::size_t depth) const;
  /// The folder that holds most of what is expected, if it is not known what lies in it.
  std::optional<folder_question> question(const folder_lists& folders) const;

 private:
  struct step {
    std::size_t depth{0};
    std::uint8_t byte{0};
    double mass{0};
    double part{1};  ///< of the sibling that lies before the range's end
    bool sure{false};
  };
  /// The folder in which the component at `depth` lies, and what comes behind that component.
  std::pair<std::string, std::string> place_behind(std::size_t depth) const;
  const folder_list* list_at(const folder_lists& folders, std::size_t depth) const;

  struct siblings {
    double size{0};   ///< of one
    double ratio{1};  ///< how much more likely each is than elsewhere
    /// Of children that the next byte of their class could follow: how many it did, of how many.
    double followed{0};
    double followable{1};
  };
  struct listed_entries {
    std::array<bool, 256> covered{};
    std::array<double, 256> below{};
    double all{0};
    double bytes{0};  ///< that have any
  };
  static siblings known_siblings(const branch_guess& guess, const name_tree::node& node,
                                 unsigned own, double size);
  listed_entries count_entries(const folder_list* list, std::size_t depth, unsigned own,
                               unsigned behind) const;
  void look_at(const name_tree& tree, const folder_list* list, std::size_t depth,
               const name_tree::node* node, double whole);
  void add_step(std::size_t depth, unsigned byte, double mass, double part, bool sure);
  double part_before_end(const name_tree& tree, std::size_t depth, double size) const;
  static double descend(const name_tree& tree, std::string& cut, double wanted, double size,
                        double slack);

  std::string position_{};
  std::string end_{};
  std::vector<step> steps_{};
  std::vector<std::size_t> unknown_{};
  std::vector<std::uint32_t> spine_{};
  double expected_{0};
  double own_listed_{1};
  std::size_t shared_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/range_estimate.ipp>
#endif
