#include <emulator/xml_api.hpp>
#include <emulator/xml_writer.hpp>

#include <algorithm>
#include <tuple>

namespace emulator {
namespace {

/// max-parts and max-uploads: 1..1000, 1000 when absent.
std::size_t page_size(const call& asked, std::string_view name) {
  const std::string_view text = asked.query.get(name);
  if (text.empty()) return 1000;
  const auto value = parse_integer(text);
  if (!value || *value < 1) throw invalid_argument("Invalid " + std::string{name});
  return static_cast<std::size_t>(std::min<std::int64_t>(*value, 1000));
}

}  // namespace

namespace {

/// Names as `encoding-type=url` wants them; slashes stay.
std::string encoded_key(const std::string& name, bool url) {
  if (!url) return name;
  std::string out;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t slash = std::min(name.find('/', at), name.size());
    out += percent_encode(std::string_view{name}.substr(at, slash - at));
    if (slash < name.size()) out += '/';
    at = slash + 1;
  }
  return out;
}

void write_entry(xml_writer& out, const stored_object& object, bool url) {
  out.open("Contents");
  out.leaf("Key", encoded_key(object.name, url));
  out.leaf("Generation", object.generation);
  out.leaf("MetaGeneration", object.metageneration);
  out.leaf("LastModified", rfc3339(object.updated));
  out.leaf("ETag", "\"" + object.etag() + "\"");
  out.leaf("Size", static_cast<std::int64_t>(object.data.size()));
  out.leaf("StorageClass", object.metadata.storage_class);
  out.close("Contents");
}

}  // namespace

http_reply xml_api::list_objects(const call& asked) const {
  const bool second = asked.query.get("list-type") == "2";
  const bool url = asked.query.get("encoding-type") == "url";
  listing_request wanted;
  wanted.prefix = asked.query.get("prefix");
  wanted.delimiter = asked.query.get("delimiter");
  wanted.max_results = page_size(asked, "max-keys");
  if (asked.page_limit) wanted.max_results = std::min(wanted.max_results, *asked.page_limit);
  const std::string_view after = asked.query.get(second ? "start-after" : "marker");
  // Both bounds are exclusive here; the least name above `after` has one NUL more.
  if (!after.empty()) wanted.start_offset = std::string{after} + '\0';
  wanted.page_token = asked.query.get("continuation-token");
  const listing_page page = store_.list(asked.bucket, wanted);

  xml_writer out{"ListBucketResult"};
  out.leaf("Name", asked.bucket);
  out.leaf("Prefix", encoded_key(wanted.prefix, url));
  if (!wanted.delimiter.empty()) out.leaf("Delimiter", wanted.delimiter);
  if (second) {
    out.leaf("KeyCount", static_cast<std::int64_t>(page.items.size() + page.prefixes.size()));
  } else {
    out.leaf("Marker", after);
  }
  const bool more = !page.next_page_token.empty();
  if (more && second) out.leaf("NextContinuationToken", page.next_page_token);
  if (more && !second) {
    std::string last = page.items.empty() ? std::string{} : page.items.back()->name;
    // All that a prefix stands for has been seen: the marker is the greatest of such names.
    if (!page.prefixes.empty()) last = std::max(last, page.prefixes.back() + "\xf4\x8f\xbf\xbf");
    out.leaf("NextMarker", encoded_key(last, url));
  }
  out.leaf("MaxKeys", static_cast<std::int64_t>(wanted.max_results));
  out.leaf("IsTruncated", more ? "true" : "false");
  for (const object_ptr& item : page.items) write_entry(out, *item, url);
  for (const std::string& prefix : page.prefixes) {
    out.open("CommonPrefixes");
    out.leaf("Prefix", encoded_key(prefix, url));
    out.close("CommonPrefixes");
  }
  return out.reply();
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
