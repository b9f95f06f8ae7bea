#pragma once

#include <dataflux/codec/detail/secrets.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/reply_codes.hpp>
#include <dataflux/service/detail/printable_text.hpp>
#include <dataflux/service/detail/reply_words.hpp>

#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// A status of its own by which R2's front throttles.
inline constexpr int status_of_r2 = 520;

DATAFLUX_INLINE http::reply_class classify(const call_identity& call, int status,
                                           std::string_view reason) noexcept {
  const bool conflict = reason == "ConditionalRequestConflict" || reason == "ConflictException";
  if (conflict && call.verb == "PutObject") return http::reply_class::transient;
  const reply_code* const known = find_reply_code(reason);
  if (known != nullptr && known->repeat) return *known->repeat;
  if (status == status_of_r2) return http::reply_class::throttled;
  // What S3 says by it is SlowDown or ServiceUnavailable: here nothing else can.
  if (status == 503 && call.head) return http::reply_class::throttled;
  return http::classify(status, reason);
}

/// What answers is no S3, unless it is the service's front end in an outage.
inline bool is_strange(const reply_facts& facts, const service::reply_words& words) noexcept {
  if (facts.status >= 500 || facts.status == 408 || facts.status == 429) return false;
  return (words.web_page && facts.request_id.empty()) || !facts.stranger.empty();
}

/// The state that a read goes on with, or that a removal is about, is not there any more.
inline bool is_gone(const call_identity& call, const reply_facts& facts) noexcept {
  return facts.status == 412 && call.generation != 0 &&
         (call.verb == "GetObject" || call.verb == "DeleteObject");
}

/// A write under the condition that the object is in a state, and there is none.
inline bool is_unmet(const call_identity& call, const reply_facts& facts,
                     const service::reply_words& words) noexcept {
  const bool conditional = call.verb == "PutObject" || call.verb == "CompleteMultipartUpload";
  return facts.status == 404 && conditional && !call.create_only &&
         (words.reason.empty() || words.reason == "NoSuchKey");
}

inline errc decide_code(const call_identity& call, const reply_facts& facts,
                        const service::reply_words& words, bool slowed) noexcept {
  if (is_strange(facts, words)) return errc::internal;
  if (is_gone(call, facts)) return errc::not_found;
  if (is_unmet(call, facts, words)) return errc::failed_precondition;
  if (facts.status == 412) {
    return call.create_only ? errc::already_exists : errc::failed_precondition;
  }
  const reply_code* const known = find_reply_code(words.reason);
  if (known != nullptr) return known->means;
  if (facts.ok()) return errc::unknown;
  if (facts.status == 301 || facts.status == 307) return errc::failed_precondition;
  return slowed ? errc::resource_exhausted : errc_from_http_status(facts.status);
}

inline std::string advice(const call_identity& call, const reply_facts& facts,
                          const service::reply_words& words, bool slowed) {
  if (is_strange(facts, words)) {
    return not_the_service(words.web_page ? "a web page answered"
                                          : std::string{facts.stranger} + " answered");
  }
  if (is_gone(call, facts)) return "this state of the object is gone: it was replaced or deleted";
  if (is_unmet(call, facts, words)) {
    return "the object is not there, so that it is not in the state that the call expects";
  }
  if (facts.status == 412 && call.create_only) {
    return "the object exists already, the call was to create it";
  }
  if (words.reason == "InvalidObjectState" && !call.source.empty()) {
    return "the source, s3://" + std::string{call.source_bucket} + "/" +
           service::printable_text(call.source, 200) + ", is archived: restore it first";
  }
  if (const reply_code* const known = find_reply_code(words.reason); known != nullptr) {
    return std::string{known->advice};
  }
  if (slowed) return std::string{find_reply_code("SlowDown")->advice};
  switch (facts.status) {
    case 301:
    case 307:
      if (!facts.region.empty()) {
        return "the bucket is in region " + service::printable_text(facts.region, 64);
      }
      return not_the_service("it redirects to " +
                             (facts.redirect.empty() ? "somewhere else" : facts.redirect));
    case 304:
    case 412:
      return "a condition of the call does not hold: the object is not what was expected";
    case 401:
      return std::string{find_reply_code("InvalidAccessKeyId")->advice};
    case 403:
      return "the account may not do this here, or may not learn whether it is there";
    case 404:
      return call.object.empty() ? std::string{find_reply_code("NoSuchBucket")->advice}
                                 : "the object or its bucket does not exist";
    case 405:
      return "the object is deleted: what is there is a mark of that";
    case 416:
      return std::string{find_reply_code("InvalidRange")->advice};
    default:
      return {};
  }
}

DATAFLUX_INLINE error parse_error(const call_identity& call, const reply_facts& facts,
                                  bytes_view body, std::span<const std::string_view> secrets) {
  service::reply_words words = service::read_words(facts, body, nullptr);
  words.reason = codec::without_secrets(std::move(words.reason), secrets);
  const auto repeat = classify(call, facts.status, words.reason);
  const bool slowed = repeat == http::reply_class::throttled;
  const errc code = decide_code(call, facts, words, slowed);
  const service::failure_facts what{
      .code = code,
      .about = call,
      .advice = advice(call, facts, words, slowed),
      .bucket_missing = code == errc::not_found && !call.bucket.empty() &&
                        (words.reason == "NoSuchBucket" || call.object.empty()),
      .retryable = slowed || repeat == http::reply_class::transient};
  return service::make_error(what, facts, words, secrets);
}

DATAFLUX_INLINE std::string region_told(const reply_facts& facts, bytes_view body) {
  if (facts.status != 301 && facts.status != 307 && facts.status != 400) return {};
  const std::string_view text = trim(as_text(body));
  if (text.empty()) return facts.region;  // a reply to HEAD
  const auto document = codec::xml_document::parse(as_bytes(text));
  if (!document || document->root().local_name() != "Error") return {};
  const auto said = [&](std::string_view name) {
    return document->root().child_text(name).value_or(std::string{});
  };
  const std::string code = said("Code");
  for (const std::string_view wrong :
       {"PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed",
        "IllegalLocationConstraintException"}) {
    if (code == wrong) return facts.region.empty() ? said("Region") : facts.region;
  }
  return {};
}

DATAFLUX_INLINE result<codec::xml_document> parse_document(const whole_reply& reply,
                                                           std::string_view root,
                                                           const call_identity& call,
                                                           std::string_view other_root) {
  const std::string_view text = trim(as_text(reply.body));
  auto document = codec::xml_document::parse(as_bytes(text));
  const std::string_view name = document ? document->root().local_name() : std::string_view{};
  if (document && (name == root || name == other_root)) return document;
  if (auto fit = check_document(reply, call); !fit) return std::move(fit).error();
  return std::move(error{errc::internal,
                         "the reply's body is no " + std::string{root} + ": it is cut or garbled"}
                       .with_retryable(true));
}

DATAFLUX_INLINE result<void> check_document(const whole_reply& reply, const call_identity& call) {
  const std::string_view text = trim(as_text(reply.body));
  const bool failure =
      !text.empty() && text.front() == '<' && codec::parse_xml_error(as_bytes(text)).has_value();
  if (failure || service::is_web_page(reply.facts, reply.body) || !reply.facts.stranger.empty()) {
    return parse_error(call, reply.facts, as_bytes(text));
  }
  return {};
}

DATAFLUX_INLINE std::string not_the_service(std::string_view what) {
  return std::string{"this does not look like S3: "}.append(what).append(
      "; check the endpoint and any proxy");
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
