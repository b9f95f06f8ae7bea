#include <unistd.h>

#include <functional>

#include "commands.hpp"
#include "location.hpp"
#include "range_text.hpp"
#include "selecting.hpp"
#include "stream_out.hpp"

namespace cli {

namespace {

/// What `cat` does with each object that its URLs name, until it is told to stop.
exit_status each_place(const session& with, const cat_options& options, outcome& report,
                       const std::function<void(const location&)>& show) {
  const auto sources = parse_object_sources(with, options.urls, options.select);
  if (sources) {
    for_each_named(with, *sources, options.select, report, show);
  } else {
    report.failed(sources.error());
  }
  return report.status();
}

exit_status cat_members(const session& with, const cat_options& options) {
  outcome report(nullptr, nullptr, with.speaks);
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
  outcome report(nullptr, nullptr, with.speaks);
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
