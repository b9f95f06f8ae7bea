#include <emulator/ais/batch.hpp>
#include <emulator/ais/error.hpp>
#include <emulator/ais/face.hpp>
#include <emulator/ais/route.hpp>
#include <emulator/ais/xxhash64.hpp>
#include <emulator/json_reply.hpp>
#include <emulator/media.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/falsify.hpp>

#include <algorithm>
#include <chrono>

namespace emulator::ais {
namespace {

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// What of S3's request means something here.
http_request without_ignored(const http_request& request) {
  http_request out = request;
  std::erase_if(out.headers, [](const header_view& h) {
    const std::string name = lower_case(h.name);
    const bool framed = h.value.starts_with("STREAMING-");
    return name == "authorization" || name == "content-md5" || name.starts_with("if-") ||
           name.starts_with("x-amz-copy-source-if-") || name.starts_with("x-amz-checksum-") ||
           name == "x-amz-sdk-checksum-algorithm" || name == "x-amz-security-token" ||
           (name == "x-amz-content-sha256" && !framed);
  });
  return out;
}

bool tells_checksum(const header_line& h) {
  return lower_case(h.name).starts_with("x-amz-checksum-");
}

/// What became of a PUT of an object has an ETag of its own kind.
std::string native_etag(const std::string& digest) {
  return "v1-" + digest + "-" + std::to_string(nanoseconds_now());
}

/// Without quotes, and empty for what was stored in one piece.
void list_etags(http_reply& reply) {
  s3::change_etags(reply, fault::etag_form::kind::unquoted);
  static constexpr std::string_view open = "<ETag>";
  std::string text = reply.body.to_string();
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
    const std::size_t from = at + open.size();
    if (text.compare(from, 3, "v1-") == 0) text.erase(from, text.find('<', from) - from);
  }
  reply.body = content{std::move(text)};
}

}  // namespace

object_ptr face::found(const call& asked) const {
  if (!store_.location(asked.bucket)) {
    throw error(404, "ErrBckNotFound", "bucket \"" + asked.bucket + "\" does not exist");
  }
  object_ptr out = store_.newest(asked.bucket, asked.object);
  if (!out) {
    throw error(404, "ErrNotFound",
                "object \"" + asked.bucket + "/" + asked.object + "\" does not exist");
  }
  return out;
}

