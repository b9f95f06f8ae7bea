#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/store/multipart_requests.hpp>

#include <chrono>
#include <cstdio>

#include "age_text.hpp"
#include "commands.hpp"
#include "job.hpp"
#include "location.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::listed_upload;
using dataflux::result;

namespace {

/// The unfinished uploads of a place that began before `until`.
result<std::vector<listed_upload>> find_uploads(const session& with, const location& where,
                                                dataflux::timestamp until) {
  std::vector<listed_upload> out;
  dataflux::list_uploads_request request{
      .bucket = where.bucket, .prefix = where.name, .limits = {.stop = with.stop}};
  do {
    auto page = with.store.run(request);
    if (!page) return std::move(page).error();
    for (auto& upload : page->uploads) {
      // One whose age the service does not tell may be under way: it is left alone.
      if (upload.initiated && *upload.initiated <= until) out.push_back(std::move(upload));
    }
    request.object_marker = std::move(page->next_object_marker);
    request.upload_marker = std::move(page->next_upload_marker);
  } while (!request.object_marker.empty() || !request.upload_marker.empty());
  return out;
}

void print(const location& where, const std::vector<listed_upload>& uploads) {
  for (const auto& upload : uploads) {
    std::printf("%-30s  %s  %s\n", dataflux::codec::format_rfc3339(*upload.initiated).c_str(),
                shown_url(where.bucket, upload.object).c_str(), upload.upload_id.c_str());
  }
}

void abort(job& with, const location& where, std::vector<listed_upload> uploads) {
  for (auto& upload : uploads) {
    if (with.ended()) return with.report.failed(error(errc::cancelled, "stopped"));
    const auto item = std::make_shared<pipeline::item>(with.flow.begin_item());
    with.flow.admit(0, [&with, &where, item, one = std::move(upload)](auto share) {
      const auto held = std::make_shared<dataflux::budget_share>(std::move(share));
      with.store.start_multipart_abort({.bucket = where.bucket,
                                        .object = one.object,
                                        .upload_id = one.upload_id,
                                        .limits = {.stop = with.stop}},
                                       [&with, item, held](const auto& aborted) {
                                         if (!aborted) return with.report.failed(aborted.error());
                                         with.report.done(0);
                                       });
    });
  }
}

}  // namespace

exit_status run_uploads(const session& with, const uploads_options& options) {
  outcome report(nullptr);
  const auto where = parse_object_location(options.url);
  const auto age = parse_age(options.older_than.empty() ? "0s" : options.older_than);
  if (!where) {
    report.failed(where.error());
  } else if (!age) {
    report.failed(error(errc::invalid_argument,
                        "--older-than " + options.older_than + ": write 30m, 12h or 7d"));
  } else {
    // By this clock; the service's may differ by seconds, which ages of uploads do not feel.
    const auto now =
        std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
    const bool all = options.older_than.empty();
    auto uploads = find_uploads(with, *where, all ? dataflux::timestamp::max() : now - *age);
    if (!uploads) {
      report.failed(uploads.error());
    } else if (!options.abort) {
      print(*where, *uploads);
      if (std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
    } else {
      pipeline flow(with.store.executor(), {.file_threads = 0});
      job work{with.store, flow, report, with.stop};
      abort(work, *where, std::move(*uploads));
      flow.wait();
    }
  }
  return report.status();
}

}  // namespace cli
