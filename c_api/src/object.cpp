#include "object.hpp"

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/get_one.hpp>

#include <optional>
#include <string>
#include <utility>

namespace dataflux_c {

void write_object(dataflux::detail::codec::json_writer& w, const dataflux::object_metadata& o) {
  const auto text = [&w](const char* name, const std::string& value) {
    if (!value.empty()) w.key(name).string(value);
  };
  const auto time = [&w](const char* name, const std::optional<dataflux::timestamp>& value) {
    if (value) w.key(name).string(dataflux::to_string(*value));
  };
  w.begin_object();
  text("bucket", o.bucket);
  text("name", o.name);
  w.key("size").decimal_string(static_cast<std::int64_t>(o.size));
  w.key("generation").decimal_string(o.generation);
  if (o.metageneration != 0) w.key("metageneration").decimal_string(o.metageneration);
  if (o.crc32c) w.key("crc32c").string(dataflux::encode_crc32c(*o.crc32c).view());
  text("md5Hash", o.md5_hash);
  text("etag", o.etag);
  text("contentType", o.content_type);
  text("contentEncoding", o.content_encoding);
  text("contentDisposition", o.content_disposition);
  text("contentLanguage", o.content_language);
  text("cacheControl", o.cache_control);
  text("storageClass", o.storage_class);
  text("kmsKeyName", o.kms_key_name);
  time("timeCreated", o.created);
  time("updated", o.updated);
  time("customTime", o.custom_time);
  if (o.component_count != 0) w.key("componentCount").integer(o.component_count);
  if (!o.metadata.empty()) {
    w.key("metadata").begin_object();
    for (const auto& [key, value] : o.metadata) w.key(key).string(value);
    w.end_object();
  }
  w.end_object();
}

std::string json_of(const dataflux::object_metadata& o) {
  dataflux::detail::codec::json_writer w;
  write_object(w, o);
  return std::move(w).take();
}

void object_operation::describe(dataflux_record& r) const {
  if (!value_) return;
  r.size = value_->size;
  r.generation = value_->generation;
  r.crc32c = value_->crc32c.value_or(0);
}

result<dataflux::preconditions> conditions_of(const dataflux_conditions* given) {
  const auto known = options_of(given);
  if (!known) return known.error();
  constexpr std::uint32_t all = DATAFLUX_IF_GENERATION_MATCH | DATAFLUX_IF_GENERATION_NOT_MATCH |
                                DATAFLUX_IF_METAGENERATION_MATCH |
                                DATAFLUX_IF_METAGENERATION_NOT_MATCH;
  if ((known->has & ~all) != 0) {
    return error(errc::invalid_argument, "`has` names a condition that is not known");
  }
  dataflux::preconditions c;
  const auto condition = [&](std::uint32_t bit, std::int64_t value,
                             std::optional<std::int64_t>& into) {
    if ((known->has & bit) != 0) into = value;
  };
  condition(DATAFLUX_IF_GENERATION_MATCH, known->generation_match, c.if_generation_match);
  condition(DATAFLUX_IF_GENERATION_NOT_MATCH, known->generation_not_match,
            c.if_generation_not_match);
  condition(DATAFLUX_IF_METAGENERATION_MATCH, known->metageneration_match,
            c.if_metageneration_match);
  condition(DATAFLUX_IF_METAGENERATION_NOT_MATCH, known->metageneration_not_match,
            c.if_metageneration_not_match);
  return c;
}

result<dataflux::object_attributes> attributes_of(const dataflux_attributes* given) {
  const auto known = options_of(given);
  if (!known) return known.error();
  dataflux::object_attributes a;
  a.content_type = text_of(known->content_type);
  a.content_encoding = text_of(known->content_encoding);
  a.content_disposition = text_of(known->content_disposition);
  a.content_language = text_of(known->content_language);
  a.cache_control = text_of(known->cache_control);
  a.storage_class = text_of(known->storage_class);
  a.kms_key_name = text_of(known->kms_key_name);
  a.custom_time = time_of(known->custom_time_ns);
  const bool has_names = known->metadata_names != nullptr && known->metadata_values != nullptr;
  if (known->metadata_count > 0 && !has_names) return missing("metadata_names or metadata_values");
  for (std::size_t i = 0; i < known->metadata_count; ++i) {
    if (known->metadata_names[i] == nullptr || known->metadata_values[i] == nullptr) {
      return missing("one of the metadata");
    }
    a.metadata.emplace_back(known->metadata_names[i], known->metadata_values[i]);
  }
  return a;
}

result<std::optional<dataflux::encryption_key>> copy_key_of(const dataflux_object_options* given) {
  using dataflux::encryption_key;
  const auto o = options_of(given);
  if (!o) return o.error();
  if (o->no_encryption_key != 0 && o->encryption_key != nullptr) {
    return error(errc::invalid_argument, "encryption_key: not together with no_encryption_key");
  }
  if (o->no_encryption_key != 0) return std::optional(encryption_key());
  if (o->encryption_key == nullptr) return std::optional<encryption_key>();
  auto made = encryption_key::from_bytes(bytes_at(o->encryption_key));
  if (!made) return std::move(made).error();
  return std::optional(*std::move(made));
}

result<void> put_target(const dataflux_attributes* attributes,
                        const dataflux_conditions* conditions, dataflux::upload_request& into) {
  auto made = attributes_of(attributes);
  if (!made) return std::move(made).error();
  into.attributes = *std::move(made);
  auto known = conditions_of(conditions);
  if (!known) return std::move(known).error();
  into.if_generation_match = std::exchange(known->if_generation_match, std::nullopt);
  if (!known->any()) return {};
  return error(errc::unimplemented,
               "an upload takes no condition but DATAFLUX_IF_GENERATION_MATCH");
}

namespace {

class read_operation final : public typed_operation<dataflux::ranged_read_summary> {
 public:
  using typed_operation::typed_operation;

