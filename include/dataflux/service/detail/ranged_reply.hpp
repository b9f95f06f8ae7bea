#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/detail/read_head.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Ranges of HTTP (RFC 9110 14), as stores of objects speak them: the question, and which bytes its
/// reply has. Pure; no allocation but for errors.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// Adds a Range field unless all is asked for.
void add_range(const byte_range& range, http::header_list& headers);

/// The bytes that a range means in an object of that size; length 0 when it is beyond the end.
struct resolved_range {
  std::uint64_t offset{0};
  std::uint64_t length{0};
};
resolved_range resolve(const byte_range& range, std::uint64_t size) noexcept;

/// What a reply says of its bytes, besides its Content-Length.
struct span_fields {
  std::optional<std::string_view> content_range{};
  /// Of the whole object, by a field of the service's own; it must agree with all others.
  std::optional<std::uint64_t> stored_length{};
  /// The service decompressed the object: known of whole ones in more ways than of parts.
  bool whole_transcoded{false};
  bool part_transcoded{false};
};

/// internal: a head that says what none should.
inline error broken_head(std::string message) { return error{errc::internal, std::move(message)}; }

/// Completes `out` by a head of status 200, 206 or 416, held against what was asked.
///
/// 416 for a range that begins at the object's end or in an empty object is success with no bytes
/// (length 0, discard_body): there is no other way to say so. 200 for a range is accepted when the
/// range is the whole object, or Content-Range says that it is what was asked for.
///
/// Errors: out_of_range for a range that begins beyond the end; internal for a head that
/// contradicts itself or the question, and for any other status, which the error has.
result<read_head> read_span(const read_cursor& asked, const http::reply_head& head,
                            const span_fields& fields, read_head out);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/ranged_reply.ipp>
#endif
