#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/slab.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Pieces of one object that are in memory. Whatever lies here can be copied on any
/// thread for a lock and a memcpy; pieces come and go on one executor.
class extent_cache {
 public:
  static constexpr std::uint64_t nowhere = std::numeric_limits<std::uint64_t>::max();

  struct extent {
    std::uint64_t begin{0};
    shared_bytes memory{};
    std::uint64_t end() const noexcept { return begin + memory.size(); }
  };

  /// Copies the object's bytes from `offset` on; false, with `into` untouched, unless all of them
  /// are here. `first_use` = a piece that nobody had read may go now. Any thread.
  bool copy(std::uint64_t offset, bytes_span into, bool& first_use);

  /// The piece that holds the byte at `offset`; it counts as read.
  std::optional<extent> at(std::uint64_t offset);
  /// The end of the last piece that begins before `offset`, 0 without one; and where the first one
  /// behind `offset` begins, or nowhere.
  std::uint64_t end_before(std::uint64_t offset) const;
  std::uint64_t begin_after(std::uint64_t offset) const;
  /// Overlaps no other. `weight` = what it takes of memory.
  void put(const extent& piece, std::uint64_t weight, bool read);
  /// Drops pieces until they weigh no more than `limit` together: those read longest ago, and, only
  /// if `unread_too`, then those that nobody has read. Whether it could.
  bool shrink(std::uint64_t limit, bool unread_too);
  std::uint64_t weight() const;

 private:
  struct entry {
    shared_bytes memory{};
    std::uint64_t weight{0};
    std::uint64_t used{0};  ///< by a count of uses; the later the larger
    bool read{false};
  };
  using pieces = std::map<std::uint64_t, entry>;

  pieces::iterator holding(std::uint64_t offset);
  pieces::iterator oldest(bool read);
  bool use(entry& e) noexcept;

  mutable std::mutex mutex_{};
  pieces pieces_{};  ///< by their begin
  std::uint64_t weight_{0};
  std::uint64_t uses_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/extent_cache.ipp>
#endif