std::string face::digest_of(const stored_object& object) {
  {
    const std::lock_guard lock{mutex_};
    const auto at = digests_.find(object.generation);
    if (at != digests_.end()) return at->second;
  }
  std::string fresh = xxhash2(object.data);
  const std::lock_guard lock{mutex_};
  if (digests_.size() > 100'000) digests_.clear();
  digests_.insert_or_assign(object.generation, fresh);
  return fresh;
}

std::string face::version_of(const stored_object& object) {
  const std::lock_guard lock{mutex_};
  const auto at = versions_.find(object.bucket + "/" + object.name);
  return std::to_string(at == versions_.end() ? 1 : at->second);
}

void face::describe(http_reply& reply, const stored_object& object) {
  reply.set("Ais-Checksum-Type", "xxhash2");
  reply.set("Ais-Checksum-Value", digest_of(object));
  reply.set("Ais-Version", version_of(object));
  reply.set("Ais-Atime", std::to_string(nanoseconds_now()));
}

http_reply face::get(const call& asked, const http_request& request, bool head) {
  const object_ptr object = found(asked);
  http_reply reply;
  const std::string_view member = asked.query.get("archpath");
  if (!member.empty()) {
    if (!request.header("Range").empty()) {
      throw error(400, "ErrUnsupp", "range of a member of an archive is not supported");
    }
    auto data = archived_member(*object, member);
    if (!data) {
      throw error(404, "ErrNotFound",
                  "file \"" + std::string{member} + "\" does not exist in the archive");
    }
    reply.set("Content-Type", "application/octet-stream");
    reply.body = std::move(*data);
    return reply;
  }
  describe(reply, *object);
  reply.set("Content-Type", "application/octet-stream");
  if (head) {
    reply.set("Ais-Name", asked.bucket + "/" + asked.object);
    reply.set("Ais-Present", "true");
    reply.set("Ais-Location", "t[emulated-target]");
  }
  const std::uint64_t size = object->data.size();
  const auto part = head ? std::nullopt : parse_range(request.header("Range"), size);
  reply.body = part ? object->data.slice(part->offset, part->count) : object->data;
  if (part) {
    reply.status = 206;
    reply.set("Content-Range", "bytes " + std::to_string(part->offset) + "-" +
                                   std::to_string(part->offset + part->count - 1) + "/" +
                                   std::to_string(size));
  }
  reply.head_only = head;
  return reply;
}

void face::remember(const stored_object& stored, const std::string& digest) {
  const std::lock_guard lock{mutex_};
  ++versions_[stored.bucket + "/" + stored.name];
  digests_.insert_or_assign(stored.generation, digest);
}

http_reply face::put(const call& asked, const http_request& request) {
  if (!store_.location(asked.bucket)) {
    throw error(404, "ErrBckNotFound", "bucket \"" + asked.bucket + "\" does not exist");
  }
  const std::string digest = xxhash2(request.body);
  const std::string_view said = request.header("ais-checksum-value");
  // Another kind than the bucket's is dropped, and the bucket's is computed.
  const bool same_kind = request.header("ais-checksum-type") == "xxhash2";
  if (same_kind && said != digest) {
    throw error(500, "ErrBadCksum",
                "BAD DATA CHECKSUM: expected " + std::string{said} + ", got " + digest);
  }
  s3::object_facts facts;
  facts.etag = native_etag(digest);
  const object_ptr stored =
      store_.put(asked.bucket,
                 {.name = asked.object,
                  .data = request.body,
                  .s3_facts = std::make_shared<const s3::object_facts>(std::move(facts))},
                 {});
  remember(*stored, digest);
  http_reply reply;
  describe(reply, *stored);
  return reply;
}

http_reply face::remove(const call& asked) {
  (void)found(asked);
  store_.remove_current(asked.bucket, asked.object, {});
  return {};
}

http_reply face::list(const call& asked, const http_request& request) {
  if (!store_.location(asked.bucket)) {
    throw error(404, "ErrBckNotFound", "bucket \"" + asked.bucket + "\" does not exist");
  }
  const auto document = parse_json(request.body.to_string());
  const json_value* value = document ? document->find("value") : nullptr;
  if (!document || document->text("action") != "list") {
    throw error(400, "ErrInvalidArgument", "the action must be \"list\"");
  }
  const json_value none;
  const json_value& how = value == nullptr ? none : *value;
  listing_request wanted;
  wanted.prefix = how.text("prefix").value_or("");
  wanted.start_after = how.text("start_after").value_or("");
  // The token is the last name that was given.
  if (const auto token = how.text("continuation_token"); token && !token->empty()) {
    wanted.start_after = std::max(wanted.start_after, *token);
  }
  const std::int64_t size = how.integer("pagesize").value_or(0);
  wanted.max_results = static_cast<std::uint64_t>(size <= 0 || size > 10'000 ? 10'000 : size);
  if (asked.page_limit) wanted.max_results = *asked.page_limit;
  const listing_page page = store_.list(asked.bucket, wanted);
  json_writer out{false};
  out.begin_object();
  out.member("uuid", how.text("uuid").value_or("emulated"));
  const bool more = !page.next_page_token.empty() && !page.items.empty();
  out.member("continuation_token", more ? page.items.back()->name : "");
  const std::string props = how.text("props").value_or("");
  const auto wants = [&props](std::string_view one) {
    return props.find(one) != std::string::npos;
  };
  out.key("entries");
  out.begin_array();
  for (const object_ptr& each : page.items) {
    out.begin_object();
    out.member("name", each->name);
    if (wants("size")) out.member("size", std::to_string(each->data.size()));
    if (wants("checksum")) out.member("checksum", digest_of(*each));
    if (wants("version")) out.member("version", version_of(*each));
    out.end_object();
  }
  out.end_array();
  out.key("flags");
  out.number(0);
  out.end_object();
  return json_reply(out.take());
}

std::optional<http_reply> face::redirect(const call& asked, const http_request& request) {
  const bool of_object = !asked.object.empty() || asked.verb == "objects.getBatch";
  if (!of_object || asked.verb == "unknown" || is_redirected(asked)) return std::nullopt;
  const std::string to = redirect_of(request, stamp_.fetch_add(1, std::memory_order_relaxed));
  http_reply reply;
  const bool by_s3 = asked.form == error_form::s3;
  reply.status = !by_s3 && asked.verb == "objects.media" ? 301 : 307;
  reply.set("Location", to);
  if (!by_s3) return reply;
  auto refused = s3::error(307, "TemporaryRedirect",
                           "Please re-send this request to the specified temporary endpoint.");
  refused.members = {{"Endpoint", to}};
  refused.headers = reply.headers;
  return s3::error_reply(refused);
}

http_reply face::in_s3_form(const call& asked, const http_request& request) {
  call loose = asked;
  loose.ignore_conditions = true;
  loose.query.erase("encoding-type");
  if (asked.verb == "objects.list" && !asked.page_limit) {
    loose.page_limit = 1'000'000'000;  // one page has everything, whatever was asked for
  }
  if (asked.verb == "objects.delete" && !store_.newest(asked.bucket, asked.object)) {
    return s3::error_reply(s3::no_such_key());
  }
  http_reply reply = inner_.answer(loose, without_ignored(request));
  std::erase_if(reply.headers, tells_checksum);
  if (asked.verb == "objects.insert" && reply.status == 200) {
    const object_ptr stored = store_.newest(asked.bucket, asked.object);
    const std::string digest = xxhash2(stored->data);
    remember(*stored, digest);
    const std::string etag = native_etag(digest);
    store_.change_facts(asked.bucket, asked.object, "null",
                        [&etag](s3::object_facts& facts) { facts.etag = etag; });
    std::erase_if(reply.headers, [](const header_line& h) { return same_name(h.name, "ETag"); });
    reply.set("ETag", "\"" + etag + "\"");
  }
  if (asked.verb == "objects.list") list_etags(reply);
  if (asked.verb == "objects.copy") s3::change_etags(reply, fault::etag_form::kind::empty);
  return reply;
}

http_reply face::native(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (asked.query.has("etl_name")) throw error(400, "ErrUnsupp", "ETL is not emulated");
  if (verb == "objects.media") return get(asked, request, false);
  if (verb == "objects.get") return get(asked, request, true);
  if (verb == "objects.insert") return put(asked, request);
  if (verb == "objects.delete") return remove(asked);
  if (verb == "objects.list") return list(asked, request);
  if (verb == "objects.getBatch") return get_batch(store_, asked, request);
  if (verb == "buckets.get") {
    store_.require_bucket(asked.bucket);
    return {};
  }
  throw error(400, "ErrUnsupp", "the emulator has no such call");
}

http_reply face::answer(const call& asked, const http_request& request) {
  const bool known = token_.empty() || request.header("Authorization") == "Bearer " + token_;
  if (!known && asked.form != error_form::s3) {
    return error_reply(error(401, "ErrFailedTo", "token required"), request.method, asked.path);
  }
  if (auto elsewhere = redirect(asked, request)) return std::move(*elsewhere);
  try {
    if (asked.form == error_form::s3) return in_s3_form(asked, request);
    return native(asked, request);
  } catch (const service_error& refused) {
    if (asked.form == error_form::s3) return s3::error_reply(refused);
    return error_reply(refused, request.method, asked.path);
  }
}

}  // namespace emulator::ais
