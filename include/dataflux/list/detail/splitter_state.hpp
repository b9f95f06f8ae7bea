#pragma once

#include <dataflux/list/detail/list_action.hpp>
#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/list/detail/name_tree.hpp>
#include <dataflux/list/detail/range_estimate.hpp>

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What a range_splitter holds.
struct splitter_state {
  static constexpr std::uint32_t none = name_tree::none;

  struct piece {
    name_range names{};
    std::string position{};  ///< the last name listed, if `positioned`
    range_estimate estimate{};
    double expected{0};  ///< behind `position`
    std::uint64_t listed{0};
    std::uint64_t since_cut{0};  ///< of them, since something was given away
    std::uint64_t ahead{0};      ///< of them, those that the page in flight brings once more
    std::uint64_t given{0};      ///< of them, those that came by another's page since it was sent
    std::uint32_t asked{0};      ///< size of the page in flight
    std::uint32_t before{none};  ///< the open ranges beside it
    std::uint32_t behind{none};
    bool positioned{false};
    bool open{true};
    bool in_flight{false};
    bool scan{false};        ///< that page is page after page's
    bool looked{false};      ///< `estimate` is of `position` and `names.end`
    bool explored{false};    ///< since the end moved
    bool asking{false};      ///< what folders are ahead: a probe is on its way
    bool unanswered{false};  ///< it failed
  };
  struct probe {
    std::uint32_t range{0};
    folder_question question{};
    bool peek{false};
  };
  struct victim {
    std::uint32_t id{0};
    double hoped{0};  ///< behind its position
    double left{0};   ///< of that, behind the page in flight
    std::uint32_t parts{1};
  };

  void look(piece& p);
  static double in_flight_of(const piece& p);
  void unlink(std::uint32_t id);
  void close_around(std::uint32_t id);
  bool divide(std::uint32_t id, std::string_view at, double share);
  void send(std::uint32_t id, std::size_t idle);
  void take(std::uint32_t id, const list_page_report& page);
  std::size_t peek();
  std::size_t scan(std::size_t idle);
  void peeked(std::uint32_t id, std::span<const std::string_view> names);
  std::size_t send_waiting(std::size_t slots, bool leftmost_only);
  std::size_t allowance() const;
  void choose_victims(std::size_t idle, std::size_t most);
  void share_out(std::size_t most, double least);
  std::size_t steal(std::size_t idle, std::size_t most);
  bool ask_folders(std::uint32_t id);
  static std::vector<std::size_t> pick_places(const std::vector<std::size_t>& unknown,
                                              std::size_t skipped, std::size_t most);
  std::size_t explore(std::size_t most);

  range_splitter_options options{};
  std::vector<list_action> actions{};
  std::deque<piece> pieces{};  ///< by id
  std::vector<victim> victims{};
  name_tree tree{};
  folder_lists folders{};
  std::vector<probe> probes{};  ///< by id
  std::size_t asked_now{0};     ///< probes among `actions`
  std::uint32_t first{0};       ///< the leftmost open range
  bool overtaken{false};        ///< another page brought names of it, since the last plan
  /// How long the beginning is that all names share by the listing's own bounds; none when a bound
  /// cuts through the names.
  std::uint32_t beyond_depth{none};
  std::size_t open{1};
  std::uint64_t listed{0};
  std::uint64_t calls{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/splitter_state.ipp>
#endif
