#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/detail/cell_checksums.hpp>
#include <dataflux/checkpoint/detail/extent_cache.hpp>
#include <dataflux/checkpoint/detail/read_ahead.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/transfer/detail/coalesce.hpp>
#include <dataflux/transfer/detail/ranged_read.hpp>
#include <dataflux/transfer/detail/read_member.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// With what the request says to do about a generation that is gone.
inline error advised(error why, const checkpoint_read_request& request) {
  if (why.code() == errc::not_found && !request.advice_if_it_is_gone.empty()) {
    why.with_message(why.message() + "; " + request.advice_if_it_is_gone);
  }
  return why;
}

class reader_call;

/// What a checkpoint_reader and its calls share. On the context's strand but for what is
/// marked otherwise.
///
/// Bytes come in two ways: straight into the caller's memory, for what is at least a block long,
/// and by way of the cache, for what is less or is loaded ahead. Whatever comes is compared with
/// what came before (`received`). A load belongs to nobody: calls wait for it and may leave.
class reader_state final : public std::enable_shared_from_this<reader_state> {
 public:
  using ranged = object_store::completion<ranged_read_summary>;

  reader_state(const transfer_context& context, checkpoint_read_request request,
               const object_metadata& object);

  // On any thread.
  scheduler& strand() const noexcept { return context_.strand(); }
  object_store& store() const noexcept { return context_.store(); }
  const checkpoint_read_request& request() const noexcept { return request_; }
  std::uint64_t size() const noexcept { return size_; }
  std::int64_t generation() const noexcept { return generation_; }
  bool inherited() const noexcept { return born_.inherited(); }
  bool verified() const noexcept { return verified_.load(std::memory_order_acquire); }
  /// Copies what is in memory, or nothing. False where something has to be read.
  result<bool> copy_ready(std::uint64_t offset, bytes_span into);
  struct step {
    byte_extent read{};
    byte_extent ahead{};  ///< to be loaded by load_ahead() once the read was begun; may be empty
  };
  /// The next read() takes `wanted` bytes, or what there is.
  step advance(std::uint64_t wanted);
  void seek(std::uint64_t offset);
  std::uint64_t tell() const;
  void load_ahead(std::vector<byte_extent> ranges);
  /// Unless memory is short: nobody has asked for it yet.
  void try_load_ahead(byte_extent range) noexcept;
  void close() noexcept;
  error described(errc code, const std::string& what) const;

  // On the strand.
  /// Makes the call wait for, copy, or read itself, all that it is to read.
  void plan(reader_call& call);
  /// Reads a range by requests of a slice into memory, or by one into a sink. Nothing is compared.
  void read(byte_extent range, bytes_span into, const call_limits& limits, ranged done);
  void read(byte_extent range, byte_sink& sink, const call_limits& limits,
            object_store::completion<read_summary> done);
  /// Reads a cell that has come in part, and compares it.
  void read_cell(std::uint64_t offset, const call_limits& limits,
                 object_store::completion<shared_bytes> done);
  bool by_parts() const noexcept { return !request_.parts.empty(); }
  const cell_checksums& cells() const noexcept { return cells_; }
  /// Whether a range has too few bytes for a request of its own into the caller's memory.
  bool is_short(std::uint64_t length) const noexcept {
    return !by_parts() && length < request_.block;
  }
  /// Whether a short range is best read by blocks, which are whole cells: some of it came before,
  /// or is on its way.
  bool came_before(byte_extent range) const noexcept;
  coalesce_options coalescing() const noexcept;
  /// How much of `rest`, which is read straight into the caller's memory, one request asks for.
  byte_extent slice_of(byte_extent rest) const noexcept;
  /// Compares what has come, of one cell, with what came before, and remembers it. False where that
  /// cannot be: its cell has to be read, and its bytes are those of that. An error if it is
  /// damaged.
  result<bool> received(byte_extent range, bytes_view bytes, std::uint32_t crc);
  /// The bytes of a range in a cell that was read.
  void copy_of_cell(const shared_bytes& cell, byte_extent range, bytes_span to) const noexcept;
  std::optional<error> lost() const;
  int concurrency() const noexcept;

 private:
  struct load {
    std::uint64_t end{0};
    shared_bytes memory{};  ///< empty until there is room for it
    std::vector<std::shared_ptr<reader_call>> waiting{};
  };
  using loads = std::map<std::uint64_t, load>;

  load* load_at(std::uint64_t offset);
  std::uint64_t there_until(std::uint64_t offset);
  std::uint64_t weight_of(const load& l, std::uint64_t begin) const;
  byte_extent direct_at(std::uint64_t begin, std::uint64_t end) const;
  byte_extent around(std::uint64_t begin, std::uint64_t end) const;
  std::uint64_t next_extent(std::uint64_t offset) const;
  load& add_load(byte_extent range);
  bool make_room(std::uint64_t begin, const load& l, bool demanded);
  void start_load(std::uint64_t begin) noexcept;
  void read_load(std::uint64_t begin, load& l);
  void loaded(std::uint64_t begin, const result<void>& outcome) noexcept;
  void advance() noexcept;
  void read_on_ahead();
  std::uint64_t rewarded_ahead() const;
  error explained(error why);
  error no_memory_for(std::uint64_t bytes) const noexcept;
  /// `done`, with a failure explained.
  template <class Summary>
  object_store::completion<Summary> explaining(object_store::completion<Summary> done);
  error differing(byte_extent range);
  std::optional<error> check_whole();
  void lose(const error& why);
  /// What a cache has of the object is not to be trusted: something that came is damaged.
  void forget_reads() const noexcept;

  const transfer_context context_;
  const std::string_view scheme_;  ///< of the store, which may end before
  const checkpoint_read_request request_;
  const std::uint64_t size_;
  const std::int64_t generation_;
  const std::optional<std::uint32_t> crc32c_;
  const std::uint64_t cache_limit_;
  const process_stamp born_{};
  read_member member_{};  ///< all its reads are of one

  extent_cache cache_{};
  std::atomic<bool> verified_{false};
  std::atomic<bool> is_lost_{false};
  std::atomic<bool> starved_{false};  ///< something would be loaded if a piece were read

  mutable std::mutex mutex_{};  ///< of these three
  read_ahead ahead_;
  std::uint64_t cursor_{0};
  std::optional<error> lost_{};

  cell_checksums cells_;
  bool whole_{false};                    ///< all of the object came, and was compared
  loads loads_{};                        ///< by their begin
  std::uint64_t loading_{0};             ///< what loads weigh
  std::deque<std::uint64_t> waiting_{};  ///< loads that lack memory
  std::deque<byte_extent> wanted_{};     ///< to be loaded ahead
  std::stop_source stop_{};
  bool advancing_{false};
  bool again_{false};  ///< it was to advance meanwhile
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/detail/reader_coordinator.hpp>
#endif
