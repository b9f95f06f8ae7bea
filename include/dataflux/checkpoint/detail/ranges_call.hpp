#pragma once

#include <dataflux/checkpoint/detail/reader_coordinator.hpp>
#include <dataflux/checkpoint/detail/reader_state.hpp>
#include <dataflux/transfer/detail/coalesce.hpp>
#include <dataflux/transfer/detail/scatter_sink.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Many ranges of one object, each into memory of its own. On the strand of its reader.
class ranges_call final : public reader_coordinator<ranges_call> {
 public:
  ranges_call(std::shared_ptr<reader_state> state, std::vector<range_read> ranges,
              const call_limits& limits, range_told told, completion done);

  void begin();
  /// What is not under way is not begun, and what writes into the caller's memory ends first.
  void idle();

 private:
  bool check();
  bool plan();
  void advance();
  struct cut {  ///< of a range
    std::size_t range{0};
    std::size_t offset{0};
    std::size_t length{0};
  };
  void read_alone(const cut& c);
  void read_together(std::size_t k);
  void arrived(std::size_t k, const result<read_summary>& outcome);
  void read_cell(std::size_t k, std::size_t first, std::size_t count);
  void there(std::size_t range);
  template <class Step>
  void ended(Step step) noexcept;
  void tell(std::size_t i, const result<void>& outcome);

  const std::vector<range_read> ranges_;
  range_told told_;
  std::vector<cut> alone_{};        ///< long ranges, and what is read by blocks: calls of their own
  std::size_t first_by_blocks_{0};  ///< of them: from here on they wait for others' loads, too
  std::size_t next_alone_{0};
  std::vector<cut> cuts_{};  ///< of the others, where cells end: pieces of plan_
  coalesced_plan plan_{};
  std::size_t next_request_{0};
  std::vector<landing> landings_{};  ///< as plan_.parts
  std::deque<scatter_sink> sinks_{};
  std::vector<std::size_t> parts_left_{};  ///< of each range; of one that was told of: none
  std::size_t left_{0};                    ///< ranges that nobody was told of
  bool advancing_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/ranges_call.ipp>
#endif
