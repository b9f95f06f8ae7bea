#include "listing.hpp"
#include "object.hpp"

#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/list/manifest.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dataflux_c {

/// What became of a listing.
struct listing_difference {
  dataflux::listing_changes rows{};
  listed later{};
};

}  // namespace dataflux_c

/// Immutable, and plain memory: also in the child of a fork.
struct dataflux_manifest {
  dataflux::manifest what;
  std::string json;
};
struct dataflux_changes {
  dataflux_c::listing_difference what;
};

namespace dataflux_c {

namespace {

using dataflux::manifest;

class manifest_operation final : public giving_operation<manifest> {
 public:
  using giving_operation::giving_operation;

 protected:
  void describe(dataflux_record& r) const override {
    if (value_) r.size = value_->size();
  }
};
class changes_operation final : public giving_operation<listing_difference> {
 public:
  using giving_operation::giving_operation;

 protected:
  void describe(dataflux_record& r) const override {
    if (value_) r.size = value_->later.rows->size();
  }
};

void describe(const dataflux::shared_list_summary& done, dataflux_record& r) {
  r.size = done.objects;
}
std::string json_of(const dataflux::shared_list_summary& done) {
  dataflux::detail::codec::json_writer w;
  w.begin_object().key("objects").natural(done.objects).key("tasks").natural(done.tasks);
  w.key("own_objects").natural(done.own_objects).key("own_tasks").natural(done.own_tasks);
  w.key("calls").natural(done.calls).end_object();
  return std::move(w).take();
}
using shared_operation = report_operation<dataflux::shared_list_summary, describe, json_of>;

/// Where a manifest is: a file, if its path is not empty, or an object.
struct place {
  std::string path{};
  std::string bucket{};
  std::string object{};
  dataflux::call_limits limits{};
};
result<place> place_of(const dataflux_manifest_options* given) {
  const auto o = options_of(given);
  if (!o) return o.error();
  const bool file = o->path != nullptr;
  const bool object = o->bucket != nullptr || o->object != nullptr;
  if (file == object) return error(errc::invalid_argument, "name a path, or bucket and object");
  if (file && *o->path == '\0') return error(errc::invalid_argument, "the path is empty");
  if (object && o->bucket == nullptr) return missing("bucket");
  if (object && o->object == nullptr) return missing("object");
  place p{text_of(o->path), text_of(o->bucket), text_of(o->object), {}};
  p.limits.timeout = duration_of(o->timeout_ns);
  return p;
}

/// Runs `step(done)` where waiting for a disk keeps nobody else; not if it is stopped before.
template <class Done, class Step>
void with_disk(std::stop_token stop, Done done, Step step) {
  const auto kept = std::make_shared<Done>(std::move(done));
  auto begun = dataflux::detail::run_file_step(
      [stop = std::move(stop), kept, step = std::move(step)]() mutable {
        if (!stop.stop_requested()) return step(std::move(*kept));
        (*kept)(error(errc::cancelled, "the caller asked to stop"));
      });
  if (!begun) (*kept)(std::move(begun).error());
}
/// An operation that gives what `work` does, which may wait for a disk.
template <class T, class Work>
dataflux::operation<T> submit_with_disk(Work work) {
  dataflux::call_limits limits;
  return dataflux::start_operation<T>(limits, [&](auto done) {
    with_disk(limits.stop, std::move(done),
              [work = std::move(work)](auto told) mutable { told(contained<T>(std::move(work))); });
  });
}

std::string text_about(const manifest& m) {
  const dataflux::manifest_description& d = m.description();
  dataflux::detail::codec::json_writer w;
  w.begin_object();
  w.key("scheme").string(d.scheme);
  w.key("bucket").string(d.bucket).key("prefix").string(d.prefix);
  w.key("start_offset").string(d.start_offset).key("end_offset").string(d.end_offset);
  w.key("match_glob").string(d.match_glob).key("versions").boolean(d.versions);
  w.key("taken").string(dataflux::to_string(d.taken));
  w.key("options").begin_array();
  for (const auto& [name, value] : d.options) {
    w.begin_array().string(name).string(value).end_array();
  }
  w.end_array();
  w.key("rows").natural(m.size()).key("bytes").natural(m.bytes());
  w.end_object();
  return std::move(w).take();
}

result<listed> rows_of(const manifest& m, std::uint64_t first, std::uint64_t count) {
  auto rows = m.rows(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  if (!rows) return std::move(rows).error();
  listed out;
  if (rows->size() == m.size()) out.description = m.description();
  out.rows = std::make_shared<const dataflux::object_columns>(*std::move(rows));
  out.json = R"({"prefixes":[]})";
  out.versions = m.description().versions;
  out.scheme = m.description().scheme;
  return out;
}

dataflux::operation<listing_difference> submit_refresh(client_state& c, const manifest& before,
                                                       dataflux::refresh_options options) {
  return dataflux::start_operation<listing_difference>(options.limits, [&](auto done) {
    const bool versions = before.description().versions;
    const std::string_view scheme = c.client->traits().scheme;
    dataflux::start_refresh_manifest(
        *c.client, before, options,
        [done = std::move(done), versions,
         scheme](result<dataflux::refreshed_listing> refreshed) mutable {
          if (!refreshed) return done(std::move(refreshed).error());
          done(contained<listing_difference>([&]() -> result<listing_difference> {
            return listing_difference{std::move(refreshed->changes),
                                      listed_of(std::move(refreshed->now), versions, scheme,
                                                std::move(refreshed->description))};
          }));
        });
  });
}

result<std::unique_ptr<dataflux_changes>> compare(const dataflux_listing& before,
                                                  const dataflux_listing& after) {
  if (before.versions != after.versions) {
    return error(errc::invalid_argument,
                 "one listing has all generations, the other the live ones alone");
  }
  auto rows = dataflux::compare_listings(*before.rows, *after.rows, before.versions);
  if (!rows) return std::move(rows).error();
  return std::make_unique<dataflux_changes>(
      dataflux_changes{listing_difference{*std::move(rows), after}});
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::begin_operation;
using dataflux_c::client_state;
using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

void dataflux_manifest_options_init(dataflux_manifest_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_refresh_options_init(dataflux_refresh_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_manifest_save(dataflux_client* client,
                                       const dataflux_manifest_options* options,
                                       const dataflux_listing* listing, dataflux_queue* queue,
                                       uint64_t tag, dataflux_operation** out,
                                       dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    const auto to = dataflux_c::place_of(options);
    if (!to) return to.error();
    if (listing == nullptr) return missing("listing");
    if (!listing->description) {
      return error(errc::invalid_argument,
                   "a manifest is made of a whole listing: one without a delimiter, of which "
                   "nothing is missing, or all rows of another manifest");
    }
    if (to->path.empty()) {
      return begin_operation<dataflux_c::object_operation>(
          client, queue, tag, out, [&](client_state& c) {
            return dataflux::submit_save_manifest(
                *c.client, {.bucket = to->bucket, .object = to->object, .limits = to->limits},
                *listing->description, *listing->rows);
          });
    }
    return begin_operation<dataflux_c::typed_operation<void>>(
        client, queue, tag, out, [&](client_state&) {
          return dataflux_c::submit_with_disk<void>(
              [path = to->path, description = *listing->description, rows = listing->rows] {
                return dataflux::save_manifest(path, description, *rows);
              });
        });
  });
}

dataflux_status dataflux_manifest_open(dataflux_client* client,
                                       const dataflux_manifest_options* options,
                                       dataflux_queue* queue, uint64_t tag,
                                       dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    const auto from = dataflux_c::place_of(options);
    if (!from) return from.error();
    return begin_operation<dataflux_c::manifest_operation>(
        client, queue, tag, out, [&](client_state& c) {
          if (from->path.empty()) {
            return dataflux::submit_load_manifest(
                *c.client,
                {.bucket = from->bucket, .object = from->object, .limits = from->limits});
          }
          return dataflux_c::submit_with_disk<dataflux::manifest>(
              [path = from->path] { return dataflux::manifest::open(path); });
        });
  });
}

dataflux_status dataflux_operation_take_manifest(dataflux_operation* op, dataflux_manifest** out,
                                                 dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::take_handle<dataflux_c::manifest_operation>(
        op, "manifest", out, [](dataflux::manifest& opened) {
          std::string json = dataflux_c::text_about(opened);
          // Memory comes first, and then the value moves. NOLINTNEXTLINE(modernize-make-unique)
          return std::unique_ptr<dataflux_manifest>(
              new dataflux_manifest{std::move(opened), std::move(json)});
        });
  });
}

