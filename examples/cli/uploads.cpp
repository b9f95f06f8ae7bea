#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/store/reserved_prefixes.hpp>
#include <dataflux/transfer/temporary_object.hpp>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <tuple>

#include "age_text.hpp"
#include "commands.hpp"
#include "job.hpp"
#include "listing.hpp"
#include "location.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::result;
using dataflux::temporary_objects_prefix;
using dataflux::timestamp;

namespace {

/// What an upload has left, or is at work on.
struct leftover {
  timestamp began{};
  std::string object{};     ///< what it was going to be, "..." at the end where that is not all
  std::string name{};       ///< what it is called until then
  std::string upload_id{};  ///< of an open upload; empty = a temporary object
  std::int64_t generation{0};
  std::uint64_t size{0};
  bool noncurrent{false};
};

class leftovers {
 public:
  leftovers(const session& with, const location& where, timestamp until)
      : with_(with), where_(where), until_(until) {}

  result<std::vector<leftover>> find() {
    // Those under their own names, those that are called something else, and objects of these.
    const bool all_at_once = temporary_objects_prefix.starts_with(where_.name);
    const std::string temporaries(temporary_objects_prefix);
    for (const std::string& prefix : {where_.name, temporaries}) {
      if (all_at_once && prefix != where_.name) continue;
      if (auto found = find_uploads(prefix); !found) return found.error();
    }
    // Where the bucket keeps versions, what was removed without its generation is billed, too.
    for (const bool versions : {false, true}) {
      if (auto found = find_objects(temporaries, versions); !found) return found.error();
    }
    std::sort(found_.begin(), found_.end(), [](const leftover& a, const leftover& b) {
      return std::tie(a.object, a.began, a.name, a.upload_id, a.generation, a.noncurrent) <
             std::tie(b.object, b.began, b.name, b.upload_id, b.generation, b.noncurrent);
    });
    // A prefix of temporaries' own names asks for the same uploads twice, and live objects are
    // listed among all generations again.
    const auto twice = [](const leftover& a, const leftover& b) {
      return a.name == b.name && a.upload_id == b.upload_id && a.generation == b.generation;
    };
    found_.erase(std::unique(found_.begin(), found_.end(), twice), found_.end());
    return std::move(found_);
  }

 private:
  result<void> find_uploads(const std::string& prefix) {
    dataflux::list_uploads_request request{
        .bucket = where_.bucket, .prefix = prefix, .limits = {.stop = with_.stop}};
    do {
      auto page = with_.store.run(request);
      if (!page) return std::move(page).error();
      for (auto& upload : page->uploads) {
        leftover one;
        one.name = std::move(upload.object);
        one.upload_id = std::move(upload.upload_id);
        add(std::move(one), upload.initiated);
      }
      request.object_marker = std::move(page->next_object_marker);
      request.upload_marker = std::move(page->next_upload_marker);
    } while (!request.object_marker.empty() || !request.upload_marker.empty());
    return {};
  }

  result<void> find_objects(const std::string& prefix, bool versions) {
    return for_each_page(with_.store,
                         {.bucket = where_.bucket,
                          .prefix = prefix,
                          .versions = versions,
                          .times = true,
                          .stop = with_.stop},
                         [this, versions](dataflux::listed_page& page) {
                           for (auto row = page.objects.begin(); row != page.objects.end(); ++row) {
                             const dataflux::object_row facts = *row;
                             if (!dataflux::target_of_temporary(facts.name))
                               continue;  // none of ours
                             leftover one;
                             one.name = facts.name;
                             one.generation = facts.generation;
                             one.size = facts.size;
                             one.noncurrent = versions;
                             add(std::move(one), row.extras().created);
                           }
                           return true;
                         });
  }

  /// One whose age the service does not tell may be under way: it is left alone.
  void add(leftover one, const std::optional<timestamp>& began) {
    if (!began || *began > until_) return;
    one.began = *began;
    const auto target = dataflux::target_of_temporary(one.name);
    one.object = target ? target->object : one.name;
    const bool asked_for = one.object.starts_with(where_.name) ||
                           one.name.starts_with(where_.name) ||
                           (target && !target->whole && where_.name.starts_with(one.object));
    if (target && !target->whole) one.object += "...";
    if (asked_for) found_.push_back(std::move(one));
  }

  const session& with_;
  const location& where_;
  const timestamp until_;
  std::vector<leftover> found_{};
};

void print(const location& where, const std::vector<leftover>& all) {
  for (const leftover& one : all) {
    std::printf("%-30s  %s  ", dataflux::codec::format_rfc3339(one.began).c_str(),
                shown_url(where.bucket, one.object).c_str());
    if (one.upload_id.empty()) {
      std::printf("%sobject %s, %" PRIu64 " bytes\n", one.noncurrent ? "noncurrent " : "",
                  one.name.c_str(), one.size);
    } else if (one.name == one.object) {
      std::printf("upload %s\n", one.upload_id.c_str());
    } else {
      std::printf("upload %s as %s\n", one.upload_id.c_str(), one.name.c_str());
    }
  }
}

void remove(job& with, const location& where, std::vector<leftover> all) {
  for (auto& each : all) {
    if (with.ended()) return with.report.failed(error(errc::cancelled, "stopped"));
    const auto item = std::make_shared<pipeline::item>(with.flow.begin_item());
    with.flow.admit(0, [&with, &where, item, one = std::move(each)](auto share) {
      const auto held = std::make_shared<dataflux::budget_share>(std::move(share));
      auto ended = [&with, item, held](const auto& removed) {
        if (!removed) return with.report.failed(removed.error());
        with.report.done(0);
      };
      if (one.upload_id.empty()) {
        return with.store.start_remove({.bucket = where.bucket,
                                        .object = one.name,
                                        .generation = one.generation,
                                        .limits = {.stop = with.stop}},
                                       std::move(ended));
      }
      with.store.start_multipart_abort({.bucket = where.bucket,
                                        .object = one.name,
                                        .upload_id = one.upload_id,
                                        .limits = {.stop = with.stop}},
                                       std::move(ended));
    });
  }
}

/// By the service's clock, which its stamps are by; it tells it to the second, cut off.
result<timestamp> service_now(const session& with, const std::string& bucket) {
  const auto page =
      with.store.list_page({.bucket = bucket, .max_results = 1, .limits = {.stop = with.stop}});
  if (!page) return page.error();
  if (page->served) return *page->served + std::chrono::seconds(1);
  return std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now());
}

result<std::vector<leftover>> find(const session& with, const location& where,
                                   const uploads_options& options) {
  auto until = timestamp::max();
  if (!options.older_than.empty()) {
    const auto age = parse_age(options.older_than);
    if (!age) {
      return error(errc::invalid_argument,
                   "--older-than " + options.older_than + ": write 30m, 12h or 7d");
    }
    const auto now = service_now(with, where.bucket);
    if (!now) return now.error();
    until = *now - *age;
  }
  return leftovers(with, where, until).find();
}

}  // namespace

exit_status run_uploads(const session& with, const uploads_options& options) {
  outcome report(nullptr);
  const auto where = parse_object_location(options.url);
  auto found = where ? find(with, *where, options) : where.error();
  if (!found) {
    report.failed(found.error());
  } else if (!options.abort) {
    print(*where, *found);
    if (std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  } else {
    pipeline flow(with.store.executor(), {.file_threads = 0});
    job work{with.store, flow, report, with.stop};
    remove(work, *where, std::move(*found));
    flow.wait();
  }
  return report.status();
}

}  // namespace cli
