#pragma once

#include <dataflux/result.hpp>
#include <dataflux/shard/detail/shard_layout.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/store/object_chunk.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// Shards that were indexed before, in parts of an index: what an earlier call has left, what a
/// writer has put beside its shards, what another process has indexed. A shard whose layout a part
/// has is not read again, and the index is the same, byte for byte.
namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// The layout of a shard as the indexer made it. Errors: those of shard_index::sample().
/// Cost: some 100 ns a sample and 20 ns a member.
result<shard_layout> layout_of(const shard_index& index, std::uint64_t shard);

/// Whether a part's shard is the listed one: the same name, size and generation. A part that was
/// made before its shard was there has 0 for the generation; then the checksum decides, if the
/// part has it.
bool is_listed(const object_row& there, const object_row& listed) noexcept;

/// Which of the listed shards some parts know. Not thread-safe, but for const members.
class known_shards {
 public:
  struct place {
    std::uint32_t part{0};
    std::uint32_t shard{0};
  };

  /// Takes the shards of a part. Errors (data_loss): a block of it is damaged.
  result<void> add(shard_index part);
  /// After the last add(), and before find(). Of shards that come twice the later part counts.
  void sort();

  std::optional<place> find(const object_row& listed) const;
  const shard_index& part(place of) const noexcept { return parts_[of.part]; }

 private:
  struct entry {
    std::uint64_t hash{0};  ///< of the name
    place at{};
  };
  std::vector<shard_index> parts_{};
  std::vector<entry> entries_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/known_shards.ipp>
#endif
