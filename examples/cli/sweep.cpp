#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/download/sweep.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

#include "age_text.hpp"
#include "commands.hpp"
#include "location.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::sweep_verdict;
using dataflux::swept_object;

namespace {

std::string_view said(sweep_verdict verdict, bool dry_run) {
  switch (verdict) {
    case sweep_verdict::removed:
      return dry_run ? "would be removed" : "removed";
    case sweep_verdict::young:
      return "kept, may be in use";
    case sweep_verdict::foreign:
      return "kept, no leftover of ours";
    case sweep_verdict::failed:
      break;
  }
  return "failed";
}

void print(const location& where, const swept_object& each, bool dry_run) {
  const std::string created =
      each.created ? dataflux::codec::format_rfc3339(*each.created) : std::string("-");
  std::printf("%-30s  %s  %s\n", created.c_str(), shown_url(where.bucket, each.name).c_str(),
              std::string(said(each.verdict, dry_run)).c_str());
}

}  // namespace

exit_status run_sweep(const session& with, const sweep_options& options) {
  outcome report(nullptr);
  dataflux::sweep_options how{.dry_run = options.dry_run, .limits = {.stop = with.stop}};
  const auto where = parse_object_location(options.url);
  const auto age = parse_age(options.older_than.empty() ? "0s" : options.older_than);
  if (!where) {
    report.failed(where.error());
    return report.status();
  }
  if (!where->name.empty()) {
    report.failed(error(errc::invalid_argument,
                        where->to_string() + ": a whole bucket is swept, gs://" + where->bucket));
    return report.status();
  }
  if (!age) {
    report.failed(error(errc::invalid_argument,
                        "--older-than " + options.older_than + ": write 30m, 12h or 7d"));
    return report.status();
  }
  if (!options.older_than.empty()) how.older_than = *age;
  const auto swept = dataflux::sweep_composites(with.store, where->bucket, how);
  if (!swept) {
    report.failed(swept.error());
    return report.status();
  }
  for (const swept_object& each : swept->objects) {
    if (each.failure) {
      report.failed(*each.failure);
      continue;
    }
    print(*where, each, options.dry_run);
    if (each.verdict == sweep_verdict::removed) report.done(each.size);
  }
  const std::uint64_t kept = swept->young + swept->foreign;
  std::printf(
      "total: %llu %s, %llu bytes; %llu kept\n", static_cast<unsigned long long>(swept->removed),
      options.dry_run ? "to be removed" : "removed",
      static_cast<unsigned long long>(swept->removed_bytes), static_cast<unsigned long long>(kept));
  if (std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
