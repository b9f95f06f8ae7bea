#pragma once

#include <dataflux/cache/detail/cache_record.hpp>
#include <dataflux/cache/detail/cache_state.hpp>
#include <dataflux/detail/spare_memory.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/transfer/detail/read_cache.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

class cached_read;

/// What the reads of one strand share, on it alone. Those that come together look at the disk in
/// one task, one behind the other, by the segments that the others have opened. What a read that
/// has ended has had of memory the next one has.
class cached_looks : public std::enable_shared_from_this<cached_looks> {
 public:
  /// Its names.
  struct names {
    cache_key key{};
    read_request request{};
  };

  explicit cached_looks(std::shared_ptr<cache_state> state) noexcept : state_(std::move(state)) {}

  /// It looks soon.
  void add(scheduler& strand, std::shared_ptr<cached_read> read);
  names names_of(std::string_view service, const read_request& request);
  void put_back(names& unused) noexcept;
  cache_state& state() const noexcept { return *state_; }
  const recycling_allocator<cached_read>& memory() const noexcept { return memory_; }

 private:
  /// The task of the strand. One that is dropped lets go of the reads.
  class task {
   public:
    explicit task(std::shared_ptr<cached_looks> of) noexcept : of_(std::move(of)) {}
    task(task&&) noexcept = default;
    task& operator=(task&&) = delete;
    DATAFLUX_INLINE ~task();
    void operator()();

   private:
    std::shared_ptr<cached_looks> of_;
  };

  const std::shared_ptr<cache_state> state_;
  std::vector<std::shared_ptr<cached_read>> waiting_{};
  std::vector<std::shared_ptr<cached_read>> looking_{};  ///< by the task, which runs
  std::vector<names> unused_{};
  const recycling_allocator<cached_read> memory_{};
};

/// The reads of one service, by one context.
class cached_reads final : public read_cache {
 public:
  cached_reads(std::shared_ptr<cache_state> state, std::string service)
      : state_(std::move(state)),
        service_(std::move(service)),
        looks_(std::make_shared<cached_looks>(state_)) {}

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
  const std::shared_ptr<cached_looks> looks_;
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
  cached_read(std::shared_ptr<cached_looks> looks, cached_looks::names names, scheduler& strand,
              byte_sink& sink, read_cache::completion done, read_cache::origin from_store)
      : looks_(std::move(looks)),
        names_(std::move(names)),
        strand_(strand),
        clock_(strand, names_.request.limits),
        sink_(sink),
        done_(std::move(done)),
        from_store_(std::move(from_store)) {}

  void look(open_segments& segments) noexcept;

  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  DATAFLUX_INLINE bool satisfied() const noexcept override;
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

 private:
  void look_at_disk(open_segments& segments);
  void look_blocking() noexcept;
  void answered(cache_answer answer);
  void read_from_store();
  void came(result<read_summary> outcome);
  bool is_all_of(const read_summary& summary) const noexcept;
  void end(result<read_summary> outcome);

  const std::shared_ptr<cached_looks> looks_;
  cached_looks::names names_;
  scheduler& strand_;
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
