#pragma once

#include <dataflux/transfer/detail/part_plan.hpp>

#include <algorithm>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::uint64_t greatest_usual_part = 32ULL << 20U;
inline constexpr std::uint64_t fixed_until = 64ULL << 30U;

inline std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

/// As the class says, within the memory.
inline std::uint64_t usual_part(const part_plan_options& o, const store_traits& traits) noexcept {
  std::uint64_t usual = least_usual_part;
  while (usual < o.memory / 16 && usual < greatest_usual_part) usual *= 2;
  usual = std::min(usual, o.memory / 2 / part_quantum * part_quantum);
  return std::max({usual, round_up(traits.min_part_size, part_quantum), part_quantum});
}

inline std::string in_bytes(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

DATAFLUX_INLINE result<part_plan> part_plan::make(const part_plan_options& o,
                                                  const store_traits& traits) {
  const std::uint64_t hint = o.size_hint.value_or(0);
  if (hint > traits.max_object_size) {
    return error(errc::out_of_range, "size_hint: " + in_bytes(hint) + "; an object has at most " +
                                         in_bytes(traits.max_object_size));
  }
  part_plan plan;
  plan.parts_ = std::max<std::uint64_t>(traits.max_parts, 1);
  plan.object_ = traits.max_object_size;
  const std::uint64_t least = round_up((hint + plan.parts_ - 1) / plan.parts_, part_quantum);
  plan.fixed_ = o.part_size == 0 ? std::max(usual_part(o, traits), least)
                                 : round_up(o.part_size, part_quantum);
  if (plan.fixed_ < traits.min_part_size || plan.fixed_ > traits.max_part_size) {
    return error(errc::invalid_argument, "part_size: " + in_bytes(o.part_size) +
                                             "; the store takes " + in_bytes(traits.min_part_size) +
                                             " to " + in_bytes(traits.max_part_size));
  }
  const std::uint64_t half = o.memory / 2 / part_quantum * part_quantum;
  if (plan.fixed_ > half) {
    const std::string needed = "two parts of " + in_bytes(plan.fixed_) +
                               " do not fit into the memory for uploads, " + in_bytes(o.memory) +
                               "; raise upload_memory";
    if (o.part_size == 0 && least == plan.fixed_) {
      return error(errc::resource_exhausted, "size_hint: an object of " + in_bytes(hint) +
                                                 " takes parts so large that " + needed);
    }
    return error(errc::invalid_argument, needed + ", or lower part_size");
  }
  plan.largest_ = std::max(plan.fixed_, std::min(half, traits.max_part_size));
  const std::uint64_t fixed_bytes = std::max(fixed_until, hint);
  const std::uint64_t for_hint = (hint + plan.fixed_ - 1) / plan.fixed_;
  plan.fixed_parts_ = std::min(
      plan.parts_, std::max(for_hint, std::min(fixed_bytes / plan.fixed_, plan.parts_ / 2)));
  const std::uint64_t n = plan.parts_ - plan.fixed_parts_;
  const std::uint64_t before = plan.parts_ * plan.fixed_;
  if (n > 0 && before < plan.object_) {
    const std::uint64_t sum = n * (n + 1) / 2;
    plan.step_ = (plan.object_ - before + sum - 1) / sum;
  }
  if (plan.reach() < hint) {
    return error(errc::resource_exhausted, "size_hint: " + in_bytes(hint) + " are not reached by " +
                                               std::to_string(plan.parts_) + " parts of " +
                                               in_bytes(plan.fixed_) +
                                               "; raise part_size or upload_memory");
  }
  return plan;
}

DATAFLUX_INLINE std::uint64_t part_plan::size_of(std::uint64_t number) const noexcept {
  if (number > parts_) return 0;
  if (number <= fixed_parts_) return fixed_;
  const std::uint64_t wanted = fixed_ + step_ * (number - fixed_parts_);
  return std::min(largest_, round_up(wanted, part_quantum));
}

DATAFLUX_INLINE std::uint64_t part_plan::reach() const noexcept {
  std::uint64_t all = fixed_parts_ * fixed_;
  for (std::uint64_t i = fixed_parts_ + 1; i <= parts_ && all < object_; ++i) all += size_of(i);
  return std::min(all, object_);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
