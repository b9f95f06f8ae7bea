#include <unistd.h>

#include "commands.hpp"
#include "location.hpp"
#include "range_text.hpp"
#include "stream_out.hpp"

namespace cli {

exit_status run_cat(const session& with, const cat_options& options) {
  outcome report(nullptr);
  const auto range = parse_range(options.range);
  if (!range) {
    report.failed(dataflux::error(
        dataflux::errc::invalid_argument,
        "--range " + options.range + ": write FIRST-LAST, FIRST- or -COUNT, in bytes"));
    return report.status();
  }
  for (const auto& url : options.urls) {
    if (with.stop.stop_requested()) break;
    const auto where = parse_object_location(url);
    if (!where) {
      report.failed(where.error());
      continue;
    }
    const auto object = find_object(with.store, *where, with.stop);
    if (!object) {
      report.failed(object.error());
      continue;
    }
    const auto out = stream_out(with.transfers, *object, *range, STDOUT_FILENO, report, with.stop);
    if (!out) {
      report.failed(out.error());
    } else {
      report.done(0);
    }
  }
  return report.status();
}

}  // namespace cli
