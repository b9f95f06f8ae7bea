#pragma once

#include <dataflux/transfer/detail/read_turns.hpp>

#include <cstddef>
#include <list>
#include <memory>

namespace dataflux::inline DATAFLUX_ABI::detail {

class read_engine;

class engine_read;
struct read_engine_state;

/// Of each body so many bytes are copied at first, until it is known who delivers it. A sink that
/// is satisfied() with fewer ends its read with an error.
inline constexpr std::size_t most_first_bytes = 512;

/// For features: one that reads, as the engine and the others of its context see it: a getter, a
/// reader, a call. Outlives its reads, and has left the engine's line before it ends. On the
/// strand.
class read_member : private read_turns::member {
 public:
  read_member() = default;
  read_member(const read_member&) = delete;
  read_member& operator=(const read_member&) = delete;
  virtual ~read_member() = default;
  /// What may_start() refused may start now; must only post.
  virtual void wake() {}

 private:
  friend class read_engine;
  friend class engine_read;
  friend struct read_engine_state;
  std::list<std::shared_ptr<engine_read>> line_{};
  bool asks_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
