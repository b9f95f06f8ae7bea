#include <emulator/digest.hpp>
#include <emulator/media.hpp>
#include <emulator/upload_body.hpp>
#include <emulator/xml_api.hpp>

#include <algorithm>

namespace emulator {
namespace {

constexpr std::string_view document_namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

/// Builds one flat-ish document; names are ours, texts are escaped.
class xml_writer {
 public:
  explicit xml_writer(std::string_view root) : root_(root) {
    out_ = "<?xml version='1.0' encoding='UTF-8'?><" + root_ + " xmlns='";
    out_.append(document_namespace).append("'>");
  }
  void open(std::string_view name) { out_.append("<").append(name).append(">"); }
  void close(std::string_view name) { out_.append("</").append(name).append(">"); }
  void leaf(std::string_view name, std::string_view text) {
    open(name);
    out_ += xml_escape(text);
    close(name);
  }
  void leaf(std::string_view name, std::int64_t value) { leaf(name, std::to_string(value)); }
  http_reply reply() {
    close(root_);
    http_reply out;
    out.set("Content-Type", "application/xml; charset=UTF-8");
    out.body = content{std::move(out_)};
    return out;
  }

 private:
  std::string root_;
  std::string out_{};
};

object_metadata metadata_of(const http_request& request) {
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
  static constexpr std::string_view meta = "x-goog-meta-";
  for (const header_view& h : request.headers) {
    if (h.name.size() > meta.size() && same_name(h.name.substr(0, meta.size()), meta)) {
      out.custom.emplace(h.name.substr(meta.size()), h.value);
    }
  }
  return out;
}

/// max-parts and max-uploads: 1..1000, 1000 when absent.
std::size_t page_size(const call& asked, std::string_view name) {
  const std::string_view text = asked.query.get(name);
  if (text.empty()) return 1000;
  const auto value = parse_integer(text);
  if (!value || *value < 1) throw invalid_argument("Invalid " + std::string{name});
  return static_cast<std::size_t>(std::min<std::int64_t>(*value, 1000));
}

}  // namespace

http_reply xml_api::get(const call& asked, const http_request& request, bool head_only) const {
  const auto when = preconditions::of_xml(asked.query, request);
  http_reply reply = media_reply(*store_.get(asked.bucket, asked.object, when), request, true);
  reply.head_only = head_only;
  return reply;
}

http_reply xml_api::put(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  declared_digests::of_headers(request).check(request.body);
  const auto when = preconditions::of_xml(asked.query, request);
  const object_ptr stored = store_.put(
      asked.bucket, {.name = asked.object, .metadata = metadata_of(request), .data = request.body},
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
  out.leaf("UploadId", uploads_.initiate(asked.bucket, asked.object, metadata_of(request)));
  return out.reply();
}

http_reply xml_api::part(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  if (asked.part < 1 || asked.part > 10000) {
    throw invalid_argument("Part number must be an integer between 1 and 10000, inclusive");
  }
  const std::string_view id = asked.query.get("uploadId");
  if (id.empty()) throw invalid_argument("uploadId is missing");
  declared_digests::of_headers(request).check(request.body);
  http_reply reply;
  reply.set("ETag", uploads_.add_part(asked.bucket, asked.object, id, asked.part, request.body));
  reply.set("x-goog-hash", "crc32c=" + crc32c_text(crc32c(request.body).value()));
  reply.set("Content-Type", "text/html; charset=UTF-8");
  return reply;
}

http_reply xml_api::complete(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  // Digests of this request are of its document, not of the object (protocol.md 2).
  declared_digests::of_headers(request).check(request.body);
  const auto listed = parse_complete(request.body.to_string());
  auto upload = uploads_.complete(asked.bucket, asked.object, asked.query.get("uploadId"), listed,
                                  least_part_size_);
  content whole;
  for (const auto& [number, part] : upload.parts) whole.append(part.data);
  const object_ptr stored = store_.put(asked.bucket,
                                       {.name = asked.object,
                                        .metadata = std::move(upload.metadata),
                                        .data = std::move(whole),
                                        .has_md5 = false},
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

http_reply xml_api::list_parts(const call& asked) const {
  store_.require_bucket(asked.bucket);
  const auto upload = uploads_.get(asked.bucket, asked.object, asked.query.get("uploadId"));
  const std::size_t most = page_size(asked, "max-parts");
  const auto marker = parse_integer(asked.query.get("part-number-marker")).value_or(0);
  auto at = upload.parts.upper_bound(static_cast<int>(std::clamp<std::int64_t>(marker, 0, 10000)));
  xml_writer out{"ListPartsResult"};
  out.leaf("Bucket", asked.bucket);
  out.leaf("Key", asked.object);
  out.leaf("UploadId", upload.id);
  out.leaf("StorageClass", upload.metadata.storage_class);
  out.leaf("PartNumberMarker", marker);
  out.leaf("MaxParts", static_cast<std::int64_t>(most));
  std::int64_t last = 0;
  for (std::size_t n = 0; n < most && at != upload.parts.end(); ++n, ++at) {
    last = at->first;
    out.open("Part");
    out.leaf("PartNumber", last);
    out.leaf("LastModified", rfc3339(at->second.received));
    out.leaf("ETag", at->second.etag);
    out.leaf("Size", static_cast<std::int64_t>(at->second.data.size()));
    out.close("Part");
  }
  const bool truncated = at != upload.parts.end();
  if (truncated) out.leaf("NextPartNumberMarker", last);
  out.leaf("IsTruncated", truncated ? "true" : "false");
  return out.reply();
}

http_reply xml_api::list_uploads(const call& asked) const {
  store_.require_bucket(asked.bucket);
  if (asked.query.has("delimiter")) throw not_modelled("delimiter in a listing of uploads");
  const std::size_t most = page_size(asked, "max-uploads");
  const std::string_view prefix = asked.query.get("prefix");
  const std::pair<std::string_view, std::string_view> marker{asked.query.get("key-marker"),
                                                             asked.query.get("upload-id-marker")};
  auto uploads = uploads_.list(asked.bucket);
  std::erase_if(uploads, [&](const upload_store::upload& u) {
    // Without an id in the marker, all uploads of the marker's key have been seen.
    const bool seen = marker.second.empty()
                          ? std::string_view{u.key} <= marker.first
                          : std::pair<std::string_view, std::string_view>{u.key, u.id} <= marker;
    return seen || !u.key.starts_with(prefix);
  });
  const bool truncated = uploads.size() > most;
  if (truncated) uploads.resize(most);
  xml_writer out{"ListMultipartUploadsResult"};
  out.leaf("Bucket", asked.bucket);
  out.leaf("KeyMarker", marker.first);
  out.leaf("UploadIdMarker", marker.second);
  if (truncated) {
    out.leaf("NextKeyMarker", uploads.back().key);
    out.leaf("NextUploadIdMarker", uploads.back().id);
  }
  out.leaf("MaxUploads", static_cast<std::int64_t>(most));
  if (!prefix.empty()) out.leaf("Prefix", prefix);
  out.leaf("IsTruncated", truncated ? "true" : "false");
  for (const auto& upload : uploads) {
    out.open("Upload");
    out.leaf("Key", upload.key);
    out.leaf("UploadId", upload.id);
    out.leaf("StorageClass", upload.metadata.storage_class);
    out.leaf("Initiated", rfc3339(upload.initiated));
    out.close("Upload");
  }
  return out.reply();
}

}  // namespace emulator
