#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/json.hpp>
#include <dataflux/codec/rfc3339.hpp>
#include <dataflux/gcs/error_reply.hpp>
#include <dataflux/gcs/object_resource.hpp>

#include <limits>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {

/// Takes members of an object resource; remembers the first one that is not what it must be.
class resource_reader {
 public:
  explicit resource_reader(codec::json_value resource) noexcept : resource_(resource) {}

  void text(std::string_view key, std::string& into) {
    if (const auto value = member(key)) {
      const auto found = value.text();
      if (found) into = *found;
      check(found.has_value(), key);
    }
  }
  template <class Integer>
  void number(std::string_view key, Integer& into) {
    if (const auto value = member(key)) {
      const auto found = value.int64();
      const bool fits = found && *found >= 0 &&
                        static_cast<std::uint64_t>(*found) <=
                            static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
      if (fits) into = static_cast<Integer>(*found);
      check(fits, key);
    }
  }
  void time(std::string_view key, std::optional<timestamp>& into) {
    if (const auto value = member(key)) {
      into = codec::parse_rfc3339(value.text().value_or(std::string_view{}));
      check(into.has_value(), key);
    }
  }
  void crc32c(std::optional<std::uint32_t>& into) {
    if (const auto value = member("crc32c")) {
      into = codec::decode_crc32c(value.text().value_or(std::string_view{}));
      check(into.has_value(), "crc32c");
    }
  }
  void metadata(std::vector<std::pair<std::string, std::string>>& into) {
    const auto value = member("metadata");
    if (!value) return;
    check(value.kind() == codec::json_kind::object, "metadata");
    for (const auto& entry : value.members()) {
      const auto found = entry.value.text();
      check(found.has_value(), "metadata");
      into.emplace_back(entry.key, found.value_or(std::string_view{}));
    }
  }
  void require(std::string_view key) { check(static_cast<bool>(member(key)), key); }
  /// The key of the first member at fault; empty when there is none.
  std::string_view fault() const noexcept { return fault_; }

 private:
  /// Absent for null, too.
  codec::json_value member(std::string_view key) const noexcept {
    const auto value = resource_.find(key);
    return value.kind() == codec::json_kind::null ? codec::json_value{} : value;
  }
  void check(bool good, std::string_view key) noexcept {
    if (!good && fault_.empty()) fault_ = key;
  }

  codec::json_value resource_;
  std::string_view fault_{};
};

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
  reader.metadata(out.metadata);
  return reader.fault();
}

}  // namespace detail

DATAFLUX_INLINE result<object_metadata> parse_object_resource(const whole_reply& reply,
                                                              std::string_view bucket,
                                                              std::string_view object) {
  if (is_web_page(reply.facts, reply.body)) {
    return error{errc::internal,
                 "a web page answered instead of the service: is the endpoint right?"};
  }
  const auto document = codec::json_document::parse(reply.body);
  if (!document || document->root().kind() != codec::json_kind::object) {
    return std::move(error{errc::internal,
                           "the reply's body is not an object resource: it is cut or "
                           "garbled"}
                         .with_retryable(true));
  }
  object_metadata out;
  const std::string_view fault = detail::read_resource(document->root(), out);
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
