#include "commands.hpp"
#include "job.hpp"
#include "listing.hpp"
#include "location.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;

namespace {

void remove(job& with, dataflux::remove_request what) {
  const auto item = std::make_shared<pipeline::item>(with.flow.begin_item());
  what.limits.stop = with.stop;
  with.flow.admit(0, [&with, item, what = std::move(what)](dataflux::budget_share share) mutable {
    if (with.ended()) return with.report.failed(error(errc::cancelled, "stopped"));
    const auto held = std::make_shared<dataflux::budget_share>(std::move(share));
    with.store.start_remove(what, [&with, item, held](const auto& removed) {
      if (!removed) return with.report.failed(removed.error());
      with.report.done(0);
    });
  });
}

/// Removes the generation that was seen, so that what somebody wrote meanwhile stays, and the
/// client may repeat the request. In a bucket with versions it becomes a noncurrent one, as usual.
void remove_seen(job& with, const std::string& bucket, std::string name, std::int64_t generation) {
  remove(with, {.bucket = bucket,
                .object = std::move(name),
                .conditions = {.if_generation_match = generation}});
}

void remove_below(job& with, const location& where) {
  std::uint64_t seen = 0;
  const auto listed = for_each_page(
      with.store, {.bucket = where.bucket, .prefix = folder_prefix(where.name), .stop = with.stop},
      [&](dataflux::listed_page& page) {
        for (const auto row : page.objects) {
          remove_seen(with, where.bucket, std::string(row.name), row.generation);
        }
        seen += page.objects.size();
        return !with.ended();
      });
  if (!listed) return with.report.failed(listed.error());
  if (where.name.empty() || where.name.ends_with('/')) {
    if (seen == 0 && !where.name.empty()) {
      with.report.failed(error(errc::not_found, "nothing is below it")
                             .with_bucket(where.bucket)
                             .with_object(where.name));
    }
    return;
  }
  // gs://b/x is a folder, an object, or both.
  const auto object = with.store.stat(
      {.bucket = where.bucket, .object = where.name, .limits = {.stop = with.stop}});
  if (object) return remove_seen(with, where.bucket, where.name, object->generation);
  if (seen == 0 || object.error().code() != errc::not_found) with.report.failed(object.error());
}

void remove_one(job& with, const location& where) {
  if (where.name.empty()) {
    return with.report.failed(
        error(errc::invalid_argument,
              where.to_string() + " is a bucket; `rm -r` removes all its objects"));
  }
  const auto object = find_object(with.store, where, with.stop);
  if (!object) return with.report.failed(object.error());
  if (object->name == where.name) {
    return remove_seen(with, where.bucket, where.name, object->generation);
  }
  remove(with, {.bucket = where.bucket, .object = object->name, .generation = object->generation});
}

}  // namespace

exit_status run_rm(const session& with, const rm_options& options) {
  std::vector<location> places;
  {
    outcome report(nullptr);
    for (const auto& url : options.urls) {
      auto where = parse_object_location(url);
      if (!where) {
        report.failed(where.error());
        return report.status();  // nothing is removed by a command that is half wrong
      }
      places.push_back(std::move(*where));
    }
  }
  progress bar("removing", 0);
  std::stop_source end;
  const std::stop_callback interrupted(with.stop, [&end] { end.request_stop(); });
  outcome report(&bar, &end);
  {
    pipeline flow(with.store.executor(), {.file_threads = 0});
    job work{with.store, flow, report, end.get_token()};
    for (const auto& where : places) {
      if (work.ended()) break;
      options.recursive ? remove_below(work, where) : remove_one(work, where);
    }
    flow.wait();
  }
  return report.status();
}

}  // namespace cli
