#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Counts sizes in little memory: those of a class, of which there are 64 from each power of two to
/// the next, become their mean.
class size_tally {
 public:
  void add(std::uint64_t bytes) noexcept;
  /// Pairs of bytes and count, ascending.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes() const;

 private:
  struct size_class {
    std::uint64_t count{0};
    double bytes{0};
  };
  static constexpr std::size_t classes_of_power = 64;
  std::vector<size_class> classes_{std::vector<size_class>(64 * classes_of_power)};
};

/// Sizes that stand for the sizes of all objects, at most `most` of them: the objects, ordered by
/// size, are cut into so many runs of equal length, and each size is the mean of a run. So the sum
/// of bytes for an object is as it was. They come in an order that `seed` tells.
///
/// `sizes` are pairs of bytes and count, whose counts are above 0 and add up to `count`. Cost: O(n
/// log n) of the pairs.
std::vector<std::uint64_t> object_strata(std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes,
                                         std::uint64_t count, std::size_t most, std::uint64_t seed);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/simulate/impl/object_strata.ipp>
#endif
