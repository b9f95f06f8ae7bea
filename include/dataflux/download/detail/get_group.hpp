#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/transfer/detail/coalesce.hpp>
#include <dataflux/transfer/detail/read_engine.hpp>
#include <dataflux/transfer/detail/scatter_sink.hpp>
#include <dataflux/unique_function.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Several pieces of one object and generation, by as few requests as coalesce() finds. What a
/// cache has of them is not asked for. On the strand; kept alive by its reads. The pieces have
/// their memory, and are the caller's again with `done`, which is never called inside start().
class get_group final : public std::enable_shared_from_this<get_group> {
 public:
  get_group(read_engine& engine, read_member& whose, std::string bucket,
            std::span<get_piece> pieces, const coalesce_options& options, call_limits limits,
            unique_function<void()> done);
  void start();

 private:
  read_request request_of(const get_piece& p) const;
  void look();
  void looked(std::size_t i, const result<read_summary>& outcome);
  void plan();
  void read(std::size_t k);
  void finish();
  bool mixed();
  read_summary sum_up();
  void verify();
  void keep(const read_summary& object);

  read_engine& engine_;
  read_member& member_;
  const std::string bucket_;
  const std::span<get_piece> pieces_;
  const coalesce_options options_;
  const call_clock clock_;
  const std::stop_token stop_;
  unique_function<void()> done_;
  std::int64_t generation_;
  std::vector<std::size_t> missing_{};  ///< pieces that the plan is for; by their places
  coalesced_plan plan_{};
  std::vector<landing> landings_{};  ///< as plan_.parts
  std::deque<scatter_sink> sinks_{};
  std::deque<span_sink> cached_{};  ///< of pieces
  std::vector<std::optional<result<read_summary>>> outcomes_{};
  std::size_t in_flight_{0};
  int rounds_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_group.ipp>
#endif
