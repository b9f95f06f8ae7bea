#pragma once

#include <dataflux/error.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// How long whoever goes from page to page believes that there is an end. A page may be
/// empty and still have a next one (protocol.md 1.1), but not for ever. Pure.
///
/// Errors: internal, which says what the server did.
class page_bound {
 public:
  static constexpr std::uint32_t usual = 10'000;

  explicit page_bound(std::uint32_t most_empty = usual) noexcept : most_(most_empty) {}

  /// A page that was asked for by the token `asked` names `next`, or none. `brought`: it has
  /// something that no page before it had.
  result<void> took(bool brought, std::string_view asked, std::string_view next) {
    if (next.empty()) return {};
    if (next == asked) {
      return error(errc::internal,
                   "the server's listing does not go forward: a page names itself as the next one");
    }
    empty_ = brought ? 0 : empty_ + 1;
    if (empty_ <= most_) return {};
    return error(errc::internal, "the server's listing has no end: " + std::to_string(empty_) +
                                     " empty pages in a row, each of which names a next one");
  }

 private:
  std::uint32_t most_;
  std::uint32_t empty_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
