#include <emulator/digest.hpp>
#include <emulator/media.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/objects.hpp>
#include <emulator/s3/uploads.hpp>
#include <emulator/xml_api.hpp>
#include <emulator/xml_writer.hpp>

#include <algorithm>

namespace emulator::s3 {
namespace {

constexpr std::uint64_t most_of_a_part = std::uint64_t{5} << 30U;
constexpr std::size_t completed_kept = 1000;

std::string upload_id_of(const call& asked) { return std::string{asked.query.get("uploadId")}; }

/// What an upload says that its checksum will be; nothing: the service's own.
std::optional<checksum> chosen_checksum(const http_request& request) {
  const std::string_view text = request.header("x-amz-checksum-algorithm");
  const std::string_view type = request.header("x-amz-checksum-type");
  if (text.empty()) {
    if (type.empty()) return std::nullopt;
    throw error(400, "InvalidRequest",
                "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm "
                "header.");
  }
  const checksum_name* name = find_checksum(text);
  if (name == nullptr) {
    throw error(400, "InvalidRequest",
                "Checksum algorithm provided is unsupported. Please try again with any of the "
                "valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]");
  }
  const bool whole_only = name->algorithm == checksum_algorithm::crc64nvme;
  const bool parts_only =
      name->algorithm == checksum_algorithm::sha1 || name->algorithm == checksum_algorithm::sha256;
  checksum out{.algorithm = name->algorithm,
               .type = whole_only ? checksum_type::full_object : checksum_type::composite};
  if (!type.empty()) out.type = checksum_type_of(type);
  const bool whole = out.type == checksum_type::full_object;
  if ((whole && parts_only) || (!whole && whole_only)) {
    throw error(400, "InvalidRequest",
                "The " + std::string{text_of(out.type)} +
                    " checksum type cannot be used with the " + lower_case(name->text) +
                    " checksum algorithm.");
  }
  return out;
}

service_error other_algorithm(const checksum& expected, const std::optional<checksum>& actual) {
  return error(400, "InvalidRequest",
               "Checksum Type mismatch occurred, expected checksum Type: " +
                   lower_case(name_of(expected.algorithm).text) + ", actual checksum Type: " +
                   (actual ? lower_case(name_of(actual->algorithm).text) : std::string{"null"}));
}

/// "bytes=a-b", both of which are needed.
content source_range(const stored_object& source, std::string_view header,
                     std::uint64_t least_part_size) {
  if (header.empty()) return source.data;
  const bool ends = !header.ends_with('-') && !header.starts_with("bytes=-");
  const auto wrong = [&source] {
    return error(400, "InvalidArgument",
                 "The x-amz-copy-source-range value must be of the form bytes=first-last where "
                 "first and last are the zero-based offsets of the first and last bytes to copy, "
                 "within the source of " +
                     std::to_string(source.data.size()) + " bytes");
  };
  const std::size_t dash = header.find('-');
  if (!ends || !header.starts_with("bytes=") || dash == std::string_view::npos) throw wrong();
  const auto first = parse_integer(header.substr(6, dash - 6));
  const auto last = parse_integer(header.substr(dash + 1));
  if (!first || !last || *first > *last ||
      static_cast<std::uint64_t>(*last) >= source.data.size()) {
    throw wrong();
  }
  if (source.data.size() <= least_part_size) {
    throw error(400, "InvalidRequest",
                "The specified copy source is not supported as a byte-range copy source");
  }
  return source.data.slice(static_cast<std::uint64_t>(*first),
                           static_cast<std::uint64_t>(*last - *first + 1));
}

/// The list must repeat what the parts have; of a composite it must be whole.
void check_listed(const upload_store::upload& upload,
                  const std::vector<upload_store::listed_part>& listed) {
  const auto& sum = upload.s3_facts->sum;
  const bool composite = sum && sum->type == checksum_type::composite;
  int expected = 1;
  for (const auto& line : listed) {
    const upload_store::part& held = upload.parts.at(line.number);
    if (composite && line.checksum.empty()) {
      throw error(400, "InvalidRequest",
                  "The upload was created using a " + lower_case(name_of(sum->algorithm).text) +
                      " checksum. The complete request must include the checksum for each part. "
                      "It was missing for part " +
                      std::to_string(line.number) + " in the request.");
    }
    if (!line.checksum.empty() && line.checksum != held.checksum) {
      throw error(400, "InvalidPart",
                  "One or more of the specified parts could not be found.  The part may not have "
                  "been uploaded, or the specified entity tag may not match the part's entity "
                  "tag.");
    }
    if (composite && line.number != expected++) {
      throw error(400, "InvalidPart", "Part numbers must be consecutive from 1.");
    }
  }
}

/// The checksum of the whole, which must be what the request says.
checksum whole_checksum(const upload_store::upload& upload, const content& data,
                        const http_request& request) {
  checksum out = upload.s3_facts->sum.value_or(checksum{});
  std::vector<std::string> parts;
  for (const auto& [number, part] : upload.parts) parts.push_back(part.checksum);
  out.value = out.type == checksum_type::composite ? composite_value(out.algorithm, parts)
                                                   : checksum_value(out.algorithm, data);
  const std::string_view type = request.header("x-amz-checksum-type");
  if (!type.empty() && upload.s3_facts->sum && checksum_type_of(type) != out.type) {
    throw error(400, "InvalidRequest",
                "The upload was created using the " + std::string{text_of(out.type)} +
                    " checksum mode. The complete request must use the same checksum mode.");
  }
  for (const checksum_name& each : checksum_names()) {
    std::string said{request.header(each.header)};
    if (said.empty()) continue;
    const bool other = upload.s3_facts->sum && each.algorithm != out.algorithm;
    const std::string_view own = std::string_view{out.value}.substr(0, out.value.find('-'));
    const bool same = each.algorithm == out.algorithm
                          ? said == out.value || said == own
                          : said == checksum_value(each.algorithm, data);
    if (same && !other) continue;
    throw error(
        400, "BadDigest",
        "The " + lower_case(each.text) + " you specified did not match the calculated checksum.");
  }
  return out;
}

}  // namespace

http_reply uploads::result_of(const completed& what, const http_request& request) {
  const object_facts& facts = *what.facts;
  xml_writer out{"CompleteMultipartUploadResult"};
  out.leaf("Location", request.base() + "/" + what.bucket + "/" + percent_encode(what.key));
  out.leaf("Bucket", what.bucket);
  out.leaf("Key", what.key);
  out.quoted_leaf("ETag", facts.etag);
  if (facts.sum) {
    out.leaf(name_of(facts.sum->algorithm).element, facts.sum->value);
    out.leaf("ChecksumType", text_of(facts.sum->type));
  }
  http_reply reply = out.reply("application/xml");
  if (facts.versioned) reply.set("x-amz-version-id", what.version);
  set_encryption_headers(reply, facts.encrypted);
  return reply;
}

http_reply uploads::initiate(const call& asked, const http_request& request) const {
  const bucket_settings settings = store_.facts(asked.bucket).settings;
  check_key_name(asked.object);
  described_object said = described_by(request, settings);
  said.facts.sum = chosen_checksum(request);
  const auto facts = std::make_shared<const object_facts>(std::move(said.facts));
  const std::string id =
      open_.initiate(asked.bucket, asked.object, std::move(said.metadata), {}, facts);
  xml_writer out{"InitiateMultipartUploadResult"};
  out.leaf("Bucket", asked.bucket);
  out.leaf("Key", asked.object);
  out.leaf("UploadId", id);
  http_reply reply = out.reply("application/xml");
  if (facts->sum) {
    reply.set("x-amz-checksum-algorithm", std::string{name_of(facts->sum->algorithm).text});
    reply.set("x-amz-checksum-type", std::string{text_of(facts->sum->type)});
  }
  set_encryption_headers(reply, facts->encrypted);
  return reply;
}

upload_store::part uploads::checked_part(const upload_store::upload& to,
                                         const http_request& request, content data) const {
  const auto& expected = to.s3_facts->sum;
  const auto declared = declared_checksums::of(request);
  if (expected && declared.value && declared.value->algorithm != expected->algorithm) {
    throw other_algorithm(*expected, declared.value);
  }
  const bool copies = !request.header("x-amz-copy-source").empty();
  const bool composite = expected && expected->type == checksum_type::composite;
  if (composite && !declared.value && !copies) throw other_algorithm(*expected, std::nullopt);
  if (!copies) declared.check(data);
  upload_store::part out;
  out.etag = quoted(etag_of_bytes(data, to.s3_facts->encrypted, how_));
  if (declared.value) {
    out.checksum = declared.value->value;
  } else if (expected) {
    out.checksum = checksum_value(expected->algorithm, data);
  }
  out.data = std::move(data);
  return out;
}

http_reply uploads::part(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  if (asked.part < 1 || asked.part > 10'000) {
    throw error(400, "InvalidArgument",
                "Part number must be an integer between 1 and 10000, inclusive");
  }
  if (request.body.size() > most_of_a_part) {
    throw error(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size");
  }
  const std::string id = upload_id_of(asked);
  const auto upload = open_.get(asked.bucket, asked.object, id);
  require_customer_key(*upload.s3_facts, customer_key_md5(request));
  upload_store::part fresh = checked_part(upload, request, request.body);
  http_reply reply;
  reply.set("ETag", fresh.etag);
  for (const checksum_name& each : checksum_names()) {
    const bool declared = !request.header(each.header).empty();
    const auto& sum = upload.s3_facts->sum;
    if (declared || (sum && sum->algorithm == each.algorithm)) {
      reply.set(each.header, fresh.checksum);
    }
  }
  set_encryption_headers(reply, upload.s3_facts->encrypted);
  open_.put_part(asked.bucket, asked.object, id, asked.part, std::move(fresh));
  return reply;
}

http_reply uploads::copy_part(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.to_bucket);
  if (asked.part < 1 || asked.part > 10'000) {
    throw error(400, "InvalidArgument",
                "Part number must be an integer between 1 and 10000, inclusive");
  }
  const std::string id = upload_id_of(asked);
  const auto upload = open_.get(asked.to_bucket, asked.to_object, id);
  require_customer_key(*upload.s3_facts, customer_key_md5(request));
  const object_ptr source = source_of_copy(store_, asked, request);
  content data =
      source_range(*source, request.header("x-amz-copy-source-range"), how_.least_part_size);
  if (data.size() > most_of_a_part) {
    throw error(400, "InvalidRequest",
                "The specified copy source is larger than the maximum allowable size for a copy "
                "source: 5368709120");
  }
  upload_store::part fresh = checked_part(upload, request, std::move(data));
  xml_writer out{"CopyPartResult"};
  out.leaf("LastModified", rfc3339(std::chrono::system_clock::now()));
  out.quoted_leaf("ETag", std::string_view{fresh.etag}.substr(1, fresh.etag.size() - 2));
  if (const auto& sum = upload.s3_facts->sum) {
    out.leaf(name_of(sum->algorithm).element, fresh.checksum);
  }
  http_reply reply = out.reply("application/xml");
  if (is_versioned(*source)) reply.set("x-amz-copy-source-version-id", version_id_of(*source));
  set_encryption_headers(reply, upload.s3_facts->encrypted);
  open_.put_part(asked.to_bucket, asked.to_object, id, asked.part, std::move(fresh));
  return reply;
}

const uploads::completed* uploads::completed_before(const call& asked, std::string_view id) const {
  const auto at = std::ranges::find_if(completed_, [&](const completed& each) {
    return each.id == id && each.bucket == asked.bucket && each.key == asked.object;
  });
  return at == completed_.end() ? nullptr : &*at;
}

object_ptr uploads::store_whole(const upload_store::upload& upload, const call& asked,
                                const http_request& request) const {
  const preconditions when = write_conditions(asked, request);
  object_facts facts = *upload.s3_facts;
  content whole;
  std::string md5s;
  for (const auto& [number, part] : upload.parts) {
    whole.append(part.data);
    md5s += hex_decode(std::string_view{part.etag}.substr(1, part.etag.size() - 2)).value_or("");
    facts.parts.push_back({.size = part.data.size(), .checksum = part.checksum});
  }
  const std::string_view size = request.header("x-amz-mp-object-size");
  if (!size.empty() && size != std::to_string(whole.size())) {
    throw error(400, "InvalidRequest",
                "The provided 'x-amz-mp-object-size' header value " + std::string{size} +
                    " does not match what was computed: " + std::to_string(whole.size()));
  }
  facts.sum = whole_checksum(upload, whole, request);
  facts.etag = hex_encode(md5(md5s)) + "-" + std::to_string(upload.parts.size());
  prepare_etag(store_, asked.bucket, asked.object, when);
  return store_.put(asked.bucket,
                    {.name = asked.object,
                     .metadata = upload.metadata,
                     .data = std::move(whole),
                     .has_md5 = false,
                     .s3_facts = std::make_shared<const object_facts>(std::move(facts))},
                    when);
}

http_reply uploads::complete(const call& asked, const http_request& request) {
  store_.require_bucket(asked.bucket);
  const std::string id = upload_id_of(asked);
  const auto listed = parse_complete(request.body.to_string());
  const std::lock_guard lock{completing_};
  if (const completed* before = completed_before(asked, id)) return result_of(*before, request);
  const auto upload = open_.chosen(asked.bucket, asked.object, id, listed, how_.least_part_size);
  check_listed(upload, listed);
  const object_ptr stored = store_whole(upload, asked, request);
  open_.abort(asked.bucket, asked.object, id);
  completed_.push_back({.id = id,
                        .bucket = asked.bucket,
                        .key = asked.object,
                        .version = version_id_of(*stored),
                        .facts = stored->s3_facts});
  http_reply reply = result_of(completed_.back(), request);
  if (how_.completes_once) completed_.pop_back();
  if (completed_.size() > completed_kept) completed_.pop_front();
  return reply;
}

http_reply uploads::abort(const call& asked) const {
  store_.require_bucket(asked.bucket);
  open_.abort(asked.bucket, asked.object, upload_id_of(asked));
  http_reply reply;
  reply.status = 204;
  return reply;
}

}  // namespace emulator::s3