 protected:
  void describe(dataflux_record& r) const override {
    if (!value_) return;
    r.size = value_->bytes;
    r.generation = value_->generation;
    r.crc32c = value_->crc32c;
    if (value_->verified) r.flags |= DATAFLUX_RECORD_VERIFIED;
  }
};

/// Its memory goes with its record; where that is never taken it ends with the operation.
class get_operation final : public typed_operation<dataflux::got_item> {
 public:
  using typed_operation::typed_operation;

 protected:
  void describe(dataflux_record& r) const override {
    r.data = value_->bytes.data();
    r.size = value_->bytes.size();
    r.generation = value_->generation;
    r.crc32c = value_->crc32c;
    if (value_->verified) r.flags |= DATAFLUX_RECORD_VERIFIED;
  }
  void give_away(dataflux_record& r) noexcept override {
    r.slab = std::move(value_->memory).lend();
  }
};

}  // namespace

}  // namespace dataflux_c

using dataflux_c::client_state;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::request_of;
using dataflux_c::result;

void dataflux_conditions_init(dataflux_conditions* conditions, size_t size) {
  dataflux_c::init_options(conditions, size);
}
void dataflux_object_options_init(dataflux_object_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_attributes_init(dataflux_attributes* attributes, size_t size) {
  dataflux_c::init_options(attributes, size);
}

dataflux_status dataflux_get_one(dataflux_client* client, const dataflux_object_options* options,
                                 uint64_t offset, void* memory, size_t size, dataflux_queue* queue,
                                 uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (memory == nullptr && size > 0) return missing("memory");
    auto r = request_of<dataflux::get_one_request>(options);
    if (!r) return std::move(r).error();
    // An object of no bytes has no range that could be asked for.
    const bool whole = dataflux_c::options_of(options)->whole != 0;
    if (whole && offset != 0)
      return dataflux_c::error(dataflux_c::errc::invalid_argument, "`whole` goes with offset 0");
    const bool open = whole || size == 0;
    r->range = open ? dataflux::byte_range::from(offset) : dataflux::byte_range::span(offset, size);
    const dataflux::bytes_span into(static_cast<std::byte*>(memory), size);
    return dataflux_c::begin_operation<dataflux_c::read_operation>(
        client, queue, tag, out,
        [&](client_state& c) { return dataflux::submit_get_one(c.context, *std::move(r), into); });
  });
}

dataflux_status dataflux_get(dataflux_client* client, const dataflux_object_options* options,
                             uint64_t offset, uint64_t length, dataflux_queue* queue, uint64_t tag,
                             dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (queue == nullptr) return missing("queue");
    auto r = request_of<dataflux::get_one_request>(options);
    if (!r) return std::move(r).error();
    r->range = dataflux::byte_range::span(offset, length);
    return dataflux_c::begin_operation<dataflux_c::get_operation>(
        client, queue, tag, out,
        [&](client_state& c) { return dataflux::submit_get_one(c.context, *std::move(r)); });
  });
}

dataflux_status dataflux_stat(dataflux_client* client, const dataflux_object_options* options,
                              dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                              dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    return dataflux_c::begin_call<dataflux_c::object_operation>(
        client, request_of<dataflux::stat_request>(options), queue, tag, out);
  });
}

dataflux_status dataflux_put(dataflux_client* client, const dataflux_object_options* options,
                             const void* data, size_t size, const dataflux_attributes* attributes,
                             dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                             dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (data == nullptr && size > 0) return missing("data");
    auto r = request_of<dataflux::insert_request>(options);
    if (!r) return r.error();
    auto made = dataflux_c::attributes_of(attributes);
    if (!made) return std::move(made).error();
    r->attributes = *std::move(made);
    r->data = dataflux::bytes_view(static_cast<const std::byte*>(data), size);
    return dataflux_c::begin_call<dataflux_c::object_operation>(client, std::move(r), queue, tag,
                                                                out);
  });
}

dataflux_status dataflux_remove(dataflux_client* client, const dataflux_object_options* options,
                                dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    return dataflux_c::begin_call<dataflux_c::typed_operation<void>>(
        client, request_of<dataflux::remove_request>(options), queue, tag, out);
  });
}
