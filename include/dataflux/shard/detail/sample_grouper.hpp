#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/grouping_rules.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// What a member is, once its name was read.
struct grouped_member {
  /// The sample that is complete since this member is not of it: from the first header of its first
  /// member to the end of its last one. Members that are in no sample may lie in between.
  std::optional<byte_extent> ended{};
  /// It is the first of a sample, whose key is key() from now on.
  bool begins{false};
  /// It is a field of the sample. If not, it was counted by reason.
  bool taken{false};
  /// The name of the field, in lower case unless the rules keep it. Valid until the next call.
  std::string_view field{};
};

/// Puts the members of a shard together to samples, as grouping_rules says. The members come in the
/// order of the archive, regular files alone. It reads names and holds one key at a time.
///
///     sample_grouper grouper(rules);
///     for (each regular member) {
///       const auto member = grouper.add(name, place);
///       if (!member) return member.error();
///       if (member->ended) hand_over(sample, *member->ended);
///       if (member->begins) sample = start(grouper.key());
///       if (member->taken) sample.add(member->field, data);
///     }
///     if (const auto ended = grouper.end_shard()) hand_over(sample, *ended);
///
/// "__key__" and "__url__" count as fields that every sample has, since WebDataset names the key
/// and the shard so.
///
/// Errors of add(): invalid_argument for a field that the sample has, unless the rules keep the
/// first one; resource_exhausted for a sample with more fields than `most_field_bytes` hold. The
/// caller adds the shard's name. The member is in no sample then and changes nothing.
///
/// Threads: distinct objects are independent.
///
/// Cost: some 45 ns a member; O(f log f) comparisons for a sample of f fields. Memory is kept from
/// sample to sample: one key, and what `most_field_bytes` bounds.
class sample_grouper {
 public:
  /// Of the fields of one sample: their names, and eight bytes for each.
  static constexpr std::size_t most_field_bytes = std::size_t{1} << 20;

  explicit sample_grouper(const grouping_rules& rules = {}) noexcept : rules_(rules) {}

  /// The next member. `place` is from its first header, extensions included, to the end of its
  /// data, padding included, in bytes of the archive. `name` is needed during the call, and as long
  /// as `field` is.
  result<grouped_member> add(std::string_view name, byte_extent place);

  /// The shard ends, and so does its last sample, if there was any. add() begins another shard
  /// then.
  std::optional<byte_extent> end_shard() noexcept;

  /// Of the sample that the last members are of; valid until the next call.
  std::string_view key() const noexcept { return key_; }
  /// Over all shards so far.
  const grouping_counts& counts() const noexcept { return counts_; }

 private:
  struct name_place {
    std::uint32_t offset;
    std::uint32_t length;
  };
  std::string_view name_at(name_place at) const noexcept {
    return std::string_view{names_}.substr(at.offset, at.length);
  }
  std::size_t rank_of(std::string_view field) const noexcept;
  bool is_of_sample(std::string_view field, std::size_t rank) const noexcept;

  grouping_rules rules_;
  grouping_counts counts_{};
  std::string key_{};
  std::optional<byte_extent> open_{};
  // Of the fields of the sample: one text, and places in it in the order of the names.
  std::string names_{};
  std::vector<name_place> sorted_{};
  std::string lowered_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/sample_grouper.ipp>
#endif
