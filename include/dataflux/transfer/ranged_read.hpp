#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <stop_token>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// One range of one object, to be read by one request: what every download is made of.
struct ranged_read {
  std::string_view bucket{};
  std::string_view object{};
  /// 0 = the live one; what the answer says is in read_summary::generation.
  std::int64_t generation{0};
  byte_range range{};
  preconditions conditions{};
  call_limits limits{};
};

/// Reads into `sink`, by object_store's read, which resumes where it broke off, pins the generation
/// and compares the checksum of a whole object. Beyond that:
///
/// - The context's estimates learn from it.
/// - A read without a body byte is asked for a second time, on another connection, when the context's
///   hedge_policy says so. The first of the two that has a body byte owns the sink, the other is
///   cancelled: `sink` sees one body, from one request, as ever.
///
/// It takes no share of the budget: whoever calls it has one, with the slot (see budget). `done` runs
/// on an executor of the store, never inside this call. Views and sink are the caller's until then.
/// Cost beyond the store's own: one block of memory, and a timer while there is no byte.
void start_ranged_read(const transfer_context& context, const ranged_read& what, byte_sink& sink,
                       object_store::completion<read_summary> done);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/ranged_read.ipp>
#endif
