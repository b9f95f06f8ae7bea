#pragma once

#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Makes the bytes of one manifest of several, which are parts of one listing. Blocks are
/// copied as they are, not decoded: memory for one part, however many rows there are.
///
/// Parts come in order of their names. That together they are what `description` says the caller
/// has proved; that each is what it says is checked here. Not thread-safe.
class manifest_joiner {
 public:
  explicit manifest_joiner(manifest_description description)
      : description_(std::move(description)) {}

  /// Appends all blocks of a part, which says that it has `names`. data_loss for a damaged block,
  /// for rows that are not in `names` or not behind those before, and for a part of another
  /// listing.
  result<void> append_part(const manifest& of, const name_range& names, std::string& out);
  void append_end(std::string& out);

 private:
  result<void> check_rows(const name_range& names, const object_chunk& rows);
  result<void> append_block(const manifest& of, std::size_t block, const name_range& names,
                            std::string& out);

  manifest_description description_;
  manifest_frame frame_{};
  std::string last_name_{};
  std::int64_t last_generation_{0};
  bool any_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/manifest_joiner.ipp>
#endif
