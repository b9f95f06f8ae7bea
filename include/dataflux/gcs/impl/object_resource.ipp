#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/json.hpp>
#include <dataflux/gcs/detail/resource_reader.hpp>
#include <dataflux/gcs/error_reply.hpp>
#include <dataflux/gcs/object_resource.hpp>

#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

inline std::string_view read_resource(codec::json_value resource, object_metadata& out) {
  resource_reader reader{resource};
  for (const std::string_view key : {"name", "generation", "size"}) reader.require(key);
  reader.text("bucket", out.bucket);
  reader.text("name", out.name);
  reader.number("size", out.size);
  reader.number("generation", out.generation);
  reader.number("metageneration", out.metageneration);
  reader.crc32c(out.crc32c);
  reader.text("md5Hash", out.md5_hash);
  reader.text("etag", out.etag);
  reader.text("contentType", out.content_type);
  reader.text("contentEncoding", out.content_encoding);
  reader.text("contentDisposition", out.content_disposition);
  reader.text("contentLanguage", out.content_language);
  reader.text("cacheControl", out.cache_control);
  reader.text("storageClass", out.storage_class);
  reader.text("kmsKeyName", out.kms_key_name);
  reader.time("timeCreated", out.created);
  reader.time("updated", out.updated);
  reader.time("customTime", out.custom_time);
  reader.number("componentCount", out.component_count);
  reader.metadata(out.metadata, out.upload_mark);
  return reader.fault();
}

}  // namespace detail

DATAFLUX_INLINE result<codec::json_document> parse_json_reply(const whole_reply& reply) {
  if (auto fit = check_document(reply); !fit) return std::move(fit).error();
  auto document = codec::json_document::parse(reply.body);
  if (!document || document->root().kind() != codec::json_kind::object) {
    return cut_or_garbled();
  }
  return document;
}

DATAFLUX_INLINE result<object_metadata> parse_object_resource(codec::json_value resource,
                                                              std::string_view bucket,
                                                              std::string_view object) {
  object_metadata out;
  const std::string_view fault = detail::read_resource(resource, out);
  if (!fault.empty()) {
    return error{errc::internal,
                 "the reply's object resource has no valid member '" + std::string{fault} + "'"};
  }
  if (out.bucket.empty()) out.bucket = bucket;
  if (out.name != object || out.bucket != bucket) {
    return error{errc::internal, "the reply is about another object: 'gs://" +
                                     printable_text(out.bucket, 250) + "/" +
                                     printable_text(out.name) + "'"};
  }
  return out;
}

DATAFLUX_INLINE result<object_metadata> parse_object_resource(const whole_reply& reply,
                                                              std::string_view bucket,
                                                              std::string_view object) {
  const auto document = parse_json_reply(reply);
  if (!document) return document.error();
  return parse_object_resource(document->root(), bucket, object);
}

DATAFLUX_INLINE result<void> check_stored(const object_metadata& stored, std::uint64_t size,
                                          std::uint32_t crc32c) {
  if (!stored.crc32c) {
    return std::move(error{errc::internal,
                           "the service gave no CRC32C for what it stored, so that "
                           "it cannot be checked"}
                         .with_generation(stored.generation));
  }
  if (stored.size == size && *stored.crc32c == crc32c) return {};
  const auto describe = [](std::uint64_t bytes, std::uint32_t crc) {
    return std::to_string(bytes) + " bytes with CRC32C " +
           std::string{codec::encode_crc32c(crc).view()};
  };
  return std::move(error{errc::data_loss, "stored " + describe(stored.size, *stored.crc32c) +
                                              ", but " + describe(size, crc32c) + " were sent"}
                       .with_generation(stored.generation));
}

}  // namespace dataflux::inline DATAFLUX_ABI::gcs
