#include <emulator/digest.hpp>
#include <emulator/media.hpp>
#include <emulator/s3/documents.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/objects.hpp>
#include <emulator/xml_writer.hpp>

#include <algorithm>
#include <array>
#include <random>

namespace emulator::s3 {
namespace {

/// Where a part of a multipart upload is in the whole.
range place_of_part(const object_facts& facts, std::size_t number) {
  range out{0, facts.parts[number - 1].size};
  for (std::size_t i = 0; i + 1 < number; ++i) out.offset += facts.parts[i].size;
  return out;
}

/// The checksum header of a reply: of the whole object, or of a range that is exactly one part.
void tell_checksum(http_reply& reply, const stored_object& object,
                   const std::optional<range>& read) {
  const object_facts& facts = facts_of(object);
  if (!facts.sum) return;
  if (!read) return set_checksum_headers(reply, *facts.sum);
  const std::string_view header = name_of(facts.sum->algorithm).header;
  if (read->count == object.data.size() && facts.sum->type == checksum_type::composite) {
    // As the service was seen to do, without the count of parts.
    return reply.set(header, facts.sum->value.substr(0, facts.sum->value.rfind('-')));
  }
  range at{};
  for (const part_facts& part : facts.parts) {
    at.count = part.size;
    if (at.offset == read->offset && at.count == read->count && !part.checksum.empty()) {
      return reply.set(header, part.checksum);
    }
    at.offset += part.size;
  }
}

std::optional<range> range_of(const stored_object& object, const call& asked,
                              const http_request& request) {
  const std::string_view header = request.header("Range");
  if (!asked.query.has("partNumber")) return parse_range(header, object.data.size());
  const auto number = parse_integer(asked.query.get("partNumber"));
  if (!number || *number < 1 || *number > 10'000) {
    throw error(400, "InvalidArgument",
                "Part number must be an integer between 1 and 10000, inclusive");
  }
  if (!header.empty()) {
    throw error(400, "InvalidRequest",
                "Cannot specify both Range header and partNumber query "
                "parameter");
  }
  const object_facts& facts = facts_of(object);
  const auto count = std::max<std::int64_t>(static_cast<std::int64_t>(facts.parts.size()), 1);
  if (*number > count) {
    auto refused = error(416, "InvalidPartNumber", "The requested partnumber is not satisfiable");
    refused.object_size = object.data.size();
    throw refused;
  }
  if (facts.parts.empty()) return range{0, object.data.size()};
  return place_of_part(facts, static_cast<std::size_t>(*number));
}

void override_headers(http_reply& reply, const query_parameters& query) {
  static constexpr std::array<std::string_view, 6> names{"Content-Type",  "Content-Language",
                                                         "Expires",       "Content-Disposition",
                                                         "Cache-Control", "Content-Encoding"};
  for (const std::string_view name : names) {
    const std::string parameter = "response-" + lower_case(name);
    if (!query.has(parameter)) continue;
    std::erase_if(reply.headers, [name](const header_line& h) { return same_name(h.name, name); });
    reply.set(name, std::string{query.get(parameter)});
  }
}

void require_no_kms(const http_request& request) {
  if (request.header("x-amz-server-side-encryption").empty()) return;
  throw error(400, "InvalidArgument",
              "x-amz-server-side-encryption header is not supported for this operation.");
}

/// A version that is locked stays; who governs may go past GOVERNANCE.
void require_unlocked(const stored_object& object, bool bypass) {
  const lock_facts& lock = facts_of(object).lock;
  const bool retained = lock.until && std::chrono::system_clock::now() < *lock.until;
  if (lock.legal_hold || (retained && !(bypass && lock.mode == "GOVERNANCE"))) {
    throw access_denied("Access Denied because object protected by object lock.");
  }
}

http_reply empty_reply(int status) {
  http_reply reply;
  reply.status = status;
  return reply;
}

service_error locks_need_checksum() {
  return error(400, "InvalidRequest",
               "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests "
               "with Object Lock parameters");
}

}  // namespace

object_ptr found_object(const bucket_store& store, std::string_view bucket, std::string_view key,
                        std::string_view version) {
  check_key_name(key);
  object_ptr found =
      version.empty() ? store.newest(bucket, key) : store.version(bucket, key, version);
  if (!found && version.empty()) throw no_such_key();
  if (!found) throw no_such_version();
  if (!is_marker(*found)) return found;
  auto refused = version.empty() ? no_such_key() : method_not_allowed();
  refused.headers = {{"x-amz-delete-marker", "true"}, {"x-amz-version-id", version_id_of(*found)}};
  throw refused;
}

preconditions write_conditions(const call& asked, const http_request& request) {
  if (asked.ignore_conditions) return {};
  preconditions when;
  when.by_s3 = true;
  when.if_match = request.header("If-Match");
  when.if_none_match = request.header("If-None-Match");
  if (!when.if_none_match.empty() && when.if_none_match != "*") {
    auto refused = not_implemented("If-None-Match");
    refused.members = {{"Header", "If-None-Match"}};
    throw refused;
  }
  return when;
}

void prepare_etag(const bucket_store& store, std::string_view bucket, std::string_view key,
                  const preconditions& when) {
  if (when.if_match.empty()) return;
  const object_ptr there = store.newest(bucket, key);
  if (there && !is_marker(*there)) (void)etag_of(*there);
}

std::string etag_of_bytes(const content& data, const encryption& how, const options& with) {
  if (!how.hides_md5() && !with.opaque_etags) return hex_encode(*md5(data));
  std::random_device source;
  std::string raw;
  for (int i = 0; i < 16; ++i) raw += static_cast<char>(source() & 0xff);
  return hex_encode(raw);
}

http_reply objects::get(const call& asked, const http_request& request, bool head) const {
  require_no_kms(request);
  const object_ptr object =
      found_object(store_, asked.bucket, asked.object, asked.query.get("versionId"));
  require_customer_key(facts_of(*object), customer_key_md5(request));
  http_reply reply;
  try {
    if (!asked.ignore_conditions) preconditions::of_s3(request).check_read(*object);
  } catch (service_error& refused) {
    refused.headers = {{"ETag", quoted(etag_of(*object))},
                       {"Last-Modified", http_date(object->created)}};
    throw;
  }
  if (!head && is_archived(*object)) throw archived(*object);
  const auto read = range_of(*object, asked, request);
  set_object_headers(reply, *object);
  if (read) {
    const std::uint64_t size = object->data.size();
    reply.status = 206;
    reply.set("Content-Range", "bytes " + std::to_string(read->offset) + "-" +
                                   std::to_string(read->offset + read->count - 1) + "/" +
                                   std::to_string(size));
    reply.body = object->data.slice(read->offset, read->count);
  } else {
    reply.body = object->data;
  }
  if (asked.query.has("partNumber") && !facts_of(*object).parts.empty()) {
    reply.set("x-amz-mp-parts-count", std::to_string(facts_of(*object).parts.size()));
  }
  if (same_name(request.header("x-amz-checksum-mode"), "ENABLED")) {
    tell_checksum(reply, *object, read);
  }
  override_headers(reply, asked.query);
  reply.head_only = head;
  return reply;
}

http_reply objects::put(const call& asked, const http_request& request) const {
  const bucket_settings settings = store_.facts(asked.bucket).settings;
  check_key_name(asked.object);
  const auto declared = declared_checksums::of(request);
  described_object said = described_by(request, settings);
  const lock_facts& lock = said.facts.lock;
  const bool locks = !lock.mode.empty() || lock.legal_hold;
  if (locks && !declared.value && !declared.md5) throw locks_need_checksum();
  if (request.body.size() > most_in_one_piece) {
    throw error(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size");
  }
  const preconditions when = write_conditions(asked, request);
  declared.check(request.body);
  said.facts.etag = etag_of_bytes(request.body, said.facts.encrypted, how_);
  said.facts.sum = declared.value;
  if (!said.facts.sum) {
    // The service adds one of its own.
    const auto own = checksum_algorithm::crc64nvme;
    said.facts.sum = checksum{.algorithm = own, .value = checksum_value(own, request.body)};
  }
  prepare_etag(store_, asked.bucket, asked.object, when);
  const object_ptr stored =
      store_.put(asked.bucket,
                 {.name = asked.object,
                  .metadata = std::move(said.metadata),
                  .data = request.body,
                  .s3_facts = std::make_shared<const object_facts>(std::move(said.facts))},
                 when);
  http_reply reply;
  reply.set("ETag", quoted(etag_of(*stored)));
  tell_version(reply, *stored);
  set_checksum_headers(reply, *facts_of(*stored).sum);
  set_encryption_headers(reply, facts_of(*stored).encrypted);
  return reply;
}

void objects::remove_one(const call& asked, const http_request& request, std::string_view version,
                         const preconditions& when, object_ptr& marker, object_ptr& gone) const {
  if (version.empty()) {
    prepare_etag(store_, asked.bucket, asked.object, when);
    marker = store_.remove_current(asked.bucket, asked.object, when);
    return;
  }
  const bool bypass = request.header("x-amz-bypass-governance-retention") == "true";
  gone = store_.remove_version(
      asked.bucket, asked.object, version,
      [bypass](const stored_object& object) { require_unlocked(object, bypass); });
}

http_reply objects::remove(const call& asked, const http_request& request) const {
  check_key_name(asked.object);
  object_ptr marker;
  object_ptr gone;
  const std::string_view version = asked.query.get("versionId");
  remove_one(asked, request, version, write_conditions(asked, request), marker, gone);
  http_reply reply = empty_reply(204);
  if (!version.empty()) reply.set("x-amz-version-id", std::string{version});
  if (marker) reply.set("x-amz-version-id", version_id_of(*marker));
  if (marker || (gone && is_marker(*gone))) reply.set("x-amz-delete-marker", "true");
  return reply;
}

http_reply objects::remove_many(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  const auto declared = declared_checksums::of(request);
  if (!declared.value && !declared.md5) {
    throw error(400, "InvalidRequest", "Missing required header for this request: Content-MD5");
  }
  declared.check(request.body);
  const delete_document listed = parse_delete(request.body.to_string());
  xml_writer out{"DeleteResult"};
  for (const doomed_object& line : listed.objects) {
    call one = asked;
    one.object = line.key;
    preconditions when;
    when.by_s3 = true;
    if (!asked.ignore_conditions) when.if_match = line.etag;
    try {
      object_ptr marker;
      object_ptr gone;
      remove_one(one, request, line.version, when, marker, gone);
      if (listed.quiet) continue;
      out.open("Deleted");
      out.leaf("Key", line.key);
      if (!line.version.empty()) out.leaf("VersionId", line.version);
      if (marker || (gone && is_marker(*gone))) {
        out.leaf("DeleteMarker", "true");
        out.leaf("DeleteMarkerVersionId", version_id_of(marker ? *marker : *gone));
      }
      out.close("Deleted");
    } catch (const service_error& thrown) {
      const service_error refused = in_own_words(thrown);
      out.open("Error");
      out.leaf("Key", line.key);
      if (!line.version.empty()) out.leaf("VersionId", line.version);
      out.leaf("Code", refused.xml_code);
      out.leaf("Message", refused.what());
      out.close("Error");
    }
  }
  return out.reply("application/xml");
}

http_reply objects::get_tags(const call& asked) const {
  const object_ptr object =
      found_object(store_, asked.bucket, asked.object, asked.query.get("versionId"));
  xml_writer out{"Tagging"};
  out.open("TagSet");
  for (const auto& [key, value] : facts_of(*object).tags) {
    out.open("Tag");
    out.leaf("Key", key);
    out.leaf("Value", value);
    out.close("Tag");
  }
  out.close("TagSet");
  http_reply reply = out.reply("application/xml");
  tell_version(reply, *object);
  return reply;
}

http_reply objects::set_tags(const call& asked, const http_request& request) const {
  const object_ptr object =
      found_object(store_, asked.bucket, asked.object, asked.query.get("versionId"));
  tag_list tags;
  if (request.method == "PUT") {
    declared_checksums::of(request).check(request.body);
    tags = parse_tagging(request.body.to_string());
    check_tags(tags);
  }
  store_.change_facts(asked.bucket, asked.object, version_id_of(*object),
                      [&tags](object_facts& facts) { facts.tags = tags; });
  http_reply reply = empty_reply(request.method == "PUT" ? 200 : 204);
  tell_version(reply, *object);
  return reply;
}

http_reply objects::restore(const call& asked, const http_request& request) const {
  const object_ptr object =
      found_object(store_, asked.bucket, asked.object, asked.query.get("versionId"));
  const std::string& held = object->metadata.storage_class;
  if (held != "GLACIER" && held != "DEEP_ARCHIVE") throw archived(*object);
  const auto days = parse_integer(leaf_of(request.body.to_string(), "RestoreRequest", "Days"));
  if (!days || *days < 1) throw malformed_xml();
  const auto until = std::chrono::system_clock::now() + std::chrono::hours(24 * *days);
  const bool again = !is_archived(*object);
  store_.change_facts(asked.bucket, asked.object, version_id_of(*object),
                      [until](object_facts& facts) { facts.restored_until = until; });
  return empty_reply(again ? 200 : 202);
}

}  // namespace emulator::s3
