#pragma once

#include <dataflux/list/detail/list_queue.hpp>
#include <dataflux/list/detail/page_check.hpp>
#include <dataflux/list/detail/range_splitter.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/store/detail/coordinator.hpp>
#include <dataflux/store/detail/late_failure.hpp>
#include <dataflux/store/detail/page_bound.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One page or probe that was sent, and its reply.
struct list_call {
  std::uint32_t id{0};  ///< of the range, or of the probe
  bool probe{false};
  std::uint32_t nth{0};    ///< of the range's pages
  std::uint32_t asked{0};  ///< entries that the splitter wants
  list_page_request request{};
  /// Where the pages before it in its chain of tokens ended; nothing if they brought nothing.
  std::optional<list_position> behind{};
  result<list_page> page{list_page{}};
  list_filter::outcome kept{};
};

/// A piece of the names. Its pages are asked for one after the other.
struct list_range {
  name_range names{};
  std::uint32_t next{UINT32_MAX};  ///< the range to its right
  list_position position{};
  /// The chain of tokens: what the request that began it had, which must not change within it
  /// (protocol.md 1.1), and where its last page ended. That may be before `position`, since a chain
  /// begins with the last name once more; nothing while it has brought nothing.
  std::string token{};
  std::string chain_start{};
  std::string chain_end{};
  std::uint32_t chain_asked{0};
  std::uint32_t chain_size{0};
  std::optional<list_position> chain_position{};
  std::uint32_t sent{0};  ///< pages; the last one is the range's own
  bool in_flight{false};  ///< that one
  bool open{true};
  bool failed{false};
  std::optional<page_bound> bound{};  ///< from its first page on
  std::deque<listed_page> waiting{};  ///< for their turn, in order of names
  listing kept{};                     ///< of fast_list()
};

/// One listing. Everything but the queue and the stop is touched on the strand; pages are
/// checked and filtered on the I/O threads where they arrive. Kept alive by its calls, by timers,
/// and by the queue while it waits for a reader. It ends at once when it has failed; calls that
/// are under way then find it finished.
class list_coordinator final : public list_source, public coordinator<list_coordinator> {
 public:
  using completion = object_store::completion<listing>;

  /// To `done`, or as a stream into `queue`.
  static void start(object_store& store, const fast_list_request& request, completion done,
                    std::shared_ptr<list_queue> queue);
  list_coordinator(object_store& store, const fast_list_request& request, list_filter filter,
                   completion done, std::shared_ptr<list_queue> queue);
  DATAFLUX_INLINE ~list_coordinator() override;

  DATAFLUX_INLINE void stop() noexcept override;
  DATAFLUX_INLINE void wake() override;

  // By the coordinator.
  void begin();
  void refused(const error& why);
  void fail(error why);
  void stop_heard() noexcept { stop(); }
  void stop_asked();

 private:
  using call_ptr = std::shared_ptr<list_call>;

  void advance();
  void plan_soon();
  std::size_t free_slots(bool& leftmost_only);
  std::size_t slots_by_memory(std::size_t slots, bool& leftmost_only);
  bool may_call() const noexcept;
  result<call_ptr> perform(const list_action& action);
  result<void> split(const list_action& action);
  call_ptr make_page(std::uint32_t id, std::uint32_t entries);
  call_ptr make_probe(const list_action& action) const;
  void send(const call_ptr& call);
  void start_call(const call_ptr& call);
  void take(const call_ptr& call);

  void examine(list_call& call) const;
  void arrived(list_call& call);
  void take_probe(const list_call& call);
  void take_page(list_call& call);
  void take_own(list_call& call, bool last);
  void keep_chain(list_range& range, list_call& call) const;
  void take_part(std::uint32_t id, list_call& call, bool own, bool last);
  void give_rest(std::uint32_t behind, list_call& call, bool last);
  void tell_progress();
  void deliver(list_range& range, listed_page page);
  void flush();

  void on_failure(const list_call& call);
  void repeat(std::uint32_t id, std::uint32_t entries);
  void fail_range(std::uint32_t id, const error& cause);
  void fail_open(error cause);
  error described(const list_range& range, const error& cause) const;
  error failure(errc code, std::string_view what) const;
  void complete();
  void find_missing();
  listing assemble();
  void finish(std::optional<error> failed);

  const fast_list_request request_;
  const list_filter filter_;
  const name_range whole_;
  const std::uint32_t page_size_;
  completion done_;
  const std::shared_ptr<list_queue> queue_;

  range_splitter splitter_;
  std::map<std::uint32_t, list_range> ranges_{};
  std::uint32_t head_{0};  ///< by_name: the leftmost range that has not been handed out
  std::size_t open_{1};
  std::size_t limit_;
  std::size_t page_bytes_;        ///< what a page may need, by those seen
  std::size_t waiting_bytes_{0};  ///< of pages kept here
  std::vector<std::string_view> sample_{};
  list_summary summary_{};
  late_failure late_{};
  bool finished_{false};
  bool plan_due_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/list_coordinator.ipp>
#include <dataflux/list/impl/list_coordinator_pages.ipp>
#endif
