#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/requests.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What the pages of one range must keep to, and how far they have come. Pure.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// How far a range has been listed. Objects and prefixes come as two lists, of which neither says
/// where its entries lie in the other.
struct list_position {
  std::string object{};  ///< the last one; empty = none yet
  std::int64_t generation{0};
  std::string prefix{};

  bool begun() const noexcept { return !object.empty() || !prefix.empty(); }
  std::string_view last() const noexcept {
    return object < prefix ? std::string_view(prefix) : std::string_view(object);
  }
  /// Without versions the name decides: an object that was overwritten meanwhile is no other one.
  bool has(std::string_view name, std::int64_t generation_of_it, bool versions) const noexcept {
    return name < object || (name == object && !(versions && generation_of_it > generation));
  }
  void advance(const object_columns& objects, std::span<const std::string> prefixes);
  /// Where a listing of what is not there yet begins, at `start` at the earliest; nothing when no
  /// name can follow. With `inclusive` more may follow under the last name itself.
  std::optional<std::string> rest(const std::string& start, bool inclusive) const;
};

/// `text` in quotes for a message: shortened, control characters escaped.
std::string in_quotes(std::string_view text);

/// Names lie within what was asked for and strictly ascend (with versions: names and generations);
/// the token differs from the one sent. `behind`: where the page before with that token's ancestors
/// ended; null for a page without a token. Errors: internal. About 5 ns a name.
result<void> check_page(const list_page& page, const list_page_request& asked,
                        const list_position* behind);

/// The part of a page that was not there yet and lies between `start` and `end` (empty = no bound).
struct page_part {
  std::size_t first_object{0};
  std::size_t objects{0};
  std::size_t first_prefix{0};
  std::size_t prefixes{0};
  std::size_t beyond{0};  ///< entries at and behind `end`
};
page_part new_part(const list_page& page, const list_position& position, std::string_view start,
                   std::string_view end, bool versions);

/// All entries in one order, thinned: 0, stride, 2 x stride, ... and the last.
void sample_entries(const object_columns& objects, std::span<const std::string> prefixes,
                    std::uint64_t stride, std::vector<std::string_view>& out);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/page_check.ipp>
#endif
