#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/completion_queue.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {
struct shard_writer_state;
struct interruptible_writes;
}  // namespace detail::shard

/// Which shards are written, and how large they become.
struct shard_writer_request {
  std::string bucket{};
  /// Names by number, with one number with leading zeros: "train/train-%06d.tar". Without a number
  /// and limits it is the name of one shard.
  std::string pattern{};
  /// Most samples of a shard, and most bytes of its archive; whichever comes first. 0 = no such
  /// limit; a pattern with a number needs one of the two. A sample that is larger than `bytes` is a
  /// shard by itself.
  std::uint64_t count{0};
  std::uint64_t bytes{0};
  /// The first number of rank 0. Rank r of R writes first + r, first + r + R and so on, so that
  /// ranks need not know of each other.
  std::uint64_t first{0};
  std::uint32_t rank{0};
  std::uint32_t ranks{1};
  /// Go on behind the shards of this rank that are there: resumed() tells what they hold.
  bool resume{false};
  /// Stops all that is under way.
  std::stop_token stop{};
};

/// What made a shard end.
enum class shard_end : std::uint8_t {
  finished,  ///< there were no more samples
  count,     ///< the next sample would have passed the limit of samples
  bytes,     ///< or that of bytes
};

/// A shard that is there.
struct written_shard {
  std::string name{};
  std::uint64_t samples{0};
  std::uint64_t bytes{0};
  std::uint32_t crc32c{0};
  std::int64_t generation{0};
  shard_end ended{shard_end::finished};
};

/// What was there when writing was resumed.
struct resumed_shards {
  std::uint64_t shards{0};
  std::uint64_t samples{0};
  std::uint64_t bytes{0};
};

struct shard_writer_summary {
  resumed_shards resumed{};
  std::vector<written_shard> written{};  ///< in their order
  std::uint64_t samples{0};              ///< of `written`
  std::uint64_t bytes{0};
};

/// Writes samples into tar shards in WebDataset's convention. The same samples give the same bytes:
/// times and owners are 0, and the fields of a sample are in the order of their names.
///
///     auto writer = shard_writer::open(context, {.bucket = "data", .pattern = "train-%06d.tar",
///                                                .count = 10'000, .bytes = 1 << 30}).value();
///     const sample_field fields[] = {{"cls", label}, {"jpg", image}};
///     for (...) writer.write(key, fields);
///     auto made = writer.finish();
///
/// A shard appears whole, or not at all, and is never put over an object that is there. Before it
/// appears its index entry is written beside it, as NAME.dfx: the places and checksums of its
/// samples. So each shard that is there has its entry, and index_shards() need not read it. An
/// entry without a shard is harmless, and is replaced. Shards appear in the order of their numbers.
/// Without samples no shard appears.
///
/// finish() makes the last shard appear. Without it, by abort() or the destructor, the shard that
/// is open is discarded; those before it stay. One that is just being ended has up to 5 s to appear
/// after an abort(), and is discarded, too, by the destructor. After a killed process `resume` goes
/// on behind the shards that are there: give the samples again from resumed().samples on, and the
/// shards are the same, byte for byte, as without the kill.
///
/// Errors: invalid_argument for a sample that a reader would not give back as it is, such as one
/// with a dot in its key's last component, or capitals in a field. Nothing is written then, and the
/// writer goes on. Any other error ends the writer, and all calls return it. They name the shard:
/// failed_precondition when it is there already, or somebody else writes it; those of
/// checkpoint_writer. Resuming: failed_precondition when a shard lacks its entry, or one before
/// another is not there.
///
/// Lifetime: the context's store outlives the writer. Fields are the caller's again when a write
/// has ended. The destructor waits up to 5 s for the cleanup of a shard. Movable.
///
/// Threads: one thread at a time uses a writer; a concurrent call fails with failed_precondition.
/// write(), finish() and abort() block: they are not for completions, nor for a virtual_scheduler.
///
/// Cost: one copy and two checksums of each byte; a shard takes two requests more than its upload,
/// and one for its entry. write() waits when transfer_options::upload_memory is in use, or when the
/// shard before the last is not there yet. Memory: that, and some 40 bytes for each sample and
/// member of two shards.
class shard_writer {
 public:
  /// Sends nothing unless it resumes: then it lists the shards and reads their entries.
  /// Errors: invalid_argument, before any request; those above, and of the store.
  static result<shard_writer> open(const transfer_context& context, shard_writer_request request) {
    return submit_open(context, std::move(request)).take();
  }
  static operation<shard_writer> submit_open(const transfer_context& context,
                                             shard_writer_request request);
  static void start_open(const transfer_context& context, shard_writer_request request,
                         object_store::completion<shard_writer> done);

  shard_writer(shard_writer&&) noexcept = default;
  shard_writer& operator=(shard_writer&& other) noexcept;
  ~shard_writer() { drop(); }

  /// Appends a sample. Key and fields are bytes; the fields in any order.
  result<void> write(std::string_view key, std::span<const sample_field> fields);
  /// The same without waiting. False: not all of the sample is written yet. Then call it again,
  /// with the same sample, whose names and bytes must stay where they are meanwhile; notify() tells
  /// when.
  result<bool> try_write(std::string_view key, std::span<const sample_field> fields);
  /// Pushes {tag, ok} into `queue` once, when try_write() can go on or has an error; at once if it
  /// can already. The queue outlives the writer.
  void notify(completion_queue& queue, std::uint64_t tag);

  /// Ends the last shard, and waits until it is there.
  result<shard_writer_summary> finish();
  /// The same without blocking, in two steps: no more samples may be written from the first
  /// try_end() on. False: there is no room yet, as of try_write(). After true submit_finish().
  result<bool> try_end();
  operation<shard_writer_summary> submit_finish();
  /// Discards the open shard. One that had ended before may still appear, whole, within 5 s; then
  /// it is discarded, too. A stop ends the wait, and the cleanup goes on.
  result<void> abort() { return submit_abort().take(); }
  operation<void> submit_abort();

  /// What was there when it was opened.
  const resumed_shards& resumed() const noexcept;
  /// Samples that were written, those in the open shard included, and without resumed ones.
  std::uint64_t samples() const noexcept;
  /// Of them: those of shards that are there.
  std::uint64_t whole_samples() const noexcept;
  std::uint64_t whole_shards() const noexcept;

 private:
  friend struct detail::shard::interruptible_writes;
  explicit shard_writer(std::shared_ptr<detail::shard::shard_writer_state> state) noexcept
      : state_(std::move(state)) {}
  static void open_with(const transfer_context& context, shard_writer_request request,
                        const call_limits& limits, object_store::completion<shard_writer> done);
  void drop() noexcept;
  std::shared_ptr<detail::shard::shard_writer_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_writer.ipp>
#endif
