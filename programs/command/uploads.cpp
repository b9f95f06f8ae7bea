#include <dataflux/transfer/leftovers.hpp>

#include <cinttypes>
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

dataflux::result<dataflux::leftovers_report> find(const session& with, const location& where,
                                                  const uploads_options& options) {
  dataflux::leftovers_request request{.bucket = where.bucket,
                                      .prefix = where.name,
                                      .composites = false,
                                      .limits = {.stop = with.stop}};
  if (!options.older_than.empty()) {
    const auto age = parse_age(options.older_than);
    if (!age) {
      return error(errc::invalid_argument,
                   "--older-than " + options.older_than + ": write 30m, 12h or 7d");
    }
    request.older_than = *age;
  }
  return options.abort ? remove_leftovers(with.store, std::move(request))
                       : find_leftovers(with.store, std::move(request));
}

void print(const location& where, const leftover& one) {
  const std::string began = one.began ? dataflux::to_string(*one.began) : std::string("-");
  const std::string target = one.target + (one.whole_target ? "" : "...");
  std::printf("%-30s  %s  ", began.c_str(), shown_url(where.scheme, where.bucket, target).c_str());
  if (one.upload_id.empty()) {
    std::printf("%sobject %s, %" PRIu64 " bytes\n", one.noncurrent ? "noncurrent " : "",
                one.name.c_str(), one.size);
  } else if (one.name == target) {
    std::printf("upload %s\n", one.upload_id.c_str());
  } else {
    std::printf("upload %s as %s\n", one.upload_id.c_str(), one.name.c_str());
  }
}

}  // namespace

exit_status run_uploads(const session& with, const uploads_options& options) {
  outcome report(nullptr, nullptr, with.speaks);
  const auto where = parse_object_location(options.url);
  const auto found = where ? find(with, *where, options) : where.error();
  if (!found) {
    report.failed(found.error());
    return report.status();
  }
  for (const leftover& one : found->rows) {
    const bool stale = one.verdict == leftover_verdict::stale;
    if (one.failure) {
      report.failed(*one.failure);
    } else if (options.abort) {
      if (stale) {
        report.done({.how = deed::removed,
                     .target = shown_url(where->scheme, where->bucket, one.name),
                     .bytes = one.size});
      }
    } else if (stale || (one.verdict == leftover_verdict::young && options.older_than.empty())) {
      print(*where, one);
    }
  }
  if (options.abort) report.tell_end(with.retries());
  if (std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
