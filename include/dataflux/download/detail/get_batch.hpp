#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/detail/coordinator.hpp>
#include <dataflux/store/read_batch_request.hpp>
#include <dataflux/transfer/detail/read_engine.hpp>
#include <dataflux/unique_function.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A small object costs more time than bytes: those of so many at most go into batches.
inline constexpr std::uint64_t batched_length = 256U << 10U;
/// Of one batch.
inline constexpr std::uint64_t most_batch_bytes = 4U << 20U;
inline constexpr std::size_t least_batch = 16;
/// Of a stream under way: each keeps a machine of the service busy.
inline constexpr std::size_t most_batches = 16;
/// The same until one has brought what it should.
inline constexpr std::size_t first_batches = 2;
/// Of one batch with its attempts: a service that is slow with it is asked for each object.
inline constexpr duration batch_time{std::chrono::seconds(30)};

/// Several small pieces by one request (read_batch_request). On the strand of its stream; kept
/// alive by its requests. What the batch did not bring is read by a request of its own, so that a
/// piece fails only when that does.
class get_batch final : public coordinator<get_batch> {
 public:
  /// What it tells its owner.
  struct owner {
    read_member& whose;  ///< the reads of single pieces are
    /// Gives a piece its memory; false, and the piece has failed, when there is none.
    unique_function<bool(get_piece&)> place;
    /// The pieces are the owner's again; `got` of them came by the batch. Perhaps inside begin().
    unique_function<void(std::size_t got)> done;
  };

  get_batch(read_engine& engine, std::string bucket, std::span<get_piece> pieces,
            call_limits limits, owner told)
      : coordinator(engine.store(), engine.strand(), std::move(limits)),
        engine_(engine),
        bucket_(std::move(bucket)),
        pieces_(pieces),
        owner_(std::move(told)) {}
  /// `together`: by one request, and not each by its own at once.
  void begin(bool together);
  /// By the coordinator.
  void fall_short(const error& why);

 private:
  void ask(bool together);
  void arrived(const result<std::vector<batched_bytes>>& outcome);
  bool adopt(get_piece& piece, const batched_bytes& came);
  void read_missing();
  void read_one(get_piece& p);
  void was_read(get_piece& p, const result<read_summary>& outcome);
  void one_ended();
  void tell();

  read_engine& engine_;
  const std::string bucket_;
  const std::span<get_piece> pieces_;
  owner owner_;
  std::vector<get_piece*> missing_{};  ///< all until the batch has come
  std::deque<span_sink> sinks_{};
  std::size_t got_{0};
  std::size_t reading_{0};
  bool told_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_batch.ipp>
#endif
