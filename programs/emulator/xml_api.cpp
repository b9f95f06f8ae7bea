#include <emulator/customer_key.hpp>
#include <emulator/digest.hpp>
#include <emulator/media.hpp>
#include <emulator/object_rules.hpp>
#include <emulator/upload_body.hpp>
#include <emulator/xml_api.hpp>
#include <emulator/xml_writer.hpp>

#include <algorithm>

namespace emulator {

namespace {

/// Of the XML API GOVERNANCE is Unlocked, and COMPLIANCE is Locked.
std::optional<object_retention> retention_of_headers(const http_request& request) {
  const std::string_view mode = request.header("x-goog-object-lock-mode");
  const std::string_view until = request.header("x-goog-object-lock-retain-until-date");
  if (mode.empty() && until.empty()) return std::nullopt;
  const auto time = parse_time(until);
  if ((mode != "GOVERNANCE" && mode != "COMPLIANCE") || !time) {
    throw invalid_argument("Invalid x-goog-object-lock-mode or -retain-until-date");
  }
  return object_retention{.locked = mode == "COMPLIANCE", .until = *time};
}

}  // namespace

object_metadata metadata_of_headers(const http_request& request) {
  object_metadata out;
  out.content_type = request.header("Content-Type");
  out.content_encoding = request.header("Content-Encoding");
  out.cache_control = request.header("Cache-Control");
  out.content_disposition = request.header("Content-Disposition");
  out.content_language = request.header("Content-Language");
  out.custom_time = request.header("x-goog-custom-time");
  if (const auto storage_class = request.header("x-goog-storage-class"); !storage_class.empty()) {
    out.storage_class = storage_class;
  }
  out.kms_key = request.header("x-goog-encryption-kms-key-name");
  if (const auto access = request.header("x-goog-acl"); !access.empty()) {
    out.access = predefined_access(access_of::object, access);
  }
  out.retention = retention_of_headers(request);
  static constexpr std::string_view meta = "x-goog-meta-";
  for (const header_view& h : request.headers) {
    if (h.name.size() > meta.size() && same_name(h.name.substr(0, meta.size()), meta)) {
      out.custom.emplace(h.name.substr(meta.size()), h.value);
    }
  }
  return out;
}

http_reply xml_api::get(const call& asked, const http_request& request, bool head_only) const {
  const auto when = preconditions::of_xml(asked.query, request);
  const object_ptr object = store_.get(asked.bucket, asked.object, when);
  require_key(*object, customer_key_of(request));
  http_reply reply = media_reply(*object, request, true);
  reply.head_only = head_only;
  return reply;
}

http_reply xml_api::put(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  declared_digests::of_headers(request).check(request.body);
  const auto when = preconditions::of_xml(asked.query, request);
  const object_ptr stored = store_.put(asked.bucket,
                                       {.name = asked.object,
                                        .metadata = metadata_of_headers(request),
                                        .data = request.body,
                                        .customer_key = customer_key_of(request)},
                                       when);
  http_reply reply;
  reply.set("Content-Type", "text/html; charset=UTF-8");
  set_object_headers(reply, *stored, true);
  return reply;
}

http_reply xml_api::remove(const call& asked, const http_request& request) const {
  store_.remove(asked.bucket, asked.object, preconditions::of_xml(asked.query, request));
  http_reply reply;
  reply.status = 204;
  return reply;
}

http_reply xml_api::copy(const call& asked, const http_request& request) const {
  preconditions source;
  if (const auto text = request.header("x-goog-copy-source-generation"); !text.empty()) {
    source.generation = parse_integer(text);
    if (!source.generation) throw invalid_argument("Invalid x-goog-copy-source-generation");
  }
  const object_ptr from = store_.get(asked.bucket, asked.object, source);
  require_key(*from, customer_key_of(request, key_role::copy_source));
  const bool replace = same_name(request.header("x-goog-metadata-directive"), "REPLACE");
  const object_ptr stored =
      store_.put(asked.to_bucket,
                 {.name = asked.to_object,
                  .metadata = replace ? metadata_of_headers(request) : from->metadata.copied(),
                  .data = from->data,
                  .has_md5 = from->has_md5,
                  .component_count = from->component_count,
                  .customer_key = customer_key_of(request)},
                 preconditions::of_xml(asked.query, request));
  xml_writer out{"CopyObjectResult"};
  out.leaf("LastModified", rfc3339(stored->updated));
  out.leaf("ETag", "\"" + stored->etag() + "\"");
  http_reply reply = out.reply();
  set_object_headers(reply, *stored, true);
  return reply;
}

http_reply xml_api::initiate(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  check_object_name(asked.object);
  // No step of a multipart upload takes preconditions; a client that sends one believes otherwise.
  for (const header_view& h : request.headers) {
    if (h.name.size() > 10 && same_name(h.name.substr(0, 10), "x-goog-if-")) {
      throw invalid_argument("Preconditions are not supported for multipart uploads");
    }
  }
  xml_writer out{"InitiateMultipartUploadResult"};
  out.leaf("Bucket", asked.bucket);
  out.leaf("Key", asked.object);
  out.leaf("UploadId", uploads_.initiate(asked.bucket, asked.object, metadata_of_headers(request),
                                         customer_key_of(request)));
  // Google's client for Node takes an upload id from replies of text/* only.
  return out.reply("text/xml; charset=UTF-8");
}

http_reply xml_api::part(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  if (asked.part < 1 || asked.part > 10000) {
    throw invalid_argument("Part number must be an integer between 1 and 10000, inclusive");
  }
  const std::string_view id = asked.query.get("uploadId");
  if (id.empty()) throw invalid_argument("uploadId is missing");
  const auto declared = declared_digests::of_headers(request);
  declared.check(request.body);
  require_key(uploads_.get(asked.bucket, asked.object, id).customer_key, customer_key_of(request));
  http_reply reply;
  reply.set("ETag", uploads_.add_part(asked.bucket, asked.object, id, asked.part, request.body));
  reply.set("x-goog-hash", "crc32c=" + crc32c_text(crc32c(request.body).value()));
  // The service always says both. MD5 costs fifty times as much, and a sender whose CRC32C was just
  // checked does not look for it.
  if (declared.md5 || !declared.crc32c) {
    reply.set("x-goog-hash", "md5=" + base64_encode(md5(request.body).value()));
  }
  reply.set("Content-Type", "text/html; charset=UTF-8");
  return reply;
}

http_reply xml_api::complete(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  // Digests of this request are of its document, not of the object (protocol.md 2).
  declared_digests::of_headers(request).check(request.body);
  const auto listed = parse_complete(request.body.to_string());
  store_.require_replaceable(asked.bucket, asked.object);  // else the upload stays open
  auto upload = uploads_.complete(asked.bucket, asked.object, asked.query.get("uploadId"), listed,
                                  least_part_size_);
  content whole;
  for (const auto& [number, part] : upload.parts) whole.append(part.data);
  const object_ptr stored = store_.put(asked.bucket,
                                       {.name = asked.object,
                                        .metadata = std::move(upload.metadata),
                                        .data = std::move(whole),
                                        .has_md5 = false,
                                        .customer_key = std::move(upload.customer_key)},
                                       {});
  xml_writer out{"CompleteMultipartUploadResult"};
  out.leaf("Location", request.base() + "/" + asked.bucket + "/" + percent_encode(asked.object));
  out.leaf("Bucket", asked.bucket);
  out.leaf("Key", asked.object);
  out.leaf("ETag", "\"" + stored->etag() + "\"");
  http_reply reply = out.reply();
  reply.set("x-goog-hash", "crc32c=" + crc32c_text(stored->crc32c()));
  reply.set("x-goog-generation", std::to_string(stored->generation));
  return reply;
}

http_reply xml_api::abort(const call& asked) const {
  store_.require_bucket(asked.bucket);
  uploads_.abort(asked.bucket, asked.object, asked.query.get("uploadId"));
  http_reply reply;
  reply.status = 204;
  return reply;
}

}  // namespace emulator