uint64_t dataflux_manifest_size(const dataflux_manifest* manifest) {
  return manifest == nullptr ? 0 : manifest->what.size();
}

dataflux_status dataflux_manifest_json(const dataflux_manifest* manifest, const char** json,
                                       dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (json == nullptr) return missing("json");
    *json = nullptr;
    if (manifest == nullptr) return missing("manifest");
    *json = manifest->json.c_str();
    return {};
  });
}

dataflux_status dataflux_manifest_rows(dataflux_client* client, const dataflux_manifest* manifest,
                                       uint64_t first, uint64_t count, dataflux_queue* queue,
                                       uint64_t tag, dataflux_operation** out,
                                       dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (manifest == nullptr) return missing("manifest");
    return begin_operation<dataflux_c::listing_operation>(
        client, queue, tag, out, [&](client_state&) {
          return dataflux_c::submit_with_disk<dataflux_c::listed>(
              [m = manifest->what, first, count] { return dataflux_c::rows_of(m, first, count); });
        });
  });
}

dataflux_status dataflux_manifest_row(const dataflux_manifest* manifest, uint64_t index,
                                      dataflux_row* out, size_t row_size, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (manifest == nullptr) return missing("manifest");
    if (out == nullptr) return missing("out");
    if (row_size < sizeof *out) return error(errc::invalid_argument, "row_size is too small");
    std::memset(static_cast<void*>(out), 0, row_size);
    const auto row = manifest->what.row(static_cast<size_t>(index));
    if (!row) return row.error();
    out->name = row->name.data();
    out->name_size = row->name.size();
    out->size = row->size;
    out->generation = row->generation;
    out->crc32c = row->crc32c.value_or(0);
    out->has_crc32c = row->crc32c ? 1 : 0;
    return {};
  });
}

