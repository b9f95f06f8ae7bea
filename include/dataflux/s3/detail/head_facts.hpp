#pragma once

#include <dataflux/http/detail/message.hpp>
#include <dataflux/service/detail/reply_facts.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// What the header fields of a reply say: sets all of `out`, and uses the memory of its texts
/// again. The generation is that of the ETag. Never fails: fields that are missing or malformed
/// are empty, but for the checksum. Cost: one pass over the head, and a digest.
void gather_facts(const http::reply_head& head, service::reply_facts& out);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/head_facts.ipp>
#endif
