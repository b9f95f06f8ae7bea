#include <emulator/digest.hpp>
#include <emulator/gzip.hpp>
#include <emulator/media.hpp>
#include <emulator/service_error.hpp>

#include <algorithm>
#include <limits>

namespace emulator {
namespace {

/// Digits only; saturates, since a last byte beyond any object is legal.
std::optional<std::uint64_t> digits(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    value = value > (most - digit) / 10 ? most : value * 10 + digit;
  }
  return value;
}

bool accepts_gzip(const http_request& request) {
  return request.header("Accept-Encoding").find("gzip") != std::string_view::npos;
}

/// protocol.md 1.2 "gzip transcoding".
std::optional<std::string> transcoded(const stored_object& object, const http_request& request) {
  const object_metadata& metadata = object.metadata;
  if (metadata.content_encoding != "gzip" || accepts_gzip(request)) return std::nullopt;
  if (metadata.cache_control.find("no-transform") != std::string::npos) return std::nullopt;
  return gunzip(object.data.to_string());
}

std::string hash_value(const stored_object& object, std::string_view separator) {
  std::string out = "crc32c=" + crc32c_text(object.crc32c());
  if (object.has_md5) {
    out.append(separator).append("md5=").append(base64_encode(object.md5()));
  }
  return out;
}

}  // namespace

std::optional<range> parse_range(std::string_view header, std::uint64_t size) {
  if (!header.starts_with("bytes=")) return std::nullopt;
  header.remove_prefix(6);
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view first_text = header.substr(0, dash);
  const std::string_view last_text = header.substr(dash + 1);
  if (first_text.empty()) {
    const auto suffix = digits(last_text);
    if (!suffix) return std::nullopt;
    if (*suffix == 0 || size == 0) throw range_not_satisfiable(size);
    const std::uint64_t count = std::min(*suffix, size);
    return range{size - count, count};
  }
  const auto first = digits(first_text);
  const auto last =
      last_text.empty() ? std::numeric_limits<std::uint64_t>::max() : digits(last_text);
  if (!first || !last || *last < *first) return std::nullopt;
  if (*first >= size) throw range_not_satisfiable(size);
  return range{*first, std::min(*last, size - 1) - *first + 1};
}

void set_object_headers(http_reply& reply, const stored_object& object, bool xml) {
  reply.set("X-Goog-Generation", std::to_string(object.generation));
  reply.set("X-Goog-Metageneration", std::to_string(object.metageneration));
  if (xml) {
    // The XML API sends one line for each digest, the JSON API one line for all.
    reply.set("x-goog-hash", "crc32c=" + crc32c_text(object.crc32c()));
    if (object.has_md5) reply.set("x-goog-hash", "md5=" + base64_encode(object.md5()));
  } else {
    reply.set("X-Goog-Hash", hash_value(object, ","));
  }
  const std::string& encoding = object.metadata.content_encoding;
  reply.set("X-Goog-Stored-Content-Encoding", encoding.empty() ? "identity" : encoding);
  reply.set("X-Goog-Stored-Content-Length", std::to_string(object.data.size()));
  reply.set("X-Goog-Storage-Class", object.metadata.storage_class);
  const std::string etag = object.etag();
  reply.set("ETag", xml ? "\"" + etag + "\"" : etag);
  reply.set("Last-Modified", http_date(object.created));
  for (const auto& [key, value] : object.metadata.custom) reply.set("x-goog-meta-" + key, value);
}

http_reply media_reply(const stored_object& object, const http_request& request, bool xml) {
  http_reply reply;
  const object_metadata& metadata = object.metadata;
  set_object_headers(reply, object, xml);
  reply.set("Content-Type",
            metadata.content_type.empty() ? "application/octet-stream" : metadata.content_type);
  if (!metadata.cache_control.empty()) reply.set("Cache-Control", metadata.cache_control);
  if (!metadata.content_disposition.empty()) {
    reply.set("Content-Disposition", metadata.content_disposition);
  }
  if (!metadata.content_language.empty()) {
    reply.set("Content-Language", metadata.content_language);
  }
  if (auto plain = transcoded(object, request)) {
    reply.set("Warning", "214 UploadServer gunzipped");
    reply.set("X-Guploader-Response-Body-Transformations", "gunzipped");
    reply.body = content{std::move(*plain)};
    reply.chunked = true;
    return reply;
  }
  if (!metadata.content_encoding.empty()) {
    reply.set("Content-Encoding", metadata.content_encoding);
  }
  reply.set("Accept-Ranges", "bytes");
  const std::uint64_t size = object.data.size();
  if (const auto part = parse_range(request.header("Range"), size)) {
    reply.status = 206;
    reply.set("Content-Range", "bytes " + std::to_string(part->offset) + "-" +
                                   std::to_string(part->offset + part->count - 1) + "/" +
                                   std::to_string(size));
    reply.body = object.data.slice(part->offset, part->count);
  } else {
    reply.body = object.data;
  }
  return reply;
}

}  // namespace emulator
