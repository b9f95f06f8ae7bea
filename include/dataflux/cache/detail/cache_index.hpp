#pragma once

#include <dataflux/cache/detail/cache_folder.hpp>
#include <dataflux/detail/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr const char* cache_index_name = "1-index";
/// No segment's number: such a place has no record, but the doubts of an object as its offset.
inline constexpr std::uint32_t doubts_segment = 0xffffffff;

/// Where a record lies: a segment, and in it units of 64 bytes. No segment has number 0. Its length
/// is in bytes, without the padding: so who knows the names knows the length of the body.
struct cache_place {
  std::uint32_t segment{0};
  std::uint32_t offset{0};
  std::uint32_t length{0};

  friend bool operator==(const cache_place&, const cache_place&) noexcept = default;
};

/// Places by a hash, in one file that all processes read and write: buckets of 16 places, 16 bytes
/// each with 32 bits of the hash. All of it are hints: the record itself says what it is. So there
/// is no lock. Of two processes that write one place, one is forgotten, and a half one is found to
/// be wrong. A full bucket forgets the place with the least segment.
///
/// It is read and not mapped: what another process cuts off, or a disk that fails, is an error then
/// and no signal. A process holds nothing of it in memory, and sees what others add at once.
///
/// Beside the places it has how often an object was found to be damaged, for the few that ever
/// were: then none of its records that were not compared is used any more, wherever they are.
///
/// Errors: none: what fails is not found. A file that is damaged, or made for a cache of less than
/// a quarter, is replaced; then what was kept before is not found any more. Threads: all members
/// from any. Cost: a read of 256 bytes for find(); a write of 16 more for put().
class cache_index {
 public:
  static constexpr std::size_t bucket_places = 16;

  struct found {
    std::array<cache_place, 4> places{};  ///< perhaps; more are not told
    std::size_t count{0};
    bool blocks{false};  ///< it would: ask again and let it
  };

  /// For a cache of so many bytes: a place for each 8 KiB, 64 Mi places at most. Without a file
  /// nothing is found.
  void open(int folder, std::uint64_t cache_bytes) noexcept;
  found find(std::uint64_t hash, bool may_block) const noexcept;
  /// False where it is not kept.
  bool put(std::uint64_t hash, const cache_place& place) const noexcept;
  void drop(std::uint64_t hash, const cache_place& place) const noexcept;

  struct doubts {
    std::uint16_t count{0};
    bool blocks{false};  ///< as of found
  };
  /// By cache_key::doubts_hash().
  doubts doubts_of(std::uint64_t hash, bool may_block) const noexcept;
  /// One more.
  void doubt(std::uint64_t hash) const noexcept;
  bool usable() const noexcept { return static_cast<bool>(file_); }

 private:
  struct slot {
    std::uint32_t tag{0};
    cache_place place{};
  };
  using bucket = std::array<slot, bucket_places>;

  static std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32U);
  }
  static const slot* doubts_in(const bucket& known, std::uint64_t hash) noexcept;

  bool open_known(int folder) noexcept;
  bool is_small_for(std::uint64_t wanted) const noexcept;
  bool make(int folder, std::uint64_t buckets);
  std::uint64_t begin_of(std::uint64_t hash) const noexcept;
  enum class outcome : std::uint8_t { read, blocks, failed };
  outcome read(std::uint64_t hash, bucket& into, bool may_block) const noexcept;
  bool write(std::uint64_t hash, std::size_t which, const slot& value) const noexcept;

  cache_file file_{};
  std::uint64_t buckets_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/cache/impl/cache_index.ipp>
#endif
