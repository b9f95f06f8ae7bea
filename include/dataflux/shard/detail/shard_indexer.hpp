#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/detail/sample_grouper.hpp>
#include <dataflux/shard/detail/shard_layout.hpp>
#include <dataflux/shard/detail/tar_reader.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/shard_rules.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

struct indexing_rules {
  shard_rules reading{};
  grouping_rules grouping{};
  /// Data of so many bytes are not read. The samples of such a shard have no checksums.
  std::uint64_t skip_from{UINT64_MAX};
};

/// Finds where the samples of one shard lie: a machine that says which bytes it wants, without a
/// socket.
///
///     shard_indexer indexer(rules, size);
///     while (const auto next = indexer.wanted(most)) {
///       if (auto good = indexer.take(read(*next)); !good) return good.error();
///     }
///     auto layout = indexer.finish();
///
/// After large data it wants few bytes, as many as it needed between large data before; if those
/// are not enough, more each time. So members of one shape cost one short read each.
///
/// Errors: those of tar_reader and sample_grouper; unimplemented: a compressed shard, whose bytes
/// have no places; out_of_range: a sample begins behind 2 TiB. The message has the offset, and not
/// the shard's name. After an error it is of no use.
///
/// Threads: one at a time.
///
/// Cost: some 300 ns a member, and 0.02 ns a byte that is read, for its checksum. Memory: the
/// layout.
class shard_indexer {
 public:
  shard_indexer(const indexing_rules& rules, std::uint64_t size)
      : rules_(rules), size_(size), reader_(rules.reading), grouper_(rules.grouping) {}

  /// The next bytes, at most `most`, which is at least 512; nothing: all that is needed was taken.
  std::optional<byte_extent> wanted(std::uint64_t most) const noexcept;
  /// Takes those bytes, all or fewer; at least one.
  result<void> take(bytes_view bytes);
  /// The layout, once nothing is wanted. Once. `crc32c` of the whole shard is compared if all of it
  /// was read.
  result<shard_layout> finish(std::optional<std::uint32_t> crc32c);

 private:
  /// Of the bytes so far: their checksum, where they end.
  struct place {
    std::uint64_t offset{0};
    std::uint32_t crc{0};
  };
  /// The sample that is open.
  struct open_sample {
    place begin{};
    place end{};
  };

  result<void> check_kind(bytes_view bytes) const;
  bool at_rest() const noexcept { return reader_.skippable() == byte_range::to_end; }
  bool is_worth_skipping(std::size_t have) const noexcept;
  result<void> skip_data();
  result<std::size_t> take_data(bytes_view bytes);
  result<std::size_t> take_header(bytes_view bytes);
  result<void> settle();
  result<void> settle_file();
  void note_block();
  result<void> begin_member();
  result<void> end_member();
  void begin_sample();
  void end_sample();
  void note(bytes_view bytes) noexcept;
  std::uint32_t crc_at(std::uint64_t offset) const noexcept;
  std::uint32_t field(std::string_view name);

  const indexing_rules rules_;
  const std::uint64_t size_;
  tar_reader reader_;
  sample_grouper grouper_;
  shard_layout layout_{};
  std::map<std::string, std::uint32_t, std::less<>> fields_{};

  place now_{};
  /// At each tar block since the last member: one of them begins the next.
  std::vector<place> blocks_{};
  place member_{};
  open_sample sample_{};
  bool open_{false};                  ///< it has a member
  bool file_{false};                  ///< a file's data are under way
  bool left_out_{false};              ///< what is skipped is of a member that is no file
  bool skipped_{false};               ///< some data were not read: there are no checksums
  std::uint64_t run_{0};              ///< where reading began behind the last large data
  std::uint64_t asked_{first_probe};  ///< that are wanted next
  static constexpr std::uint64_t first_probe = std::uint64_t{256} << 10U;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_indexer.ipp>
#endif
