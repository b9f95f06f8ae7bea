#include <emulator/customer_key.hpp>
#include <emulator/json_reply.hpp>
#include <emulator/media.hpp>
#include <emulator/object_json.hpp>
#include <emulator/object_rules.hpp>
#include <emulator/resumable_api.hpp>
#include <emulator/xml_api.hpp>

#include <utility>

namespace emulator {
namespace {

/// What the object is to be, from the JSON body and the query.
session_store::session json_session(const call& asked, const http_request& request) {
  declared_object declared = read_declared_object(body_document(request));
  session_store::session out;
  out.name = asked.query.has("name") ? std::string{asked.query.get("name")} : declared.name;
  if (out.name.empty()) throw required_parameter("name");
  if (!declared.name.empty() && declared.name != out.name) {
    throw invalid_argument("The name in the query differs from that in the metadata");
  }
  out.metadata = std::move(declared.metadata);
  if (out.metadata.content_type.empty()) {
    out.metadata.content_type = request.header("X-Upload-Content-Type");
  }
  if (asked.query.has("contentEncoding")) {
    out.metadata.content_encoding = asked.query.get("contentEncoding");
  }
  if (asked.query.has("kmsKeyName")) out.metadata.kms_key = asked.query.get("kmsKeyName");
  take_predefined_access(out.metadata, asked.query, "predefinedAcl");
  out.declared = {declared.crc32c, declared.md5};
  out.when = preconditions::of_query(asked.query, request);
  return out;
}

session_store::session xml_session(const call& asked, const http_request& request) {
  session_store::session out;
  out.name = asked.object;
  out.metadata = metadata_of_headers(request);
  out.when = preconditions::of_xml(asked.query, request);
  out.xml = true;
  return out;
}

http_reply incomplete(const http_request& request, std::uint64_t persisted) {
  http_reply reply;
  reply.status = 308;
  if (same_name(request.header("X-GUploader-No-308"), "yes")) {
    reply.status = 200;
    reply.set("X-HTTP-Status-Code-Override", "308");
  }
  if (persisted > 0) reply.set("Range", "bytes=0-" + std::to_string(persisted - 1));
  reply.set("Content-Type", "text/plain; charset=utf-8");
  return reply;
}

http_reply completed(const call& asked, const http_request& request, const stored_object& object) {
  if (!asked.xml) return object_reply(asked, request, object);
  http_reply reply;
  reply.set("Content-Type", "text/html; charset=UTF-8");
  set_object_headers(reply, object, true);
  return reply;
}

}  // namespace

http_reply resumable_api::start(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  auto fresh = asked.xml ? xml_session(asked, request) : json_session(asked, request);
  check_object_name(fresh.name);
  fresh.bucket = asked.bucket;
  fresh.customer_key = customer_key_of(request);
  if (const auto text = request.header("X-Upload-Content-Length"); !text.empty()) {
    const auto value = parse_integer(text);
    if (!value || *value < 0) throw invalid_argument("Invalid X-Upload-Content-Length");
    fresh.announced = static_cast<std::uint64_t>(*value);
  }
  const std::string name = percent_encode(fresh.name);
  const std::string id = sessions_.start(std::move(fresh));
  http_reply reply;
  reply.status = asked.xml ? 201 : 200;
  const std::string address = asked.xml ? "/" + asked.bucket + "/" + name + "?"
                                        : "/upload/storage/v1/b/" + asked.bucket +
                                              "/o?uploadType=resumable&name=" + name + "&";
  reply.set("Location", request.base() + address + "upload_id=" + id);
  reply.set("Content-Type", "text/plain; charset=utf-8");
  return reply;
}

http_reply resumable_api::chunk(const call& asked, const http_request& request) const {
  const std::string_view id = asked.query.get("upload_id");
  const auto range = upload_range::parse(request.header("Content-Range"));
  if (!range.query) require_key(sessions_.customer_key(id), customer_key_of(request));
  auto where = sessions_.take(id, range, request.body, asked.persist_limit);
  if (where.object) return completed(asked, request, *where.object);
  if (!where.due) return incomplete(request, where.persisted);
  return finish(asked, request, std::move(*where.due));
}

http_reply resumable_api::finish(const call& asked, const http_request& request,
                                 session_store::session whole) const {
  const std::string_view id = asked.query.get("upload_id");
  try {
    whole.declared.check(whole.data);
    declared_digests::of_headers(request).check(whole.data);
    for (const auto& [key, value] : metadata_of_headers(request).custom) {
      whole.metadata.custom.insert_or_assign(key, value);
    }
    const object_ptr stored = store_.put(whole.bucket,
                                         {.name = std::move(whole.name),
                                          .metadata = std::move(whole.metadata),
                                          .data = std::move(whole.data),
                                          .customer_key = std::move(whole.customer_key)},
                                         whole.when);
    sessions_.finish(id, stored);
    return completed(asked, request, *stored);
  } catch (const service_error&) {
    sessions_.drop(id);
    throw;
  }
}

http_reply resumable_api::cancel(const call& asked) const {
  http_reply reply;
  reply.status = sessions_.cancel(asked.query.get("upload_id")) ? 499 : 204;
  return reply;
}

void resumable_api::broken(const call& asked, const http_request& request,
                           const content& part) const {
  try {
    sessions_.take_broken(asked.query.get("upload_id"),
                          upload_range::parse(request.header("Content-Range")), part);
  } catch (const service_error&) {
    return;  // nobody is there to be told
  }
}

}  // namespace emulator
