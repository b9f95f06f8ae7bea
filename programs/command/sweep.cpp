#include <dataflux/transfer/leftovers.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "age_text.hpp"
#include "commands.hpp"
#include "location.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::leftover;
using dataflux::leftover_verdict;

namespace {

std::string_view said(leftover_verdict verdict, bool dry_run) {
  switch (verdict) {
    case leftover_verdict::stale:
      return dry_run ? "would be removed" : "removed";
    case leftover_verdict::young:
      return "kept, may be in use";
    case leftover_verdict::foreign:
      return "kept, no leftover of ours";
    case leftover_verdict::failed:
      break;
  }
  return "failed";
}

void print(const location& where, const leftover& each, bool dry_run) {
  const std::string began = each.began ? dataflux::to_string(*each.began) : std::string("-");
  std::printf("%-30s  %s  %s\n", began.c_str(),
              shown_url(where.scheme, where.bucket, each.name).c_str(),
              std::string(said(each.verdict, dry_run)).c_str());
}

}  // namespace

exit_status run_sweep(const session& with, const sweep_options& options) {
  outcome report(nullptr, nullptr, with.speaks);
  const auto where = parse_object_location(options.url);
  const auto age = parse_age(options.older_than.empty() ? "0s" : options.older_than);
  if (!where) {
    report.failed(where.error());
    return report.status();
  }
  if (!where->name.empty()) {
    report.failed(error(errc::invalid_argument, where->to_string() + ": a whole bucket is swept, " +
                                                    std::string(where->scheme) + "://" +
                                                    where->bucket));
    return report.status();
  }
  if (!age) {
    report.failed(error(errc::invalid_argument,
                        "--older-than " + options.older_than + ": write 30m, 12h or 7d"));
    return report.status();
  }
  dataflux::leftovers_request what{
      .bucket = where->bucket, .uploads = false, .limits = {.stop = with.stop}};
  if (!options.older_than.empty()) what.older_than = *age;
  const auto swept = options.dry_run ? find_leftovers(with.store, std::move(what))
                                     : remove_leftovers(with.store, std::move(what));
  if (!swept) {
    report.failed(swept.error());
    return report.status();
  }
  for (const leftover& each : swept->rows) {
    if (each.failure) {
      report.failed(*each.failure);
      continue;
    }
    print(*where, each, options.dry_run);
    if (each.verdict == leftover_verdict::stale) report.done(each.size);
  }
  const std::uint64_t kept = swept->young + swept->foreign;
  std::printf(
      "total: %llu %s, %llu bytes; %llu kept\n", static_cast<unsigned long long>(swept->stale),
      options.dry_run ? "to be removed" : "removed",
      static_cast<unsigned long long>(swept->stale_bytes), static_cast<unsigned long long>(kept));
  if (std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
