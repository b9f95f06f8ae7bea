#include <emulator/customer_key.hpp>
#include <emulator/digest.hpp>
#include <emulator/gzip.hpp>
#include <emulator/json_api.hpp>
#include <emulator/json_reply.hpp>
#include <emulator/media.hpp>
#include <emulator/object_json.hpp>
#include <emulator/upload_body.hpp>

#include <algorithm>
#include <array>

namespace emulator {
namespace {

/// The service compresses when both headers speak of gzip (protocol.md 0.3).
void compress_if_asked(http_reply& reply, const http_request& request) {
  const auto speaks = [&request](std::string_view name) {
    return request.header(name).find("gzip") != std::string_view::npos;
  };
  if (!speaks("Accept-Encoding") || !speaks("User-Agent")) return;
  reply.body = content{gzip(reply.body.to_string())};
  reply.set("Content-Encoding", "gzip");
}

listing_request listing_parameters(const call& asked) {
  if (asked.query.has("filter")) throw not_modelled("filter");
  listing_request out;
  out.prefix = asked.query.get("prefix");
  out.delimiter = asked.query.get("delimiter");
  out.start_offset = asked.query.get("startOffset");
  out.end_offset = asked.query.get("endOffset");
  out.include_trailing_delimiter = asked.query.flag("includeTrailingDelimiter");
  out.versions = asked.query.flag("versions");
  out.soft_deleted = asked.query.flag("softDeleted");
  if (out.versions && out.soft_deleted) {
    throw invalid_argument("softDeleted cannot be combined with versions");
  }
  out.match_glob = asked.query.get("matchGlob");
  if (!out.match_glob.empty() && !out.delimiter.empty() && out.delimiter != "/") {
    throw invalid_argument("Only '/' is a valid delimiter with matchGlob");
  }
  out.page_token = asked.query.get("pageToken");
  if (const std::string_view text = asked.query.get("maxResults"); !text.empty()) {
    const auto value = parse_integer(text);
    if (!value || *value < 0) throw invalid_argument("Invalid value for maxResults");
    if (*value > 0)
      out.max_results = std::min<std::uint64_t>(1000, static_cast<std::uint64_t>(*value));
  }
  if (asked.page_limit) out.max_results = std::min(out.max_results, *asked.page_limit);
  return out;
}

}  // namespace

http_reply json_api::list(const call& asked, const http_request& request) const {
  static constexpr std::array<std::string_view, 4> known{"kind", "items", "prefixes",
                                                         "nextPageToken"};
  const field_mask wanted = wanted_fields(asked);
  wanted.require_known(known);
  const field_mask* item_fields = wanted.find("items");
  if (item_fields != nullptr) require_object_fields(*item_fields);
  const projection shown = wanted_projection(asked);
  const listing_page page = store_.list(asked.bucket, listing_parameters(asked));
  const std::string base = request.base();

  json_writer out{asked.pretty()};
  out.begin_object();
  if (wanted.has("kind")) out.member("kind", "storage#objects");
  if (!page.next_page_token.empty() && wanted.has("nextPageToken")) {
    out.member("nextPageToken", page.next_page_token);
  }
  if (!page.prefixes.empty() && wanted.has("prefixes")) {
    out.key("prefixes");
    out.begin_array();
    for (const std::string& prefix : page.prefixes) out.string(prefix);
    out.end_array();
  }
  if (!page.items.empty() && item_fields != nullptr) {
    out.key("items");
    out.begin_array();
    for (const object_ptr& item : page.items) {
      write_object(out, *item, *item_fields, base, shown);
    }
    out.end_array();
  }
  out.end_object();
  http_reply reply = json_reply(out.take());
  compress_if_asked(reply, request);
  // Listings come in chunks from the service too.
  reply.chunked = true;
  return reply;
}

http_reply json_api::get(const call& asked, const http_request& request) const {
  auto when = preconditions::of_query(asked.query, request);
  when.soft_deleted = asked.query.flag("softDeleted");
  if (when.soft_deleted && !when.generation) throw required_parameter("generation");
  return object_reply(asked, request, *store_.get(asked.bucket, asked.object, when));
}

http_reply json_api::media(const call& asked, const http_request& request) const {
  const auto when = preconditions::of_query(asked.query, request);
  const object_ptr object = store_.get(asked.bucket, asked.object, when);
  require_key(*object, customer_key_of(request));
  return media_reply(*object, request, false);
}

http_reply json_api::insert(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  const std::string_view type = asked.query.get("uploadType");
  bucket_store::new_object fresh;
  if (type == "media") {
    fresh.metadata.content_type = request.header("Content-Type");
    fresh.data = request.body;
    declared_digests::of_headers(request).check(fresh.data);
  } else if (type == "multipart") {
    related_body body = parse_related(request);
    auto document = parse_json(body.metadata);
    if (document && std::holds_alternative<std::monostate>(document->value)) {
      document->value = json_value::object{};
    }
    if (!document) throw invalid_argument("Parse Error: the metadata part is not JSON");
    declared_object declared = read_declared_object(*document);
    fresh.name = std::move(declared.name);
    fresh.metadata = std::move(declared.metadata);
    if (fresh.metadata.content_type.empty()) fresh.metadata.content_type = body.media_type;
    fresh.data = std::move(body.media);
    declared_digests{declared.crc32c, declared.md5}.check(fresh.data);
  } else {
    throw invalid_argument("Invalid upload type: '" + std::string{type} + "'");
  }
  if (asked.query.has("name")) fresh.name = asked.query.get("name");
  if (fresh.name.empty()) throw required_parameter("name");
  if (asked.query.has("contentEncoding")) {
    fresh.metadata.content_encoding = asked.query.get("contentEncoding");
  }
  if (asked.query.has("kmsKeyName")) fresh.metadata.kms_key = asked.query.get("kmsKeyName");
  const bool said = fresh.metadata.access != nullptr;
  take_predefined_access(fresh.metadata, asked.query, "predefinedAcl");
  fresh.customer_key = customer_key_of(request);
  const auto when = preconditions::of_query(asked.query, request);
  return object_reply(asked, request, *store_.put(asked.bucket, std::move(fresh), when),
                      said ? projection::full : projection::no_acl);
}

http_reply json_api::remove(const call& asked, const http_request& request) const {
  const auto when = preconditions::of_query(asked.query, request);
  store_.remove(asked.bucket, asked.object, when);
  http_reply reply;
  reply.status = 204;
  return reply;
}

std::string name_in_body(const call& asked, const http_request& request) {
  try {
    if (asked.verb == "resumable.start") return body_document(request).text("name").value_or("");
    if (asked.verb != "objects.insert") return {};
    const auto document = parse_json(parse_related(request).metadata);
    return document ? document->text("name").value_or("") : std::string{};
  } catch (const service_error&) {
    return {};  // the verb itself will say what is wrong
  }
}

}  // namespace emulator
