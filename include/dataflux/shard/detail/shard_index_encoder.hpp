#pragma once

#include <dataflux/codec/detail/block_file.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/detail/shard_index_format.hpp>
#include <dataflux/shard/detail/shard_layout.hpp>
#include <dataflux/shard/shard_index.hpp>
#include <dataflux/store/object_chunk.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Makes the bytes of an index, shard by shard in their order, in one pass: never more than a block
/// is in memory.
///
///     shard_index_encoder encoder(description);
///     for (...) { encoder.add(row, layout, out); write(out); out.clear(); }
///     encoder.end(out);
///
/// Errors: add(). Threads: one at a time.
/// Cost: about 100 ns a sample, for the order of keys.
class shard_index_encoder {
 public:
  explicit shard_index_encoder(shard_index_description description)
      : description_(std::move(description)) {}

  /// Takes a shard, and appends a block when there are enough. Errors (invalid_argument): the
  /// description or a name is not UTF-8; resource_exhausted: the shard has 2^31 samples or members.
  /// After an error the encoder is of no use.
  result<void> add(const object_row& shard, const shard_layout& layout, std::string& out);
  /// Appends what is left. Errors: as of add(), for the description.
  result<void> end(std::string& out);

 private:
  result<void> begin(std::string& out);
  void take_shard(const object_row& shard);
  void take_samples(const shard_layout& layout);
  void take_counts(const shard_layout& layout);
  std::uint32_t field(std::string_view name);
  std::vector<std::uint32_t> order() const;
  index_block describe() const noexcept;
  void append_block(std::string& out);
  void put_order(char* to) const;
  void put_fields(char* offsets, char* names) const;
  void forget();

  shard_index_description description_;
  codec::block_file_writer frame_{shard_index_kind};
  // Of the block that is being made:
  std::vector<std::uint64_t> sizes_{};
  std::vector<std::int64_t> generations_{};
  std::vector<std::uint32_t> crcs_{};
  std::vector<std::uint32_t> offsets_{};  ///< of names
  std::string names_{};
  std::vector<std::uint8_t> known_{};  ///< a bit for each shard: its CRC32C is
  bool any_unknown_{false};
  std::vector<std::uint32_t> first_samples_{};
  std::vector<std::uint32_t> shard_flags_{};
  std::vector<std::uint32_t> first_counts_{};
  std::vector<std::uint64_t> count_values_{};
  std::vector<std::uint32_t> count_kinds_{};
  shard_layout all_{};
  bool any_crcs_{false};
  std::map<std::string, std::uint32_t, std::less<>> fields_{};
  std::size_t field_bytes_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_index_encoder.ipp>
#endif
