#include "object.hpp"

#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/requests.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace dataflux_c {

namespace {

/// What the options of a source say. Its conditions and its generation are in a stat's form.
template <bool Copies>
result<dataflux::stat_request> source_of(const dataflux_object_options* given) {
  auto source = request_of<dataflux::stat_request, Copies>(given);
  if (!source) return source;
  if (source->limits.timeout != dataflux::duration(0)) {
    return error(errc::invalid_argument, "timeout_ns of the source: the target's is of the call");
  }
  if (source->fields != dataflux::metadata_fields::all) {
    return error(errc::invalid_argument, "`fields` are for dataflux_stat()");
  }
  return source;
}

result<dataflux::rewrite_request> copy_of(const dataflux_object_options* source,
                                          const dataflux_object_options* target,
                                          const dataflux_attributes* attributes) {
  auto from = source_of<true>(source);
  if (!from) return std::move(from).error();
  auto r = request_of<dataflux::rewrite_request, true>(target);
  if (!r) return r;
  auto of_source = copy_key_of(source);
  if (!of_source) return std::move(of_source).error();
  auto of_copy = copy_key_of(target);
  if (!of_copy) return std::move(of_copy).error();
  r->source_key = *std::move(of_source);
  r->key = *std::move(of_copy);
  auto made = attributes_of(attributes);
  if (!made) return std::move(made).error();
  r->source_bucket = std::move(from->bucket);
  r->source = std::move(from->object);
  r->source_generation = from->generation;
  r->source_conditions = from->conditions;
  r->attributes = *std::move(made);
  return r;
}

result<dataflux::move_request> move_of(const dataflux_object_options* source,
                                       const dataflux_object_options* target) {
  auto from = source_of<false>(source);
  if (!from) return std::move(from).error();
  auto r = request_of<dataflux::move_request>(target);
  if (!r) return r;
  if (from->bucket != r->bucket) {
    return error(errc::invalid_argument, "a move stays in its bucket: copy, and remove the source");
  }
  if (from->generation != 0) {
    return error(errc::invalid_argument,
                 "the live generation is moved: say by a condition which it must be");
  }
  r->source = std::move(from->object);
  r->source_conditions = from->conditions;
  return r;
}

result<dataflux::compose_request> composed_of(const dataflux_object_options* target,
                                              const char* const* names,
                                              const std::int64_t* generations, std::size_t count,
                                              const dataflux_attributes* attributes) {
  auto r = request_of<dataflux::compose_request>(target);
  if (!r) return r;
  auto made = attributes_of(attributes);
  if (!made) return std::move(made).error();
  r->attributes = *std::move(made);
  if (names == nullptr && count > 0) return missing("names");
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == nullptr) return missing("one of the names");
    r->sources.push_back({names[i], generations == nullptr ? 0 : generations[i]});
  }
  return r;
}

result<dataflux::patch_request> patch_of(const dataflux_object_options* options,
                                         const dataflux_attributes* attributes) {
  auto r = request_of<dataflux::patch_request>(options);
  if (!r) return r;
  const auto a = options_of(attributes);
  if (!a) return a.error();
  if (a->storage_class != nullptr || a->kms_key_name != nullptr) {
    return error(errc::invalid_argument,
                 "dataflux_copy() changes the storage class and the key, a patch does not");
  }
  const auto change = [](std::optional<std::string>& into, const char* text) {
    if (text != nullptr) into = text;
  };
  change(r->content_type, a->content_type);
  change(r->content_encoding, a->content_encoding);
  change(r->content_disposition, a->content_disposition);
  change(r->content_language, a->content_language);
  change(r->cache_control, a->cache_control);
  r->custom_time = time_of(a->custom_time_ns);
  const bool has_names = a->metadata_names != nullptr && a->metadata_values != nullptr;
  if (a->metadata_count > 0 && !has_names) return missing("metadata_names or metadata_values");
  for (std::size_t i = 0; i < a->metadata_count; ++i) {
    if (a->metadata_names[i] == nullptr) return missing("one of metadata_names");
    std::optional<std::string> value;
    change(value, a->metadata_values[i]);
    r->metadata.emplace_back(a->metadata_names[i], std::move(value));
  }
  return r;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::begin_call;
using dataflux_c::guarded;
using dataflux_c::object_operation;
using dataflux_c::result;

dataflux_status dataflux_copy(dataflux_client* client, const dataflux_object_options* source,
                              const dataflux_object_options* target,
                              const dataflux_attributes* attributes, dataflux_queue* queue,
                              uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    return begin_call<object_operation>(client, dataflux_c::copy_of(source, target, attributes),
                                        queue, tag, out);
  });
}

dataflux_status dataflux_move(dataflux_client* client, const dataflux_object_options* source,
                              const dataflux_object_options* target, dataflux_queue* queue,
                              uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    return begin_call<object_operation>(client, dataflux_c::move_of(source, target), queue, tag,
                                        out);
  });
}

dataflux_status dataflux_compose(dataflux_client* client, const dataflux_object_options* target,
                                 const char* const* names, const int64_t* generations, size_t count,
                                 const dataflux_attributes* attributes, dataflux_queue* queue,
                                 uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    return begin_call<object_operation>(
        client, dataflux_c::composed_of(target, names, generations, count, attributes), queue, tag,
        out);
  });
}

dataflux_status dataflux_patch(dataflux_client* client, const dataflux_object_options* options,
                               const dataflux_attributes* attributes, dataflux_queue* queue,
                               uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    return begin_call<object_operation>(client, dataflux_c::patch_of(options, attributes), queue,
                                        tag, out);
  });
}
