#pragma once

#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/service/detail/found_state.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// An object's metadata, which S3 has in header fields, and the conditions of a call.
namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Most bytes of custom metadata, names and values together.
inline constexpr std::size_t metadata_limit = 2048;

/// What a write can say of its object here: custom metadata as header fields carry them, 2 KiB
/// together. Errors: invalid_argument; unimplemented for custom_time.
result<void> check_attributes(const object_attributes& a);

/// Adds what a new object shall have. `mark` may be empty.
void add_attributes(const object_attributes& a, std::string_view mark, http::header_list& headers);

/// Reads all that a reply to HEAD says of the object. Texts are as set_header_text() and tag_in()
/// make them (service/detail/text.hpp). Errors: internal for a checksum that is malformed, and for
/// a size that is missing, larger than any object, or 0 against the checksum.
result<object_metadata> read_object_head(const http::reply_head& head, std::string_view bucket,
                                         std::string_view object);

/// A write can ask for the state that it has seen, or for none. Errors: unimplemented for the other
/// conditions.
result<void> check_write_conditions(const preconditions& c);
using service::check_found;
using service::check_read_conditions;

/// The text of the ETag of a state whose number alone is known. A write under the condition that
/// the object is in that state first asks for it; then If-Match makes sure that it stays so.
struct known_tag {
  std::int64_t of{0};
  std::string etag{};

  bool is(std::int64_t generation) const noexcept { return of == generation; }
  /// Of a reply to HEAD. Errors: failed_precondition for another state, as of 412.
  result<void> take(std::int64_t wanted, const reply_facts& facts);
};

/// Its tag is to be asked for first.
inline bool lacks_tag(std::optional<std::int64_t> state, const known_tag& tag) noexcept {
  return state.value_or(0) != 0 && !tag.is(*state);
}

/// If-None-Match: * for a state of 0, If-Match for any other, nothing for none.
void add_state(std::optional<std::int64_t> state, const known_tag& tag, http::header_list& headers);

/// The error of a write whose reply has no ETag: internal.
error untold_write();

/// The stored object as a write's reply tells it. Errors: data_loss with the generation for another
/// checksum than was sent; internal for a reply without an ETag.
result<object_metadata> stored_object(const reply_facts& facts, std::string_view bucket,
                                      std::string_view object, std::uint64_t size,
                                      std::uint32_t crc32c);

/// Is what was found of that size, and where the service tells a CRC32C, of that?
bool same_content(const object_metadata& found, std::uint64_t size, std::uint32_t crc32c) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/object_fields.ipp>
#endif
