#include <unistd.h>

#include "commands.hpp"
#include "location.hpp"
#include "range_text.hpp"
#include "stream_out.hpp"

namespace cli {

namespace {

/// What `cat` does with the place that each URL names, until it is told to stop.
template <class Show>
exit_status each_place(const session& with, const cat_options& options, outcome& report,
                       Show show) {
  for (const auto& url : options.urls) {
    if (with.stop.stop_requested()) break;
    const auto where = parse_object_location(url);
    if (where) {
      show(*where);
    } else {
      report.failed(where.error());
    }
  }
  return report.status();
}

exit_status cat_members(const session& with, const cat_options& options) {
  outcome report(nullptr);
  if (options.checked || !options.range.empty()) {
    report.failed(dataflux::error(dataflux::errc::invalid_argument,
                                  "--member is read as a whole, and compared with nothing: leave "
                                  "out --range and --checked"));
    return report.status();
  }
  return each_place(with, options, report, [&](const location& where) {
    member_out(with.transfers,
               {.bucket = where.bucket,
                .object = where.name,
                .member = options.member,
                .limits = {.stop = with.stop}},
               STDOUT_FILENO, report);
  });
}

}  // namespace

exit_status run_cat(const session& with, const cat_options& options) {
  if (!options.member.empty()) return cat_members(with, options);
  outcome report(nullptr);
  const auto range = parse_range(options.range);
  if (!range) {
    report.failed(dataflux::error(
        dataflux::errc::invalid_argument,
        "--range " + options.range + ": write FIRST-LAST, FIRST- or -COUNT, in bytes"));
    return report.status();
  }
  if (options.checked && !options.range.empty()) {
    report.failed(dataflux::error(dataflux::errc::invalid_argument,
                                  "--checked is for whole objects: a range has no checksum"));
    return report.status();
  }
  return each_place(with, options, report, [&](const location& where) {
    const auto object = find_object(with.store, where, with.stop);
    if (!object) return report.failed(object.error());
    if (options.checked) {
      return checked_out(with.transfers, *object, STDOUT_FILENO, report, with.stop);
    }
    stream_out(with.transfers, *object, *range, STDOUT_FILENO, report, with.stop);
  });
}

}  // namespace cli
