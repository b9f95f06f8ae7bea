#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/read_engine.hpp>
#include <dataflux/transfer/ranged_read_summary.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

class ranged_call;

/// Bytes of one object, as many as there is memory for.
struct ranged_read_request {
  std::string bucket{};
  std::string object{};
  std::uint64_t offset{0};
  /// 0 = the live one.
  std::int64_t generation{0};
  /// Of the whole object, if it is known, from a listing say; else the service's own.
  std::optional<std::uint32_t> crc32c{};
  /// `into` is all of the object, as far as is known.
  bool all{false};
  /// False for who compares the whole object himself.
  bool compared{true};
  /// Longest single read; a longer range is cut into as few as possible, of equal size.
  std::uint64_t slice{8ULL << 20U};
  /// Bytes of the memory, from its beginning, that may be written; ranged_read::allow() says when
  /// there are more.
  std::uint64_t allowed{byte_range::to_end};
  /// Stays alive for as long as something is under way.
  std::weak_ptr<void> owner{};
  call_limits limits{};
};

/// One that was started. What waits for allow() is kept alive by this alone.
class ranged_read {
 public:
  explicit ranged_read(std::shared_ptr<ranged_call> call) noexcept : call_(std::move(call)) {}
  /// From now on so many bytes of `into` may be written, never less than before. On the strand. No
  /// effect after the completion.
  void allow(std::uint64_t bytes);
  /// Whether it has no request under way, and waits for allow(). On the strand.
  bool waits() const noexcept;

 private:
  std::shared_ptr<ranged_call> call_;
};

/// Fills `into` with the object's bytes from `offset` on, by reads of slices in parallel: as many
/// as the engine allows, and others who read get their turn between them. `into` is borrowed until
/// the completion and written by several I/O threads. The slices count as reads of `whose`, which
/// outlives them; without one the call is a member of its own.
///
/// All slices are of one generation: without one in the request, that of the first slice that
/// arrives, and slices that turn out to be of another are read again. When the whole object was
/// read its checksum is compared, put together from those of the slices. Where ranges do not tell
/// it (store_traits), `all` that fits into one slice is asked for without a range; else one stat
/// beside the slices asks for it, and what that does not tell is not compared (`verified`).
///
/// Errors: out_of_range, naming the object's size, when it ends before `into` does; data_loss for
/// the checksum; aborted (retryable) when the object was replaced in the middle and the generation
/// that was begun with is gone; else those of the first slice that fails. The others are cancelled
/// then, and the completion waits for them. Of no bytes nothing is asked, and it is a success.
///
/// A read that waits for allow() holds no connection, and hears a stop; of its time limit it learns
/// by its requests alone.
///
/// To be called on the engine's strand, where `done` runs, never inside this call. The engine
/// outlives the completion. Memory: 16 bytes for each slice.
ranged_read start_ranged_read(read_engine& engine, ranged_read_request request, bytes_span into,
                              object_store::completion<ranged_read_summary> done,
                              read_member* whose = nullptr);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/ranged_read.ipp>
#endif
