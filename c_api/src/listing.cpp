#include "listing.hpp"

#include "operation.hpp"

#include <dataflux/list/fast_list.hpp>
#include <dataflux/store/arrow_stream.hpp>

namespace dataflux_c {

namespace {

class list_operation final : public typed_operation<dataflux::listing> {
 public:
  using typed_operation::typed_operation;

 protected:
  void describe(dataflux_record& r) const override {
    if (value_) r.size = value_->objects.size();
  }
};

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
  r.filter.skip_markers = o.keep_markers == 0;
  r.filter.skip_composed = o.keep_composed == 0;
  r.filter.suffix = text_of(o.suffix);
  r.filter.regex = text_of(o.regex);
  r.filter.min_size = o.min_size;
  if (o.max_size != 0) r.filter.max_size = o.max_size;
  r.parallelism = o.parallelism;
  r.max_calls = o.max_calls;
  r.memory_cap = o.memory_cap;
  r.limits.timeout = duration_of(o.timeout_ns);
  return r;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

void dataflux_list_options_init(dataflux_list_options* options) {
  dataflux_c::init_options(options);
}

dataflux_status dataflux_list(dataflux_client* client, const dataflux_list_options* options,
                              dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                              dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    auto request = dataflux_c::request_of(options);
    if (!request) return std::move(request).error();
    return dataflux_c::begin_operation<dataflux_c::list_operation>(
        client, queue, tag, out, [&](dataflux_c::client_state& c) {
          request->observer = c.events.get();
          return dataflux::submit_fast_list(*c.client, *std::move(request));
        });
  });
}

dataflux_status dataflux_operation_take_listing(dataflux_operation* op, dataflux_listing** out,
                                                dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::take_handle<dataflux_c::list_operation>(
        op, "listing", out, [](dataflux::listing& all) {
          auto made = std::make_unique<dataflux_listing>();
          made->rows = std::make_shared<const dataflux::object_columns>(std::move(all.objects));
          return made;
        });
  });
}

uint64_t dataflux_listing_size(const dataflux_listing* listing) {
  return listing == nullptr ? 0 : listing->rows->size();
}
uint64_t dataflux_listing_chunks(const dataflux_listing* listing) {
  return listing == nullptr ? 0 : listing->rows->chunk_count();
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
