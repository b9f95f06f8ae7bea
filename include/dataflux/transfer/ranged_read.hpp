#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/ranged_read_request.hpp>
#include <dataflux/transfer/read_engine.hpp>

namespace dataflux::inline DATAFLUX_ABI {

/// Fills `into` with the object's bytes from `offset` on, by reads of slices in parallel: as many
/// as the engine allows, and others who read get their turn between them. `into` is borrowed until
/// the completion and written by several I/O threads. The slices count as reads of `whose`, which
/// outlives them; without one the call is a member of its own.
///
/// All slices are of one generation: without one in the request, that of the first slice that
/// arrives, and slices that turn out to be of another are read again. When the whole object was
/// read its checksum is compared, put together from those of the slices.
///
/// Errors: out_of_range, naming the object's size, when it ends before `into` does; data_loss for
/// the checksum; aborted (retryable) when the object was replaced in the middle and the generation
/// that was begun with is gone; else those of the first slice that fails. The others are cancelled
/// then, and the completion waits for them. Of no bytes nothing is asked, and it is a success.
///
/// To be called on the engine's home, where `done` runs, never inside this call. The engine
/// outlives the completion. Memory: 16 bytes for each slice.
void start_ranged_read(read_engine& engine, ranged_read_request request, bytes_span into,
                       object_store::completion<ranged_read_summary> done,
                       read_member* whose = nullptr);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/ranged_read.ipp>
#endif
