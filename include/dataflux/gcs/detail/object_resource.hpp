#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// The metadata in a reply of the JSON API whose body is an object resource (protocol.md 1.2).
///
/// `bucket` and `object` are those asked for: the resource must be of that name, since some servers
/// route names such as "x/acl" elsewhere (protocol.md 6.3). Name, generation and size must be
/// there; all else may be missing and is then empty, as is what is not `asked` for.
///
/// Errors: internal. A body that is no JSON object is retryable() (protocol.md 3.1: cut JSON), and
/// a web page says that the endpoint is wrong; a resource of another name, and a member that is
/// malformed, are not.
///
/// Cost: one pass without allocations but for the texts that are kept, where the service writes as
/// it does (codec/detail/plain_json.hpp); else that of json_document, too.
result<object_metadata> parse_object_resource(const service::whole_reply& reply,
                                              std::string_view bucket, std::string_view object,
                                              metadata_fields asked = metadata_fields::all);

/// The same for a resource that is a member of the reply's document; absent = internal.
result<object_metadata> parse_object_resource(codec::json_value resource, std::string_view bucket,
                                              std::string_view object,
                                              metadata_fields asked = metadata_fields::all);

/// The reply's body as a JSON object. Errors: as parse_object_resource() says of a body.
result<codec::json_document> parse_json_reply(const service::whole_reply& reply);

/// After a write: is what the service stored what was sent? Errors: data_loss with the generation
/// of the damaged object, for a size or CRC32C that differs; internal when the metadata has no
/// CRC32C to compare. Messages give both values.
result<void> check_stored(const object_metadata& stored, std::uint64_t size, std::uint32_t crc32c);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/object_resource.ipp>
#endif
