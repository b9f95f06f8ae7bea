#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/shard_index.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Samples of tar shards by number: requests for a getter, which reads neighbours together, and
/// what becomes of their bytes.
///
///     getter items(context, {.bucket = index.description().bucket}, [&]() ->
///     std::optional<get_request> {
///       if (position == order.size()) return std::nullopt;
///       return sample_request(index, order.row(position++)).value();
///     });
///     while (auto item = items.next().value()) {
///       auto sample = split_sample(index, order.row(item->index), item->bytes).value();
///       use(sample.key, sample.fields);
///     }
namespace dataflux::inline DATAFLUX_ABI {

/// The request for all bytes of a sample, in the generation that was indexed. They are compared
/// with the sample's checksum if the index has it: got_item::verified tells.
///
/// Errors: those of shard_index::sample(); failed_precondition for the entry of a shard_writer, in
/// which no generation is. Cost: that, and an allocation for the name.
result<get_request> sample_request(const shard_index& index, std::uint64_t sample);

/// The request for the data of one member alone: a field. It has no checksum.
///
/// Errors: those of shard_index::sample(); out_of_range for a member that it lacks,
/// and for one without a byte, of which there is nothing to read.
result<get_request> member_request(const shard_index& index, std::uint64_t sample,
                                   std::size_t member);

/// One field of a sample. The name lies in the index, the bytes in those that were read.
struct sample_field {
  std::string_view name{};
  bytes_view bytes{};
};

struct split_sample_result {
  /// As the archive has it: bytes, which are not always UTF-8.
  std::string key{};
  std::vector<sample_field> fields{};  ///< in the archive's order
};

/// Takes the bytes of a sample apart. Every header in them is read; its key, field, place and size
/// are compared with the index. So bytes of another sample are never given as this one, with a
/// checksum or without.
///
/// Errors: data_loss: the bytes are not those that were indexed; those of shard_index::sample().
///
/// Lifetime: names live as long as the index, bytes as those that were given.
/// Threads: any. Cost: about 300 ns a member.
result<split_sample_result> split_sample(const shard_index& index, std::uint64_t sample,
                                         bytes_view bytes);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/sample_reads.ipp>
#endif
