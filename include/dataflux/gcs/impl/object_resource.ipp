#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/object_reader.hpp>
#include <dataflux/gcs/detail/object_resource.hpp>

#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// What was read is about the object asked for, and whole.
inline result<void> check_resource(std::string_view fault, object_metadata& out,
                                   std::string_view bucket, std::string_view object) {
  if (!fault.empty()) {
    return error{errc::internal,
                 "the reply's object resource has no valid member '" + std::string{fault} + "'"};
  }
  if (out.bucket.empty()) out.bucket = bucket;
  if (out.name == object && out.bucket == bucket) return {};
  return error{errc::internal, "the reply is about another object: 'gs://" +
                                   service::printable_text(out.bucket, 250) + "/" +
                                   service::printable_text(out.name) + "'"};
}

DATAFLUX_INLINE result<codec::json_document> parse_json_reply(const service::whole_reply& reply) {
  if (auto fit = check_document(reply); !fit) return std::move(fit).error();
  auto document = codec::json_document::parse(reply.body);
  if (!document || document->root().kind() != codec::json_kind::object) {
    return cut_or_garbled();
  }
  return document;
}

DATAFLUX_INLINE result<object_metadata> parse_object_resource(codec::json_value resource,
                                                              std::string_view bucket,
                                                              std::string_view object,
                                                              metadata_fields asked) {
  object_metadata out;
  object_reader reader{out, asked};
  reader.read(resource);
  if (auto good = check_resource(reader.fault(), out, bucket, object); !good) {
    return std::move(good).error();
  }
  return out;
}

DATAFLUX_INLINE result<object_metadata> parse_object_resource(const service::whole_reply& reply,
                                                              std::string_view bucket,
                                                              std::string_view object,
                                                              metadata_fields asked) {
  // The only thing that is returned, so that it is made where the caller has it.
  result<object_metadata> out{std::in_place};
  object_reader reader{*out, asked};
  if (auto fit = check_document(reply); !fit) {
    out = std::move(fit).error();
  } else if (!reader.read(as_text(reply.body))) {
    const auto document = parse_json_reply(reply);
    out = document ? parse_object_resource(document->root(), bucket, object, asked)
                   : result<object_metadata>(document.error());
  } else if (auto good = check_resource(reader.fault(), *out, bucket, object); !good) {
    out = std::move(good).error();
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
    return std::to_string(bytes) + " bytes with CRC32C " + std::string{encode_crc32c(crc).view()};
  };
  return std::move(error{errc::data_loss, "stored " + describe(stored.size, *stored.crc32c) +
                                              ", but " + describe(size, crc32c) + " were sent"}
                       .with_generation(stored.generation));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
