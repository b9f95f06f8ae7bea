#pragma once

#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Names of shards by number: "train-%06d.tar". There is exactly one "%0Nd", N of 1 to 18 digits,
/// and no other '%'. All names have the same length, so that their order is that of the numbers.
///
/// Threads: a value.
class shard_pattern {
 public:
  /// Errors (invalid_argument): it is no such pattern; `example` is one.
  static result<shard_pattern> parse(std::string_view pattern,
                                     std::string_view example = "train-%06d.tar");
  /// The name of one shard, which has the number 0.
  static shard_pattern one(std::string_view name);

  /// Errors (out_of_range): the number has more digits.
  result<std::string> name(std::uint64_t number) const;
  /// The number of which this is the name.
  std::optional<std::uint64_t> number_of(std::string_view name) const noexcept;
  /// What all names begin with.
  const std::string& front() const noexcept { return front_; }

 private:
  std::string front_{};
  std::string back_{};
  std::size_t digits_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_pattern.ipp>
#endif
