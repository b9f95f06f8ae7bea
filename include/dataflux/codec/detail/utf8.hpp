#pragma once

#include <dataflux/detail/config.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// True if `text` is well-formed UTF-8 by Unicode's table 3-7: no overlong form, no surrogate,
/// nothing above U+10FFFF, no truncated sequence. U+0000 is well-formed.
///
/// Pure and thread-safe. Linear time; runs of ASCII go eight bytes at a step.
bool is_valid_utf8(std::string_view text) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/utf8.ipp>
#endif
