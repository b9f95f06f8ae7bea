#include "listing.hpp"

#include <dataflux/list/manifest.hpp>
#include <dataflux/store/arrow_stream.hpp>

#include <chrono>
#include <utility>

namespace dataflux_c {

using dataflux::detail::codec::json_writer;

result<dataflux::fast_list_request> request_of(const dataflux_list_options* given) {
  const auto known = options_of(given);
  if (!known) return known.error();
  const dataflux_list_options& o = *known;
  if (o.bucket == nullptr) return missing("bucket");
  dataflux::fast_list_request r;
  r.bucket = o.bucket;
  r.prefix = text_of(o.prefix);
  r.start_offset = text_of(o.start_offset);
  r.end_offset = text_of(o.end_offset);
  r.delimiter = text_of(o.delimiter);
  r.match_glob = text_of(o.match_glob);
  r.versions = o.versions != 0;
  // All of them by name: a filter that is new does not compile until C has it.
  auto& [skip_markers, skip_composed, suffix, regex, min_size, max_size, classes] = r.filter;
  skip_markers = o.keep_markers == 0;
  skip_composed = o.keep_composed == 0;
  suffix = text_of(o.suffix);
  regex = text_of(o.regex);
  min_size = o.min_size;
  if (o.max_size != 0) max_size = o.max_size;
  if (o.storage_class_count > 0 && o.storage_classes == nullptr) return missing("storage_classes");
  for (std::size_t i = 0; i < o.storage_class_count; ++i) {
    if (o.storage_classes[i] == nullptr) return missing("one of storage_classes");
    classes.emplace_back(o.storage_classes[i]);
  }
  r.parallelism = o.parallelism;
  r.max_calls = o.max_calls;
  r.memory_cap = o.memory_cap;
  r.limits.timeout = duration_of(o.timeout_ns);
  if (o.partial != 0) r.on_error = dataflux::list_on_error::give_partial;
  if (o.by_name != 0) r.order = dataflux::list_order::by_name;
  return r;
}

void put_prefixes(json_writer& w, const std::vector<std::string>& prefixes) {
  w.key("prefixes").begin_array();
  for (const std::string& each : prefixes) w.string(each);
  w.end_array();
}

void put_summary(json_writer& w, const dataflux::list_summary& s) {
  w.key("objects").natural(s.objects).key("bytes").natural(s.bytes);
  w.key("pages").natural(s.pages).key("calls").natural(s.calls);
  w.key("probes").natural(s.probes).key("repeats").natural(s.repeats);
  w.key("ranges").natural(s.ranges);
  const auto& [markers, composed, suffix, size, storage_class, regex] = s.dropped;
  w.key("dropped").begin_object();
  w.key("markers").natural(markers).key("composed").natural(composed);
  w.key("suffix").natural(suffix).key("size").natural(size);
  w.key("storage_class").natural(storage_class).key("regex").natural(regex);
  w.end_object();
  w.key("missing").begin_array();
  for (const dataflux::detail::name_range& each : s.missing) {
    w.begin_object().key("start").string(each.start).key("end").string(each.end).end_object();
  }
  w.end_array();
  if (s.cause) w.key("cause").string(s.cause->to_string());
}

listed listed_of(dataflux::listing all, bool versions, std::string_view scheme,
                 std::optional<dataflux::manifest_description> description) {
  json_writer w;
  w.begin_object();
  put_summary(w, all.summary);
  put_prefixes(w, all.prefixes);
  w.end_object();
  if (!all.summary.missing.empty()) description.reset();
  return {.rows = std::make_shared<const dataflux::object_columns>(std::move(all.objects)),
          .json = std::move(w).take(),
          .versions = versions,
          .scheme = std::string(scheme),
          .description = std::move(description)};
}

namespace {

dataflux::operation<listed> submit_list(client_state& c, dataflux::fast_list_request request) {
  using std::chrono::system_clock;
  std::optional<dataflux::manifest_description> description;
  // Folded prefixes are no rows: then there is none.
  if (auto made = dataflux::describe_listing(
          request, std::chrono::time_point_cast<dataflux::timestamp::duration>(system_clock::now()),
          c.client->traits().scheme)) {
    description = *std::move(made);
  }
  return dataflux::start_operation<listed>(request.limits, [&](auto done) {
    dataflux::start_fast_list(
        *c.client, request,
        [done = std::move(done), versions = request.versions, scheme = c.client->traits().scheme,
         description = std::move(description)](result<dataflux::listing> all) mutable {
          if (!all) return done(std::move(all).error());
          done(contained<listed>([&]() -> result<listed> {
            return listed_of(*std::move(all), versions, scheme, std::move(description));
          }));
        });
  });
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

void dataflux_list_options_init(dataflux_list_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_list(dataflux_client* client, const dataflux_list_options* options,
                              dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                              dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    auto request = dataflux_c::request_of(options);
    if (!request) return std::move(request).error();
    return dataflux_c::begin_operation<dataflux_c::listing_operation>(
        client, queue, tag, out, [&](dataflux_c::client_state& c) {
          request->observer = c.events.get();
          request->call = tag;
          return dataflux_c::submit_list(c, *std::move(request));
        });
  });
}

dataflux_status dataflux_operation_take_listing(dataflux_operation* op, dataflux_listing** out,
                                                dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::take_handle<dataflux_c::listing_operation>(
        op, "listing", out, [](dataflux_c::listed& made) {
          return std::make_unique<dataflux_listing>(std::move(made));
        });
  });
}

uint64_t dataflux_listing_size(const dataflux_listing* listing) {
  return listing == nullptr ? 0 : listing->rows->size();
}
uint64_t dataflux_listing_chunks(const dataflux_listing* listing) {
  return listing == nullptr ? 0 : listing->rows->chunk_count();
}

dataflux_status dataflux_listing_json(const dataflux_listing* listing, const char** json,
                                      dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (json == nullptr) return missing("json");
    *json = nullptr;
    if (listing == nullptr) return missing("listing");
    *json = listing->json.c_str();
    return {};
  });
}

dataflux_status dataflux_listing_chunk(const dataflux_listing* listing, uint64_t index,
                                       dataflux_chunk* out, size_t chunk_size,
                                       dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (listing == nullptr) return missing("listing");
    if (out == nullptr) return missing("out");
    if (chunk_size < sizeof *out) return error(errc::invalid_argument, "chunk_size is too small");
    std::memset(static_cast<void*>(out), 0, chunk_size);
    if (index >= listing->rows->chunk_count()) {
      return error(errc::out_of_range, "chunk " + std::to_string(index) + " of " +
                                           std::to_string(listing->rows->chunk_count()));
    }
    const dataflux::object_chunk c = listing->rows->chunk(static_cast<size_t>(index));
    out->first_row = c.first_row;
    out->rows = c.rows;
    out->names = c.names.data();
    out->name_offsets = c.offsets.data();
    out->sizes = c.sizes.data();
    out->generations = c.generations.data();
    out->crc32c = c.crc32c.data();
    out->crc32c_valid = c.crc32c_validity.empty() ? nullptr : c.crc32c_validity.data();
    out->first_bit = c.first_bit;
    return {};
  });
}

dataflux_status dataflux_listing_arrow(const dataflux_listing* listing,
                                       struct ArrowArrayStream* out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (listing == nullptr) return missing("listing");
    if (out == nullptr) return missing("out");
    dataflux::export_arrow(listing->rows->slice(0, listing->rows->size()), *out);
    return {};
  });
}

/// Plain memory, also in the child of a fork.
void dataflux_listing_free(dataflux_listing* listing) { delete listing; }
