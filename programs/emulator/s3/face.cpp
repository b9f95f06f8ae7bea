#include <emulator/access.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/face.hpp>
#include <emulator/verbs.hpp>

#include <chrono>
#include <utility>

namespace emulator::s3 {
namespace {

constexpr std::size_t most_header_bytes = 8192;

/// Of a copy the one that is written.
const std::string& target_bucket(const call& asked) {
  return asked.to_bucket.empty() ? asked.bucket : asked.to_bucket;
}

void check_head(const http_request& request) {
  std::size_t size = 0;
  for (const header_view& h : request.headers) size += h.name.size() + h.value.size();
  if (size <= most_header_bytes) return;
  auto refused = error(400, "RequestHeaderSectionTooLarge",
                       "Your request header section exceeds the maximum allowed size.");
  refused.members = {{"MaxSizeAllowed", std::to_string(most_header_bytes)}};
  throw refused;
}

/// Bytes of unknown number come in aws-chunked alone.
void check_framing(const signed_request& who, const call& asked, const http_request& request) {
  const bool has_bytes = asked.verb == "objects.insert" || asked.verb == "multipart.part";
  const bool framed = request.header("Transfer-Encoding").find("chunked") != std::string_view::npos;
  if (!has_bytes || !framed || who.payload.starts_with("STREAMING-")) return;
  auto refused = not_implemented("Transfer-Encoding");
  refused.members = {{"Header", "Transfer-Encoding"}};
  throw refused;
}

}  // namespace

face::face(bucket_store& store, upload_store& open, const options& how)
    : how_(how),
      store_(store),
      key_services_(keys_, how_),
      objects_(store, how_),
      uploads_(store, open, how_),
      lists_(store, how_),
      buckets_(store, how_) {
  keys_.add(how_.access_key, {.secret = how_.secret_key});
}

void face::check_region(const signed_request& who, const call& asked,
                        const http_request& request) const {
  if (who.anonymous || asked.verb == "buckets.insert") return;
  const std::string& bucket = target_bucket(asked);
  const std::string region = region_of(store_.location(bucket).value_or(how_.region), how_);
  const std::string& signed_for = who.credential.location;
  if (signed_for == region) return;
  if (signed_for == how_.region) {
    auto refused = error(301, "PermanentRedirect",
                         "The bucket you are attempting to access must be addressed using the "
                         "specified endpoint. Please send all future requests to this endpoint.");
    refused.members = {{"Endpoint", std::string{request.header("Host")}}, {"Bucket", bucket}};
    throw refused;
  }
  auto refused = error(
      400, who.presigned ? "AuthorizationQueryParametersError" : "AuthorizationHeaderMalformed",
      "The authorization header is malformed; the region '" + signed_for +
          "' is wrong; expecting '" + region + "'");
  refused.members = {{"Region", region}};
  throw refused;
}

bool face::check_rights(const call& asked, const http_request& request) const {
  const std::string_view owner = request.header("x-amz-expected-bucket-owner");
  const std::string_view source_owner = request.header("x-amz-source-expected-bucket-owner");
  if ((!owner.empty() && owner != how_.account) ||
      (!source_owner.empty() && source_owner != how_.account)) {
    throw access_denied();
  }
  const verb_row* const row = find_verb(asked.verb);
  if (!store_.restricted() || row == nullptr || !row->billed) return false;
  bool charged = false;
  const auto check = [&](const std::string& bucket, std::string_view permission) {
    if (bucket.empty() || !store_.location(bucket)) return;
    const bucket_settings settings = store_.facts(bucket).settings;
    const bool pays = request.header("x-amz-request-payer") == "requester";
    if (settings.requester_pays && !pays) throw access_denied();
    charged = charged || settings.requester_pays;
    if (!permission.empty() && !permits(settings, permission)) throw access_denied();
  };
  check(asked.bucket, row->permission);
  if (!row->on_target.empty()) check(asked.to_bucket, row->on_target);
  return charged;
}

http_reply face::dispatch_object(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (verb == "objects.media") return objects_.get(asked, request, false);
  if (verb == "objects.get") return objects_.get(asked, request, true);
  if (verb == "objects.insert") return objects_.put(asked, request);
  if (verb == "objects.delete") return objects_.remove(asked, request);
  if (verb == "objects.deleteMany") return objects_.remove_many(asked, request);
  if (verb == "objects.copy") return objects_.copy(asked, request);
  if (verb == "objects.list") return lists_.objects(asked, request);
  if (verb == "objects.versions") return lists_.versions(asked);
  if (verb == "objects.getTags") return objects_.get_tags(asked);
  if (verb == "objects.setTags") return objects_.set_tags(asked, request);
  if (verb == "objects.restore") return objects_.restore(asked, request);
  throw method_not_allowed();
}

http_reply face::dispatch(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (verb == "unmodelled") throw not_implemented(std::string{asked.lacking});
  if (verb.starts_with("objects.")) return dispatch_object(asked, request);
  if (verb == "multipart.initiate") return uploads_.initiate(asked, request);
  if (verb == "multipart.part") return uploads_.part(asked, request);
  if (verb == "multipart.copyPart") return uploads_.copy_part(asked, request);
  if (verb == "multipart.complete") return uploads_.complete(asked, request);
  if (verb == "multipart.abort") return uploads_.abort(asked);
  if (verb == "multipart.list_parts") return uploads_.list_parts(asked);
  if (verb == "multipart.list") return uploads_.list(asked);
  if (verb == "buckets.list") return buckets_.list(asked);
  if (verb == "buckets.get") return buckets_.head(asked);
  if (verb == "buckets.insert") return buckets_.create(asked, request);
  if (verb == "buckets.delete") return buckets_.remove(asked);
  if (verb.starts_with("buckets.")) return buckets_.setting(asked, request);
  throw method_not_allowed();
}

http_reply face::carried_out(const call& asked, const http_request& request) {
  check_head(request);
  const auto now = std::chrono::system_clock::now() + asked.skew;
  const signed_request who = check_signature(asked, request, keys_, how_, now);
  check_region(who, asked, request);
  const bool charged = check_rights(asked, request);
  check_framing(who, asked, request);
  http_request plain = request;
  std::vector<header_line> trailer;
  plain.body = body_of(who, plain, trailer, how_);
  http_reply reply = dispatch(asked, plain);
  if (charged) reply.set("x-amz-request-charged", "requester");
  return reply;
}

void face::end_sessions() {
  keys_.revoke_sessions();
  key_services_.end_sessions();
}

http_reply face::answer(const call& asked, const http_request& request) {
  if (key_services::gives(asked.verb)) return key_services_.answer(asked, request);
  http_reply reply;
  try {
    reply = carried_out(asked, request);
  } catch (const service_error& refused) {
    reply = error_reply(refused);
  }
  if (const auto location = store_.location(target_bucket(asked))) {
    reply.set("x-amz-bucket-region", region_of(*location, how_));
  }
  return reply;
}

}  // namespace emulator::s3
