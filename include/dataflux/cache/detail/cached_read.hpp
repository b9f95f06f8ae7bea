#pragma once

#include <dataflux/cache/detail/cache_record.hpp>
#include <dataflux/cache/detail/cache_state.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/transfer/detail/read_cache.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The reads of one service.
class cached_reads final : public read_cache {
 public:
  cached_reads(std::shared_ptr<cache_state> state, std::string service) noexcept
      : state_(std::move(state)), service_(std::move(service)) {}

  DATAFLUX_INLINE bool takes(const read_request& request) const noexcept override;
  DATAFLUX_INLINE void start(scheduler& strand, const read_request& request, byte_sink& sink,
                             completion done, origin from_store) override;
  bool is_warm() const noexcept override { return state_->is_warm(); }
  DATAFLUX_INLINE void keep(const read_request& request, const read_summary& summary,
                            bytes_view body) noexcept override;
  DATAFLUX_INLINE void forget(const read_request& request) noexcept override;
  DATAFLUX_INLINE void forget_object(std::string_view bucket, std::string_view object,
                                     std::int64_t generation) noexcept override;

 private:
  const std::shared_ptr<cache_state> state_;
  const std::string service_;
};

/// One read that may be answered from the disk:
///
///     looks on the strand -> hit: completed
///                         -> would block: looks on a thread for files -> hit, or
///                         -> miss: the store reads; what the sink has landed is kept
///
/// On the strand, but for that thread, and for the members of byte_sink, by which the store fills
/// the sink: they note where its memory is. Short of memory it ends so.
class cached_read final : public byte_sink, public std::enable_shared_from_this<cached_read> {
 public:
  cached_read(std::shared_ptr<cache_state> state, std::string_view service, scheduler& strand,
              const read_request& request, byte_sink& sink, read_cache::completion done,
              read_cache::origin from_store)
      : state_(std::move(state)),
        key_(cache_key::of(service, request)),
        strand_(strand),
        request_(request),
        clock_(strand, request.limits),
        sink_(sink),
        done_(std::move(done)),
        from_store_(std::move(from_store)) {}

  void start();

  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  DATAFLUX_INLINE bool satisfied() const noexcept override;
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

 private:
  void look();
  void look_blocking() noexcept;
  void answered(cache_answer answer);
  void read_from_store();
  void came(result<read_summary> outcome);
  bool is_all_of(const read_summary& summary) const noexcept;
  void end(result<read_summary> outcome);

  const std::shared_ptr<cache_state> state_;
  const cache_key key_;
  scheduler& strand_;
  read_request request_;
  const call_clock clock_;
  byte_sink& sink_;
  read_cache::completion done_;
  read_cache::origin from_store_;
  std::byte* body_{nullptr};  ///< what has come from the store lies there
  std::size_t landed_{0};
  bool in_one_piece_{true};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/cache/impl/cached_read.ipp>
#endif