dataflux_status dataflux_list_shared(dataflux_client* client, const dataflux_list_options* options,
                                     const char* board_bucket, const char* board_prefix,
                                     const char* path, int64_t lease_ns, dataflux_queue* queue,
                                     uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    auto listing = dataflux_c::request_of(options);
    if (!listing) return std::move(listing).error();
    if (board_bucket == nullptr) return missing("board_bucket");
    if (board_prefix == nullptr) return missing("board_prefix");
    if (path != nullptr && *path == '\0') {
      return error(errc::invalid_argument, "the path is empty");
    }
    dataflux::shared_list_request request{.listing = *std::move(listing),
                                          .board_bucket = board_bucket,
                                          .board_prefix = board_prefix,
                                          .path = dataflux_c::text_of(path),
                                          .lease = dataflux_c::duration_of(lease_ns)};
    return begin_operation<dataflux_c::shared_operation>(
        client, queue, tag, out, [&](client_state& c) {
          return dataflux::submit_list_shared(*c.client, std::move(request));
        });
  });
}

void dataflux_manifest_free(dataflux_manifest* manifest) { delete manifest; }

dataflux_status dataflux_manifest_refresh(dataflux_client* client,
                                          const dataflux_manifest* manifest,
                                          const dataflux_refresh_options* options,
                                          dataflux_queue* queue, uint64_t tag,
                                          dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (manifest == nullptr) return missing("manifest");
    const auto o = dataflux_c::options_of(options);
    if (!o) return o.error();
    dataflux::refresh_options how;
    how.parallelism = o->parallelism;
    how.limits.timeout = dataflux_c::duration_of(o->timeout_ns);
    return begin_operation<dataflux_c::changes_operation>(
        client, queue, tag, out, [&](client_state& c) {
          how.observer = c.events.get();
          how.call = tag;
          return dataflux_c::submit_refresh(c, manifest->what, how);
        });
  });
}

dataflux_status dataflux_operation_take_changes(dataflux_operation* op, dataflux_changes** out,
                                                dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::take_handle<dataflux_c::changes_operation>(
        op, "changes", out, [](dataflux_c::listing_difference& made) {
          // NOLINTNEXTLINE(modernize-make-unique): as above
          return std::unique_ptr<dataflux_changes>(new dataflux_changes{std::move(made)});
        });
  });
}

dataflux_status dataflux_listing_compare(const dataflux_listing* before,
                                         const dataflux_listing* after, dataflux_changes** out,
                                         dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (before == nullptr || after == nullptr) return missing("listing");
    auto made = dataflux_c::compare(*before, *after);
    if (!made) return std::move(made).error();
    *out = made->release();
    return {};
  });
}

dataflux_status dataflux_changes_rows(const dataflux_changes* changes, dataflux_changed_rows* out,
                                      size_t rows_size, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (changes == nullptr) return missing("changes");
    if (out == nullptr) return missing("out");
    if (rows_size < sizeof *out) return error(errc::invalid_argument, "rows_size is too small");
    std::memset(static_cast<void*>(out), 0, rows_size);
    static_assert(std::is_same_v<std::size_t, std::uint64_t>);
    static_assert(sizeof(dataflux::listing_changes::pair) == 2 * sizeof(std::uint64_t));
    const dataflux::listing_changes& rows = changes->what.rows;
    out->added = rows.added.data();
    out->added_count = rows.added.size();
    out->removed = rows.removed.data();
    out->removed_count = rows.removed.size();
    out->changed = rows.changed.empty() ? nullptr : &rows.changed.front().before;
    out->changed_count = rows.changed.size();
    out->unchanged_count = rows.unchanged;
    return {};
  });
}

dataflux_status dataflux_changes_listing(const dataflux_changes* changes, dataflux_listing** out,
                                         dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (changes == nullptr) return missing("changes");
    *out = new dataflux_listing(changes->what.later);
    return {};
  });
}

void dataflux_changes_free(dataflux_changes* changes) { delete changes; }
