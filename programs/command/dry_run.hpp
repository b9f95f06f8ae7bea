#pragma once

#include <cstdint>
#include <string_view>

#include "outcome.hpp"

namespace cli {

/// Prints what would be copied, and what would be removed. For one thread at a time.
class dry_run {
 public:
  void tell(std::string_view source, std::string_view target, std::uint64_t size);
  void tell_removal(std::string_view what, std::uint64_t size);
  /// The total; reports it when not all could be printed.
  void finish(outcome& report) const;

 private:
  std::uint64_t objects_{0};
  std::uint64_t bytes_{0};
  std::uint64_t removals_{0};
};

}  // namespace cli
