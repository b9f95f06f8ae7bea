#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/shard/shard_rules.hpp>
#include <dataflux/shard/shard_writer.hpp>
#include <dataflux/transfer/transfer_context.hpp>
#include <dataflux/unique_function.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// Samples from shards into other shards, here or in a bucket: what `dataflux shards` does. A
/// source gives samples one by one; choose_samples() is a source of another; a shard_output takes
/// them.
///
///     auto from = read_shards(context, places, rules);
///     auto to = shard_output::open(context, {.pattern = "out-%06d.tar", .count = 1000}).value();
///     while (const auto* sample = from().value()) to.write(sample->key, sample->fields);
///     to.finish();
///
/// All block: they are for a thread of a program, not for completions or a virtual_scheduler.
namespace dataflux::inline DATAFLUX_ABI {

/// A sample on its way. Texts and bytes are valid until its source is asked again.
struct sample_view {
  std::string_view key{};
  std::vector<sample_field> fields{};
};

/// Gives the next sample; nullptr: there are no more. After an error it is of no use.
using sample_source = unique_function<result<sample_view*>()>;

/// Where bytes are: an object as it was listed, or a file here, or the standard input. Without a
/// generation it is the live object, whatever its size.
struct byte_place {
  std::string bucket{};  ///< empty = a file
  std::string name{};    ///< of the object; or a path, "-" = the standard input
  std::uint64_t size{0};
  std::int64_t generation{0};
  std::optional<std::uint32_t> crc32c{};
};

/// What reading has met and left out.
struct left_out_counts {
  shard_counts shards{};
  grouping_counts groups{};
  std::string first{};  ///< of the members, "shard: member", if it is known
  /// Members with data that are in no sample.
  std::uint64_t members() const noexcept {
    return shards.left_out() - shards.directories + groups.left_out();
  }
  /// Adds what one shard has, or several have; `name` is in front of the member.
  void add(const shard_counts& more, const grouping_counts& more_groups, std::string_view name,
           std::string_view member) {
    shards += more;
    groups += more_groups;
    if (first.empty() && !member.empty()) first = std::string(name).append(": ").append(member);
  }
};

struct rewrite_rules {
  shard_rules reading{};
  grouping_rules grouping{};
  left_out_counts* left_out{nullptr};  ///< outlives the source
  std::stop_token stop{};
};

/// Reads shards one behind the other, plain or compressed, each byte once.
///
/// Errors, with the shard's name: those of shard_stream, of the getter, and of files; data_loss
/// where an object's bytes differ from its CRC32C, when its last sample is to be given.
///
/// Lifetime: the context's store outlives the source. Cost: the memory of shard_stream, and of
/// reads that go ahead, within the context's memory_cap.
sample_source read_shards(const transfer_context& context, std::vector<byte_place> shards,
                          rewrite_rules rules);

/// Samples by number: those of an index, or of shards here.
///
/// Lifetime: a handle; its copies and sources share what it needs. The context's store outlives
/// them. Threads: as of shard_index; a source has one thread at a time.
class sample_table {
 public:
  /// Of an index whose shards are in a bucket.
  sample_table(const transfer_context& context, shard_index index);
  /// Of files, which are mapped and indexed in memory. They must not change meanwhile.
  ///
  /// Errors: those of files; of indexing, as of index_shards().
  /// Cost: reads every byte; 60 bytes a sample of two members.
  static result<sample_table> of_files(const transfer_context& context,
                                       const std::vector<std::string>& paths,
                                       const rewrite_rules& rules);

  const shard_index& index() const noexcept { return index_; }
  std::uint64_t samples() const noexcept { return index_.samples(); }
  /// The samples of these numbers. Neighbours are read together.
  /// Errors: invalid_argument for an index of another service than the store's; those of
  /// sample_request() and split_sample(); of the getter.
  sample_source read(unique_function<std::optional<std::uint64_t>()> numbers,
                     std::stop_token stop = {}) const;

 private:
  struct mapped_files;
  transfer_context context_;
  shard_index index_;
  std::shared_ptr<const mapped_files> files_{};
};

/// A file to be: its name in an archive, and where its bytes are.
struct member_place {
  std::string name{};
  byte_place from{};
  /// Gives its bytes instead, when it is their turn.
  std::function<result<std::string>()> make{};
};

/// Samples of files: members whose names have one key. Those that are not one behind the other are
/// brought together by `sorted`: samples are in the order of their keys then.
///
/// Errors: invalid_argument for a field that comes twice; those of files and of the getter.
/// Cost: the places, and one sample.
sample_source read_members(const transfer_context& context, std::vector<member_place> members,
                           bool sorted, rewrite_rules rules);

/// Which samples go on, and how.
struct sample_choice {
  /// Only samples with these keys; each must be there. Empty = all.
  std::vector<std::string> keys{};
  /// Of those the numbers first, first + step ... below end, in their order; end 0 = all.
  std::uint64_t first{0};
  std::uint64_t end{0};
  std::uint64_t step{1};
  /// Only these fields: "jpg", or "image=jpg;png", the first of these that the sample has, under a
  /// new name. Each must be there. Empty = all, as they are.
  std::vector<std::string> fields{};
  /// Keys by number, "train/%08d"; empty = as they are.
  std::string rekey{};
};

/// The source with a choice. Errors (invalid_argument): it makes no sense; the source's, and
/// not_found for a key or a field that is not there.
result<sample_source> choose_samples(sample_source from, sample_choice choice);

/// Shards here or in a bucket, as a shard_writer writes them, and without its entries here. A
/// pattern without a number, and no limits, is one shard.
///
/// Errors: those of shard_writer; failed_precondition, too, for a file that is there. Threads and
/// lifetime: as of a shard_writer.
class shard_output {
 public:
  /// `request.bucket` empty: the pattern is a path. `resume` is for buckets.
  static result<shard_output> open(const transfer_context& context, shard_writer_request request);
  shard_output(shard_output&&) noexcept;
  shard_output& operator=(shard_output&&) noexcept;
  ~shard_output();

  result<void> write(std::string_view key, std::span<const sample_field> fields);
  result<shard_writer_summary> finish();

 private:
  struct files;
  shard_output() noexcept;
  std::unique_ptr<shard_writer> writer_{};
  std::unique_ptr<files> files_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/rewrite_shards.ipp>
#include <dataflux/shard/impl/sample_choice.ipp>
#include <dataflux/shard/impl/sample_table.ipp>
#include <dataflux/shard/impl/shard_output.ipp>
#endif
