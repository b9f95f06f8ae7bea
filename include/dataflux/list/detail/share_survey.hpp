#pragma once

#include <dataflux/list/detail/name_range.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Pieces of a task's rest that its survey looks for.
inline constexpr std::size_t wanted_share_pieces = 6;

/// Finds places to cut a range of which nothing is known, by questions for single names.
///
/// It goes down the tree of the names: how many characters do all have in common, and which ones
/// follow there? For that it asks for the first name behind all that begin with some text. One
/// level after the other is opened until there are enough pieces. How many names a piece has nobody
/// asks: a page at its beginning looks alike whether a thousand or a billion follow.
///
///     for (;;) {
///       auto question = survey.next();     // as often as calls may be in flight
///       ... the first name that is >= question->from, in the range ...
///       survey.answered(question->id, name);
///     }
///
/// Pure. Not thread-safe. Cost: one call for each piece, and some for what all have in common.
class share_survey {
 public:
  struct question {
    std::size_t id{0};
    /// The first name of these is asked for. Not empty.
    name_range names{};
  };
  /// All names of `range` begin with `prefix`.
  share_survey(name_range range, const std::string& prefix, std::size_t wanted);

  /// The next question; nothing while answers are to come, and at the end.
  std::optional<question> next();
  /// Nothing: there is none. A question that failed may be answered so.
  void answered(std::size_t id, std::optional<std::string_view> name);
  bool finished() const noexcept { return open_ == 0; }
  std::size_t asked() const noexcept { return asked_; }

  /// In order, each is a cut (is_cut) of the range. Once it has finished.
  const std::vector<std::string>& cuts() const noexcept { return cuts_; }

 private:
  enum class phase : std::uint8_t { begin, search, scan, done };
  /// A piece whose names all begin with the first `depth` bytes of `first`.
  struct node {
    name_range names{};
    std::string first{};
    std::size_t depth{0};
    std::vector<std::size_t> ends{};      ///< of the characters of `first` behind `depth`
    std::size_t low{0};                   ///< where names differ first is one of ends[low .. high);
    std::size_t high{0};                  ///< or `high`, which is none if it is the size
    std::size_t tried{0};                 ///< of them, the one that was asked for
    std::string other{};                  ///< the first name that differs there
    std::vector<std::string> branches{};  ///< the first name of each piece but the first
    std::string from{};                   ///< of the question
    phase at{phase::begin};
    bool asking{false};
  };
  void look_at(node& n);
  void search(node& n);
  void found(node& n, std::string_view name);
  void end(node& n);
  std::size_t place(const node& n) const noexcept;
  void end_level();

  const std::size_t wanted_;
  std::deque<node> nodes_{};  ///< by id; a level lies behind the one before it
  std::vector<std::string> cuts_{};
  std::size_t level_{0};  ///< the first node of the level that is asked about
  std::size_t open_{1};   ///< nodes of it that are not done
  std::size_t asked_{0};
  std::size_t asking_{0};
};

/// The pieces of `range` between cuts, of which some may lie outside of it.
std::vector<name_range> cut_at(const name_range& range, const std::vector<std::string>& cuts);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/share_survey.ipp>
#endif
