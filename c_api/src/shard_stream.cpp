#include <dataflux/shard/shard_stream.hpp>

#include "boundary.hpp"
#include "shard_rules.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

/// Plain memory: also in the child of a fork.
struct dataflux_shard_stream {
  explicit dataflux_shard_stream(const dataflux::shard_stream_options& options) : what(options) {}
  dataflux::shard_stream what;
  bool finished{false};
  std::vector<dataflux_sample_field> fields{};  ///< of the last sample
  std::string json{};
};

namespace dataflux_c {

namespace {

result<dataflux::shard_stream_options> streaming_of(const dataflux_shard_stream_options* options) {
  if (options == nullptr) return dataflux::shard_stream_options{};
  const auto o = options_of(options);
  if (!o) return o.error();
  return dataflux::shard_stream_options{reading_rules_of(*o), grouping_rules_of(*o), o->most_bytes};
}

void put_sample(dataflux_shard_stream& stream, const dataflux::streamed_sample& sample,
                dataflux_streamed_sample& out) {
  for (const dataflux::streamed_field& field : sample.fields) {
    stream.fields.push_back({field.name.data(), field.name.size(), field.offset, field.size});
  }
  out.key = sample.key.c_str();
  out.key_size = sample.key.size();
  out.data = sample.bytes.data();
  out.data_size = sample.bytes.size();
  out.fields = stream.fields.data();
  out.field_count = stream.fields.size();
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

void dataflux_shard_stream_options_init(dataflux_shard_stream_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_shard_stream_new(const dataflux_shard_stream_options* options,
                                          dataflux_shard_stream** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    const auto o = dataflux_c::streaming_of(options);
    if (!o) return o.error();
    *out = new dataflux_shard_stream(*o);
    return {};
  });
}

void dataflux_shard_stream_free(dataflux_shard_stream* stream) { delete stream; }

dataflux_status dataflux_shard_stream_feed(dataflux_shard_stream* stream, const void* data,
                                           size_t size, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (stream == nullptr) return missing("stream");
    if (data == nullptr && size > 0) return missing("data");
    if (stream->finished) return error(errc::failed_precondition, "the shard has ended");
    stream->what.feed({static_cast<const std::byte*>(data), size});
    return {};
  });
}

dataflux_status dataflux_shard_stream_finish(dataflux_shard_stream* stream, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (stream == nullptr) return missing("stream");
    stream->finished = true;
    stream->what.finish();
    return {};
  });
}

dataflux_status dataflux_shard_stream_next(dataflux_shard_stream* stream,
                                           dataflux_streamed_sample* out, size_t sample_size,
                                           dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (stream == nullptr) return missing("stream");
    if (out == nullptr) return missing("out");
    if (sample_size < sizeof *out) return error(errc::invalid_argument, "sample_size is too small");
    std::memset(static_cast<void*>(out), 0, sample_size);
    stream->fields.clear();
    const auto sample = stream->what.next();
    if (!sample) return sample.error();
    if (*sample != nullptr) dataflux_c::put_sample(*stream, **sample, *out);
    return {};
  });
}

dataflux_status dataflux_shard_stream_counts(dataflux_shard_stream* stream, const char** json,
                                             dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (json == nullptr) return missing("json");
    *json = nullptr;
    if (stream == nullptr) return missing("stream");
    dataflux::detail::codec::json_writer w;
    dataflux_c::write_counts(w, stream->what.counts(), stream->what.groups());
    stream->json = std::move(w).take();
    *json = stream->json.c_str();
    return {};
  });
}
