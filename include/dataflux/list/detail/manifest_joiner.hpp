#pragma once

#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Makes the bytes of the manifest that join_manifests() writes, a block at a time. The parts were
/// found to belong together before there is one. Not thread-safe.
class manifest_joiner {
 public:
  static result<manifest_joiner> of(std::span<const manifest> parts, const name_range& whole);
  /// For parts that come one by one, in order of names, by append_part(). That together they are
  /// what `description` says the caller has proved.
  explicit manifest_joiner(manifest_description description)
      : description_(std::move(description)) {}

  const manifest_description& description() const noexcept { return description_; }
  /// Appends the next piece: the head and the first block, a block, or the rest. data_loss for a
  /// damaged block, and for rows that are not in the range of their part or not in order.
  result<void> append_to(std::string& out);
  bool done() const noexcept { return done_; }

  /// Appends all blocks of a part, which says that it has `names`. Errors as of append_to(), and
  /// data_loss for a part of another listing.
  result<void> append_part(const manifest& of, const name_range& names, std::string& out);
  void append_end(std::string& out);

 private:
  struct part {
    manifest of;
    name_range names;
  };

  static std::string shown(const manifest& m, std::size_t number);
  static std::uint32_t columns_of(const manifest& m) noexcept;
  static result<void> check_alike(std::span<const manifest> parts);
  result<void> check_cover(const name_range& all) const;
  result<void> check_rows(const name_range& names, const object_chunk& rows);
  result<void> append_block(const manifest& of, std::size_t block, const name_range& names,
                            const std::string& shown, std::string& out);

  manifest_description description_;
  std::vector<part> parts_{};  ///< in order of names
  std::vector<std::string> shown_{};
  manifest_frame frame_{};
  std::size_t next_{0};   ///< part
  std::size_t block_{0};  ///< of it
  std::string last_name_{};
  std::int64_t last_generation_{0};
  bool any_{false};
  bool done_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/manifest_joiner.ipp>
#endif
