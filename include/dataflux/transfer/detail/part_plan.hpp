#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstdint>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail {

struct part_plan_options {
  /// Of all parts but the last, in bytes; rounded up to part_quantum. 0 = by the rest.
  std::uint64_t part_size{0};
  /// How large the object will be, as far as is known. It may turn out otherwise.
  std::optional<std::uint64_t> size_hint{};
  /// Most bytes that the parts of this upload hold at a time; two of them have to fit.
  std::uint64_t memory{256ULL << 20U};
};

/// Parts are multiples of it, as chunks of resumable uploads have to be (protocol.md 1.4).
inline constexpr std::uint64_t part_quantum = 256ULL << 10U;

/// No smaller ones are chosen without a wish.
inline constexpr std::uint64_t least_usual_part = 8ULL << 20U;

/// How large the parts of an upload are whose end is not known. Few enough that the store takes
/// them all, small enough that several are in flight within the memory.
///
/// Without a wish parts are 8, 16 or 32 MiB, a sixteenth of the memory. What they hold together is
/// bounded, so larger ones are fewer at a time, and slower: each waits for its own round trips.
/// With a hint they are large enough that the hint is reached by parts of equal size.
///
/// For 64 GiB, or for half of the parts that the store takes where that is less, or for what the
/// hint says where that is more, all have this size. From there on each is larger than the one
/// before by the same amount, such that the largest object that the store takes is reached with the
/// last part; and when two of them fill the memory they grow no further: reach() is how far that
/// goes. So fewer are in flight the longer the object, down to two.
///
/// Pure; a value. Cost: nothing but reach(), which adds up 10,000 sizes.
class part_plan {
 public:
  /// Errors: invalid_argument for a part size that the store does not take, or of which two do not
  /// fit into the memory; resource_exhausted, saying how much memory it takes, when the hint cannot
  /// be reached within it; out_of_range for a hint above the largest object.
  static result<part_plan> make(const part_plan_options& options, const store_traits& traits);

  /// Of part `number`, from 1 on; 0 where the store takes none of that number.
  std::uint64_t size_of(std::uint64_t number) const noexcept;
  std::uint64_t first_size() const noexcept { return fixed_; }
  /// Bytes of the largest object that goes this way.
  std::uint64_t reach() const noexcept;

 private:
  std::uint64_t fixed_{0};
  std::uint64_t fixed_parts_{0};
  std::uint64_t step_{0};
  std::uint64_t largest_{0};  ///< part
  std::uint64_t parts_{0};
  std::uint64_t object_{0};  ///< largest
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/part_plan.ipp>
#endif
