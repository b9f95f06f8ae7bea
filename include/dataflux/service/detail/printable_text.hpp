#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// What a service has said, made fit to be printed on one line: at most `limit` bytes, control
/// characters and broken UTF-8 replaced, and what seems a token, a signature or the id of an
/// upload session blanked out. Pure, thread-safe, survives any bytes.
std::string printable_text(std::string_view text, std::size_t limit = 2048);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/printable_text.ipp>
#endif
