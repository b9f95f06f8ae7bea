#include "dry_run.hpp"

#include <cinttypes>
#include <cstdio>

namespace cli {

void dry_run::tell(std::string_view source, std::string_view target, std::uint64_t size) {
  ++objects_;
  bytes_ += size;
  std::printf("%15" PRIu64 "  %.*s -> %.*s\n", size, static_cast<int>(source.size()), source.data(),
              static_cast<int>(target.size()), target.data());
}

void dry_run::tell_removal(std::string_view what, std::uint64_t size) {
  ++removals_;
  std::printf("%15" PRIu64 "  %.*s is extra\n", size, static_cast<int>(what.size()), what.data());
}

void dry_run::finish(outcome& report) const {
  if (objects_ == 0 && removals_ == 0 && report.failures() > 0) return;  // nothing to total
  std::printf("total: %" PRIu64 " objects, %" PRIu64 " bytes to copy", objects_, bytes_);
  if (removals_ > 0) std::printf("; %" PRIu64 " to remove", removals_);
  std::printf("\n");
  if (std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
}

}  // namespace cli
