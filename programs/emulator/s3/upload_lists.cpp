#include <emulator/s3/error.hpp>
#include <emulator/s3/lists.hpp>
#include <emulator/s3/uploads.hpp>
#include <emulator/uri.hpp>
#include <emulator/xml_writer.hpp>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace emulator::s3 {
namespace {

void write_upload_checksum(xml_writer& out, const upload_store::upload& upload) {
  if (!upload.s3_facts || !upload.s3_facts->sum) return;
  out.leaf("ChecksumAlgorithm", name_of(upload.s3_facts->sum->algorithm).text);
  out.leaf("ChecksumType", text_of(upload.s3_facts->sum->type));
}

struct upload_range {
  std::string_view prefix{};
  std::string_view delimiter{};
  std::string_view key{};  ///< of the marker; empty: from the beginning
  std::string_view id{};   ///< of the marker; empty: all of its key have been seen
};
struct upload_page {
  std::vector<upload_store::upload> uploads{};
  std::set<std::string> prefixes{};
  bool more{false};
};

/// By key, then by their beginning.
upload_page upload_page_of(std::vector<upload_store::upload> all, const upload_range& wanted,
                           std::uint64_t most) {
  std::ranges::sort(all, {}, [](const upload_store::upload& u) {
    return std::tuple{u.key, u.initiated, u.id};
  });
  const auto mark = std::ranges::find_if(all, [&wanted](const upload_store::upload& u) {
    return u.key == wanted.key && u.id == wanted.id;
  });
  upload_page out;
  for (auto at = all.begin(); at != all.end(); ++at) {
    const bool seen = mark != all.end() ? at <= mark : at->key <= wanted.key;
    if (!at->key.starts_with(wanted.prefix) || (seen && !wanted.key.empty())) continue;
    const std::size_t cut = wanted.delimiter.empty()
                                ? std::string::npos
                                : at->key.find(wanted.delimiter, wanted.prefix.size());
    std::string folded;
    if (cut != std::string::npos) folded = at->key.substr(0, cut + wanted.delimiter.size());
    if (!folded.empty() && (out.prefixes.contains(folded) || folded <= wanted.key)) continue;
    out.more = out.uploads.size() + out.prefixes.size() >= most;
    if (out.more) break;
    if (folded.empty()) {
      out.uploads.push_back(*at);
    } else {
      out.prefixes.insert(std::move(folded));
    }
  }
  return out;
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
  const upload_page page =
      upload_page_of(open_.list(asked.bucket),
                     {.prefix = prefix, .delimiter = delimiter, .key = key, .id = id}, most);
  xml_writer out{"ListMultipartUploadsResult"};
  out.leaf("Bucket", asked.bucket);
  out.leaf("KeyMarker", name(key));
  out.leaf("UploadIdMarker", id);
  const bool more = page.more && most > 0;
  if (more) {
    const std::string last_key = page.uploads.empty() ? std::string{} : page.uploads.back().key;
    const std::string last_prefix = page.prefixes.empty() ? std::string{} : *page.prefixes.rbegin();
    out.leaf("NextKeyMarker", name(std::max(last_key, last_prefix)));
    if (last_key >= last_prefix) out.leaf("NextUploadIdMarker", page.uploads.back().id);
  }
  out.leaf("MaxUploads", static_cast<std::int64_t>(most));
  if (!prefix.empty()) out.leaf("Prefix", name(prefix));
  if (!delimiter.empty()) out.leaf("Delimiter", name(delimiter));
  name.tell(out);
  out.leaf("IsTruncated", more ? "true" : "false");
  for (const auto& upload : page.uploads) {
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
  for (const std::string& each : page.prefixes) {
    out.open("CommonPrefixes");
    out.leaf("Prefix", name(each));
    out.close("CommonPrefixes");
  }
  return out.reply("application/xml");
}

}  // namespace emulator::s3
