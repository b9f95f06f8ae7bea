#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/list/detail/splitter_figures.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Bytes that are likely to occur together: digits, capitals, small letters, the parts of longer
/// code points, and all else.
enum class byte_class : std::uint8_t { other, digit, capital, small, inner, lead2, lead3, lead4 };
constexpr byte_class class_of(unsigned byte) noexcept {
  if (byte >= '0' && byte <= '9') return byte_class::digit;
  if (byte >= 'A' && byte <= 'Z') return byte_class::capital;
  if (byte >= 'a' && byte <= 'z') return byte_class::small;
  if (byte < 0x80) return byte_class::other;
  if (byte < 0xC2) return byte_class::inner;
  if (byte < 0xE0) return byte_class::lead2;
  return byte < 0xF0 ? byte_class::lead3 : byte_class::lead4;
}

/// How often a byte follows where names branch, learned for one kind of place.
struct branch_statistics {
  /// What nodes of at least some size teach, which have been listed whole.
  struct sized {
    /// Nodes, each weighed by its size: how much in all, and how much of it has a child with that
    /// byte.
    double whole{0};
    std::array<float, 256> having{};
    /// How equal their children are in size, 1 = all alike: the mean size over the size of the
    /// child in which an arbitrary name lies. A sum, weighed as `whole`.
    double even{0};
    std::uint32_t nodes{0};
    /// Places of this kind where all names went on alike.
    std::uint32_t straight{0};
  };
  static constexpr std::size_t sizes = 8;
  static std::size_t size_class(double size) noexcept {
    std::size_t c = 0;
    double least = splitting::smallest_node;
    while (c + 1 < sizes && size >= least) {
      least *= splitting::node_growth;
      ++c;
    }
    return c;
  }

  /// [c]: of size class c and above.
  std::array<std::unique_ptr<sized>, sizes> by_size{};
  sized& at_least(std::size_t c) {
    if (!by_size.at(c)) by_size.at(c) = std::make_unique<sized>();
    return *by_size.at(c);
  }
  /// Of children that the next byte of their class could follow: how many, and how many it did. A
  /// sum, weighed as `whole`; of all places alone.
  double followable{0};
  double followed{0};
  /// Nodes that have a child with that byte, whole or not.
  std::array<std::uint16_t, 256> seen{};
  std::array<std::uint32_t, 8> seen_class{};
  std::uint32_t nodes{0};  ///< ever
  std::uint32_t open{0};   ///< of them, not yet listed whole
};

/// What is known of the names of a listing: the prefixes that branch, and how many names were
/// listed below each. A part that has been listed whole is reduced to a number, and to what it
/// teaches about others: so the tree holds only what lies between the listed and the unlisted.
class name_tree {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  struct child {
    std::uint8_t byte{0};
    bool whole{false};         ///< listed whole; has no node any more
    std::uint32_t node{none};  ///< where names below it branch again
    std::uint64_t listed{0};
    std::string sample{};  ///< without a node, and not whole: a name below it
  };
  struct node {
    std::string path{};
    std::uint32_t kind{0};          ///< kind_of() its path
    std::vector<child> children{};  ///< ascending
    std::uint64_t listed{0};
    /// Entries that one reported name stands for, at most. Of smaller ones a part is seen only.
    std::uint64_t grain{1};
  };

  name_tree();

  /// One name, which stands for `weight` entries up to it.
  void add(std::string_view name, std::uint64_t weight);
  /// Everything from `low` up to `high` (empty = no bound) has been listed.
  void close(std::string_view low, std::string_view high);

  /// The branching nodes above `name`, the root first.
  void path_to(std::string_view name, std::vector<std::uint32_t>& nodes) const;
  const node& at(std::uint32_t id) const noexcept { return nodes_[id]; }
  const child* find(const node& n, std::uint8_t byte) const noexcept;

  /// The kind of the place behind `path`: where in its component, and in which component it lies.
  static std::uint32_t kind_of(std::string_view path) noexcept;
  /// As above for the place before `name[at]`; where a component ends, that alone counts.
  static std::uint32_t kind_before(std::string_view name, std::size_t at) noexcept;
  /// Null when no node of that kind has been seen.
  const branch_statistics* statistics(std::uint32_t kind) const noexcept {
    return kinds_[kind].get();
  }
  const branch_statistics& all() const noexcept { return all_; }

 private:
  /// A place of a name, which goes on to the next without counting anew.
  struct place {
    std::size_t at{0};
    std::size_t begin{0};  ///< of its component
    std::uint32_t components{0};
    void advance(std::string_view path, std::size_t to) noexcept;
    std::uint32_t kind(std::string_view path) const noexcept;
    std::uint32_t kind_before(std::string_view name) const noexcept;
  };
  /// Kinds by component and offset come first, then those inside code points (by how many bytes
  /// are missing and were had, and by offset), then those where components end.
  static constexpr std::uint32_t inside_code_points =
      splitting::components_told_apart * splitting::offsets_told_apart;
  static constexpr std::uint32_t endings =
      inside_code_points + splitting::longest_code_point * splitting::longest_code_point *
                               splitting::code_points_told_apart;
  static constexpr std::uint32_t kinds = endings + splitting::components_told_apart;

  /// statistics(), made when it is the first of that kind.
  branch_statistics& learned(std::uint32_t kind);
  std::uint32_t new_node(std::string path);
  void free_below(std::uint32_t id);
  void learn(const node& n);
  void learn_straight(std::string_view path, std::size_t from, std::size_t to, std::uint64_t size);
  child& child_of(std::uint32_t id, std::uint8_t byte);
  void close_in(std::uint32_t id, std::string_view low, std::string_view high, bool low_binds,
                bool high_binds);

  std::vector<node> nodes_{};
  std::vector<std::uint32_t> free_{};
  std::array<std::unique_ptr<branch_statistics>, kinds> kinds_{};
  branch_statistics all_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/name_tree.ipp>
#endif
