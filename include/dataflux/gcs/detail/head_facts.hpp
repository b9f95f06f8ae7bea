#pragma once

#include <dataflux/http/detail/message.hpp>
#include <dataflux/service/detail/reply_facts.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// What Google's header fields say (protocol.md 0.3): sets all of `out`, and uses the memory of its
/// texts again. Never fails: fields that are missing or malformed are empty, but for the checksum.
/// Cost: one pass over the head.
void gather_facts(const http::reply_head& head, service::reply_facts& out);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/head_facts.ipp>
#endif
