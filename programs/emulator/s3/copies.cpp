#include <emulator/s3/error.hpp>
#include <emulator/s3/objects.hpp>
#include <emulator/xml_writer.hpp>

namespace emulator::s3 {
namespace {

/// A copy onto itself must change something.
void check_changes(const call& asked, const http_request& request) {
  if (asked.bucket != asked.to_bucket || asked.object != asked.to_object) return;
  const auto has = [&request](std::string_view name) { return !request.header(name).empty(); };
  const bool changes = request.header("x-amz-metadata-directive") == "REPLACE" ||
                       has("x-amz-storage-class") || has("x-amz-server-side-encryption") ||
                       has("x-amz-server-side-encryption-customer-algorithm") ||
                       !asked.item.empty();
  if (changes) return;
  throw error(400, "InvalidRequest",
              "This copy request is illegal because it is trying to copy an object to itself "
              "without changing the object's metadata, storage class, website redirect location or "
              "encryption attributes.");
}

/// What the copy will be: of the source what the directives keep. It is one piece, whatever the
/// source was made of, and its class is the default one unless the request says another.
described_object described_copy(const stored_object& source, const http_request& request,
                                const bucket_settings& bucket, const options& how) {
  described_object out = described_by(request, bucket);
  if (request.header("x-amz-metadata-directive") != "REPLACE") {
    const std::string storage_class = out.metadata.storage_class;
    out.metadata = source.metadata.copied();
    out.metadata.storage_class = storage_class;
  }
  const object_facts& from = facts_of(source);
  if (request.header("x-amz-tagging-directive") != "REPLACE") out.facts.tags = from.tags;
  const checksum_name* name = find_checksum(request.header("x-amz-checksum-algorithm"));
  checksum sum;
  if (from.sum) sum.algorithm = from.sum->algorithm;
  if (name != nullptr) sum.algorithm = name->algorithm;
  sum.value = checksum_value(sum.algorithm, source.data);
  out.facts.sum = std::move(sum);
  out.facts.etag = etag_of_bytes(source.data, out.facts.encrypted, how);
  return out;
}

}  // namespace

object_ptr source_of_copy(const bucket_store& store, const call& asked,
                          const http_request& request) {
  if (asked.bucket.empty() || asked.object.empty()) {
    throw error(400, "InvalidArgument",
                "Copy Source must mention the source bucket and key: sourcebucket/sourcekey");
  }
  object_ptr source = found_object(store, asked.bucket, asked.object, asked.item);
  require_customer_key(facts_of(*source), customer_key_md5(request, "x-amz-copy-source-"));
  if (is_archived(*source)) throw archived(*source);
  if (asked.ignore_conditions) return source;
  try {
    preconditions::of_s3(request, "x-amz-copy-source-").check_read(*source);
  } catch (const service_error& refused) {
    throw refused.status == 304 ? condition_not_met() : refused;
  }
  return source;
}

http_reply objects::copy(const call& asked, const http_request& request) const {
  const bucket_settings settings = store_.facts(asked.to_bucket).settings;
  check_key_name(asked.to_object);
  const object_ptr source = source_of_copy(store_, asked, request);
  if (source->data.size() > most_in_one_piece) {
    throw error(400, "InvalidRequest",
                "The specified copy source is larger than the maximum allowable size for a copy "
                "source: 5368709120");
  }
  check_changes(asked, request);
  described_object said = described_copy(*source, request, settings, how_);
  const preconditions when = write_conditions(asked, request);
  prepare_etag(store_, asked.to_bucket, asked.to_object, when);
  const object_ptr stored =
      store_.put(asked.to_bucket,
                 {.name = asked.to_object,
                  .metadata = std::move(said.metadata),
                  .data = source->data,
                  .s3_facts = std::make_shared<const object_facts>(std::move(said.facts))},
                 when);
  const checksum& sum = *facts_of(*stored).sum;
  xml_writer out{"CopyObjectResult"};
  out.leaf("LastModified", rfc3339(stored->created));
  out.quoted_leaf("ETag", etag_of(*stored));
  out.leaf("ChecksumType", text_of(sum.type));
  out.leaf(name_of(sum.algorithm).element, sum.value);
  http_reply reply = out.reply("application/xml");
  tell_version(reply, *stored);
  if (is_versioned(*source)) reply.set("x-amz-copy-source-version-id", version_id_of(*source));
  set_encryption_headers(reply, facts_of(*stored).encrypted);
  return reply;
}

}  // namespace emulator::s3
