#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// The ETag, which is all that names one state of an object (s3-protocol.md 4). It is opaque text.
namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Without quotes and without the W/ of a weak one: servers write the same tag in several ways.
std::string_view bare_tag(std::string_view etag) noexcept;

/// As If-Match has it: in quotes.
std::string quoted_tag(std::string_view etag);

/// The number by which the library knows that state: the first 63 bits of the SHA-256 of the bare
/// tag, and never 0 but for an empty one. The same in every process and version, since records keep
/// it. Two numbers have no order. Who writes objects may choose tags, hence no faster hash.
/// Thread-safe. Cost: half a microsecond.
std::int64_t generation_of(std::string_view etag);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/entity_tag.ipp>
#endif
