#include <emulator/digest.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/object_headers.hpp>
#include <emulator/uri.hpp>
#include <emulator/v4.hpp>

#include <algorithm>
#include <array>

namespace emulator::s3 {
namespace {

constexpr std::array<std::string_view, 8> storage_classes{
    "STANDARD",   "REDUCED_REDUNDANCY",  "STANDARD_IA", "ONEZONE_IA",
    "GLACIER_IR", "INTELLIGENT_TIERING", "GLACIER",     "DEEP_ARCHIVE"};
constexpr std::string_view meta_prefix = "x-amz-meta-";

void take_user_metadata(object_metadata& out, const http_request& request) {
  std::size_t size = 0;
  for (const header_view& h : request.headers) {
    if (h.name.size() <= meta_prefix.size() ||
        !same_name(h.name.substr(0, meta_prefix.size()), meta_prefix)) {
      continue;
    }
    std::string name = lower_case(h.name.substr(meta_prefix.size()));
    size += name.size() + h.value.size();
    std::string& value = out.custom[std::move(name)];
    if (!value.empty()) value += ',';
    value += h.value;
  }
  if (size > 2048) {
    throw error(400, "MetadataTooLarge",
                "Your metadata headers exceed the maximum allowed metadata size");
  }
}

void take_lock(lock_facts& out, const http_request& request, const bucket_settings& bucket) {
  const std::string_view mode = request.header("x-amz-object-lock-mode");
  const std::string_view until = request.header("x-amz-object-lock-retain-until-date");
  const std::string_view hold = request.header("x-amz-object-lock-legal-hold");
  if (mode.empty() && until.empty() && hold.empty()) return;
  if (!bucket.object_lock) {
    throw error(400, "InvalidRequest", "Bucket is missing Object Lock Configuration");
  }
  if (mode.empty() != until.empty()) {
    throw error(400, "InvalidArgument",
                "x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be "
                "supplied");
  }
  if (!mode.empty()) {
    out.until = parse_time(until);
    if ((mode != "GOVERNANCE" && mode != "COMPLIANCE") || !out.until) {
      throw error(400, "InvalidArgument", "Unknown wormMode directive.");
    }
    if (*out.until <= std::chrono::system_clock::now()) {
      throw error(400, "InvalidArgument", "The retain until date must be in the future!");
    }
    out.mode = mode;
  }
  if (!hold.empty() && hold != "ON" && hold != "OFF") {
    throw error(400, "InvalidArgument", "Legal Hold must be either of 'ON' or 'OFF'");
  }
  out.legal_hold = hold == "ON";
}

void take_encryption(encryption& out, const http_request& request, const bucket_settings& bucket) {
  out.kind = request.header("x-amz-server-side-encryption");
  out.key_id = request.header("x-amz-server-side-encryption-aws-kms-key-id");
  out.bucket_key = request.header("x-amz-server-side-encryption-bucket-key-enabled") == "true";
  out.customer_key_md5 = customer_key_md5(request);
  if (!out.kind.empty() && out.kind != "AES256" && !out.kind.starts_with("aws:kms")) {
    throw error(400, "InvalidArgument", "The encryption method specified is not supported");
  }
  if (!out.customer_key_md5.empty()) {
    if (out.kind.empty()) return;
    throw error(400, "InvalidArgument",
                "Server Side Encryption with Customer provided key is incompatible with the "
                "encryption method specified");
  }
  const auto kept = bucket.kept.find("s3Encryption");
  if (out.kind.empty() && kept != bucket.kept.end()) {
    out.kind = kept->second.text("kind").value_or("");
    out.key_id = kept->second.text("keyId").value_or("");
  }
  if (out.kind.starts_with("aws:kms") && out.key_id.empty()) {
    out.key_id = "arn:aws:kms:us-east-1:123456789012:alias/aws/s3";
  }
}

/// What is not ASCII comes back in the form of RFC 2047.
std::string header_text(const std::string& value) {
  const bool ascii =
      std::ranges::all_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return ascii ? value : "=?UTF-8?B?" + base64_encode(value) + "?=";
}

}  // namespace

std::string quoted(const std::string& etag) { return "\"" + etag + "\""; }

void check_key_name(std::string_view name) {
  if (name.size() > 1024) {
    auto refused = error(400, "KeyTooLongError", "Your key is too long");
    refused.members = {{"Size", std::to_string(name.size())}, {"MaxSizeAllowed", "1024"}};
    throw refused;
  }
  if (!valid_utf8(name)) throw error(400, "InvalidURI", "Couldn't parse the specified URI.");
}

tag_list parse_tags(std::string_view text) {
  tag_list out;
  const query_parameters parsed{text};
  for (const auto& [key, value] : parsed.values()) out.emplace_back(key, value);
  check_tags(out);
  return out;
}

void check_tags(const tag_list& tags) {
  if (tags.size() > 10) throw error(400, "BadRequest", "Object tags cannot be greater than 10");
  for (const auto& [key, value] : tags) {
    if (key.empty() || key.size() > 128) {
      throw error(400, "InvalidTag", "The TagKey you have provided is invalid");
    }
    if (value.size() > 256) {
      throw error(400, "InvalidTag", "The TagValue you have provided is invalid");
    }
    const auto same = [&held = key](const auto& other) { return other.first == held; };
    if (std::ranges::count_if(tags, same) > 1) {
      throw error(400, "InvalidTag", "Cannot provide multiple Tags with the same key");
    }
  }
}

described_object described_by(const http_request& request, const bucket_settings& bucket) {
  described_object out;
  object_metadata& metadata = out.metadata;
  metadata.content_type = request.header("Content-Type");
  metadata.cache_control = request.header("Cache-Control");
  metadata.content_disposition = request.header("Content-Disposition");
  metadata.content_language = request.header("Content-Language");
  for (const std::string& each : split(request.header("Content-Encoding"), ',')) {
    const std::string_view coding = trim(each);
    // The framing of the body is not the object's.
    if (coding.empty() || coding == "aws-chunked") continue;
    if (!metadata.content_encoding.empty()) metadata.content_encoding += ',';
    metadata.content_encoding += coding;
  }
  const std::string_view storage_class = request.header("x-amz-storage-class");
  if (!storage_class.empty() &&
      std::ranges::find(storage_classes, storage_class) == storage_classes.end()) {
    throw error(400, "InvalidStorageClass", "The storage class you specified is not valid");
  }
  metadata.storage_class = storage_class.empty() ? "STANDARD" : storage_class;
  take_user_metadata(metadata, request);
  take_encryption(out.facts.encrypted, request, bucket);
  out.facts.tags = parse_tags(request.header("x-amz-tagging"));
  take_lock(out.facts.lock, request, bucket);
  return out;
}

std::string customer_key_md5(const http_request& request, const std::string& prefix) {
  const std::string start = prefix + "server-side-encryption-customer-";
  const std::string_view algorithm = request.header(start + "algorithm");
  const std::string_view key = request.header(start + "key");
  const std::string_view digest = request.header(start + "key-md5");
  if (algorithm.empty() && key.empty() && digest.empty()) return {};
  if (algorithm != "AES256") {
    throw error(400, "InvalidEncryptionAlgorithmError",
                "The encryption request that you specified is not valid. The valid value is "
                "AES256.");
  }
  const auto raw = base64_decode(key);
  if (!raw || raw->size() != 32) {
    throw error(400, "InvalidArgument", "The secret key was invalid for the specified algorithm.");
  }
  if (base64_encode(md5(*raw)) != digest) {
    throw error(400, "InvalidArgument",
                "The calculated MD5 hash of the key did not match the hash that was provided.");
  }
  return std::string{digest};
}

void require_customer_key(const object_facts& facts, const std::string& given) {
  const std::string& needed = facts.encrypted.customer_key_md5;
  if (needed == given) return;
  if (given.empty()) {
    throw error(400, "InvalidRequest",
                "The object was stored using a form of Server Side Encryption. The correct "
                "parameters must be provided to retrieve the object.");
  }
  if (needed.empty()) {
    throw error(400, "InvalidRequest",
                "The encryption parameters are not applicable to this object.");
  }
  throw access_denied();
}

bool is_archived(const stored_object& object) {
  const std::string& held = object.metadata.storage_class;
  if (held != "GLACIER" && held != "DEEP_ARCHIVE") return false;
  const auto& until = facts_of(object).restored_until;
  return !until || std::chrono::system_clock::now() >= *until;
}

service_error archived(const stored_object& object) {
  auto out =
      error(403, "InvalidObjectState", "The operation is not valid for the object's storage class");
  out.members = {{"StorageClass", object.metadata.storage_class}};
  return out;
}

void set_encryption_headers(http_reply& reply, const encryption& how) {
  if (!how.customer_key_md5.empty()) {
    reply.set("x-amz-server-side-encryption-customer-algorithm", "AES256");
    reply.set("x-amz-server-side-encryption-customer-key-MD5", how.customer_key_md5);
    return;
  }
  reply.set("x-amz-server-side-encryption", how.kind.empty() ? "AES256" : how.kind);
  if (!how.key_id.empty()) {
    reply.set("x-amz-server-side-encryption-aws-kms-key-id", how.key_id);
  }
  if (how.bucket_key) reply.set("x-amz-server-side-encryption-bucket-key-enabled", "true");
}

void set_checksum_headers(http_reply& reply, const checksum& sum) {
  reply.set(name_of(sum.algorithm).header, sum.value);
  reply.set("x-amz-checksum-type", std::string{text_of(sum.type)});
}

void set_object_headers(http_reply& reply, const stored_object& object) {
  const object_facts& facts = facts_of(object);
  const object_metadata& metadata = object.metadata;
  const auto set = [&reply](std::string_view name, const std::string& value) {
    if (!value.empty()) reply.set(name, value);
  };
  reply.set("ETag", quoted(etag_of(object)));
  reply.set("Last-Modified", http_date(object.created));
  reply.set("Accept-Ranges", "bytes");
  reply.set("Content-Type",
            metadata.content_type.empty() ? "binary/octet-stream" : metadata.content_type);
  set("Content-Encoding", metadata.content_encoding);
  set("Cache-Control", metadata.cache_control);
  set("Content-Disposition", metadata.content_disposition);
  set("Content-Language", metadata.content_language);
  if (facts.versioned || object.deleted) reply.set("x-amz-version-id", version_id_of(object));
  if (metadata.storage_class != "STANDARD") set("x-amz-storage-class", metadata.storage_class);
  set_encryption_headers(reply, facts.encrypted);
  for (const auto& [key, value] : metadata.custom) {
    reply.set(std::string{meta_prefix} + key, header_text(value));
  }
  if (!facts.tags.empty()) reply.set("x-amz-tagging-count", std::to_string(facts.tags.size()));
  set("x-amz-object-lock-mode", facts.lock.mode);
  if (facts.lock.until) {
    reply.set("x-amz-object-lock-retain-until-date", rfc3339(*facts.lock.until));
  }
  if (facts.lock.legal_hold) reply.set("x-amz-object-lock-legal-hold", "ON");
  if (facts.restored_until) {
    reply.set("x-amz-restore", "ongoing-request=\"false\", expiry-date=\"" +
                                   http_date(*facts.restored_until) + "\"");
  }
}

}  // namespace emulator::s3
