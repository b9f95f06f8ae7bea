#include <emulator/s3/error.hpp>
#include <emulator/s3/lists.hpp>
#include <emulator/s3/uploads.hpp>
#include <emulator/uri.hpp>
#include <emulator/xml_writer.hpp>

#include <algorithm>
#include <set>
#include <tuple>

namespace emulator::s3 {
namespace {

void write_upload_checksum(xml_writer& out, const upload_store::upload& upload) {
  if (!upload.s3_facts || !upload.s3_facts->sum) return;
  out.leaf("ChecksumAlgorithm", name_of(upload.s3_facts->sum->algorithm).text);
  out.leaf("ChecksumType", text_of(upload.s3_facts->sum->type));
}

}  // namespace

http_reply uploads::list_parts(const call& asked) const {
  store_.require_bucket(asked.bucket);
  const auto upload =
      open_.get(asked.bucket, asked.object, std::string{asked.query.get("uploadId")});
  const std::uint64_t most = page_limit_of(asked, "max-parts");
  const auto marker = parse_integer(asked.query.get("part-number-marker")).value_or(0);
  auto at = upload.parts.upper_bound(static_cast<int>(std::clamp<std::int64_t>(marker, 0, 10'000)));
  xml_writer out{"ListPartsResult"};
  out.leaf("Bucket", asked.bucket);
  out.leaf("Key", asked.object);
  out.leaf("UploadId", upload.id);
  write_owner(out, "Initiator", how_);
  write_owner(out, "Owner", how_);
  out.leaf("StorageClass", upload.metadata.storage_class);
  write_upload_checksum(out, upload);
  out.leaf("PartNumberMarker", marker);
  out.leaf("MaxParts", static_cast<std::int64_t>(most));
  std::int64_t last = marker;
  for (std::uint64_t n = 0; n < most && at != upload.parts.end(); ++n, ++at) {
    last = at->first;
    out.open("Part");
    out.leaf("PartNumber", last);
    out.leaf("LastModified", rfc3339(at->second.received));
    const std::string_view etag = at->second.etag;
    out.quoted_leaf("ETag", etag.substr(1, etag.size() - 2));
    out.leaf("Size", static_cast<std::int64_t>(at->second.data.size()));
    if (upload.s3_facts->sum && !at->second.checksum.empty()) {
      out.leaf(name_of(upload.s3_facts->sum->algorithm).element, at->second.checksum);
    }
    out.close("Part");
  }
  const bool truncated = at != upload.parts.end();
  out.leaf("NextPartNumberMarker", last);
  out.leaf("IsTruncated", truncated ? "true" : "false");
  return out.reply("application/xml");
}

http_reply uploads::list(const call& asked) const {
  store_.require_bucket(asked.bucket);
  const name_encoding name{asked.query};
  const std::uint64_t most = page_limit_of(asked, "max-uploads");
  const std::string prefix{asked.query.get("prefix")};
  const std::string delimiter{asked.query.get("delimiter")};
  const std::string_view key = asked.query.get("key-marker");
  const std::string_view id = key.empty() ? "" : asked.query.get("upload-id-marker");
  auto all = open_.list(asked.bucket);
  // By key, then by their beginning; ids count up, so that one of a page finds its place again.
  std::ranges::sort(all, {}, [](const upload_store::upload& u) {
    return std::tuple{u.key, u.initiated, u.id};
  });
  const auto mark = std::ranges::find_if(
      all, [&](const upload_store::upload& u) { return u.key == key && u.id == id; });
  std::vector<upload_store::upload> chosen;
  std::set<std::string> prefixes;
  bool more = false;
  for (auto at = all.begin(); at != all.end(); ++at) {
    const bool seen = mark != all.end() ? at <= mark : at->key <= key;
    if (!at->key.starts_with(prefix) || (seen && !key.empty())) continue;
    const std::size_t cut =
        delimiter.empty() ? std::string::npos : at->key.find(delimiter, prefix.size());
    const std::string folded =
        cut == std::string::npos ? std::string{} : at->key.substr(0, cut + delimiter.size());
    if (!folded.empty() && (prefixes.contains(folded) || folded <= key)) continue;
    more = chosen.size() + prefixes.size() >= most;
    if (more) break;
    if (folded.empty()) chosen.push_back(*at);
    if (!folded.empty()) prefixes.insert(folded);
  }
  xml_writer out{"ListMultipartUploadsResult"};
  out.leaf("Bucket", asked.bucket);
  out.leaf("KeyMarker", name(key));
  out.leaf("UploadIdMarker", id);
  if (more && most > 0) {
    const std::string last_key = chosen.empty() ? std::string{} : chosen.back().key;
    const std::string last_prefix = prefixes.empty() ? std::string{} : *prefixes.rbegin();
    out.leaf("NextKeyMarker", name(std::max(last_key, last_prefix)));
    if (last_key >= last_prefix) out.leaf("NextUploadIdMarker", chosen.back().id);
  }
  out.leaf("MaxUploads", static_cast<std::int64_t>(most));
  if (!prefix.empty()) out.leaf("Prefix", name(prefix));
  if (!delimiter.empty()) out.leaf("Delimiter", name(delimiter));
  name.tell(out);
  out.leaf("IsTruncated", more && most > 0 ? "true" : "false");
  for (const auto& upload : chosen) {
    out.open("Upload");
    out.leaf("Key", name(upload.key));
    out.leaf("UploadId", upload.id);
    write_owner(out, "Initiator", how_);
    write_owner(out, "Owner", how_);
    out.leaf("StorageClass", upload.metadata.storage_class);
    write_upload_checksum(out, upload);
    out.leaf("Initiated", rfc3339(upload.initiated));
    out.close("Upload");
  }
  for (const std::string& each : prefixes) {
    out.open("CommonPrefixes");
    out.leaf("Prefix", name(each));
    out.close("CommonPrefixes");
  }
  return out.reply("application/xml");
}

}  // namespace emulator::s3
