#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/secrets.hpp>
#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/http/detail/retry.hpp>
#include <dataflux/service/detail/reply_words.hpp>
#include <dataflux/service/detail/text.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

using service::contains;
using service_words = service::reply_words;

/// The JSON envelope and its relatives. `depth` bounds envelopes within envelopes, which test
/// servers make (protocol.md 6.3).
inline std::optional<service_words> words_of_json(bytes_view body, int depth) {
  const auto document = codec::json_document::parse(body);
  if (!document) return std::nullopt;
  const codec::json_value envelope = document->root().find("error");
  if (envelope.kind() == codec::json_kind::string) {  // OAuth: RFC 6749 5.2
    return service_words{std::string{*envelope.text()},
                         document->root().find("error_description").to_string()};
  }
  if (envelope.kind() != codec::json_kind::object) return std::nullopt;
  service_words words;
  const auto details = envelope.find("errors").elements();
  const codec::json_value first = details.empty() ? codec::json_value{} : details.front();
  const auto status = envelope.find("code").int64().value_or(0);
  words.status = status >= 400 && status <= 599 ? static_cast<int>(status) : 0;
  words.reason = first.find("reason").text().value_or(
      envelope.find("status").text().value_or(std::string_view{}));
  const codec::json_value message = envelope.find("message");
  words.message = (message ? message : first.find("message")).to_string();
  if (depth > 0 && words.message.starts_with('{')) {
    if (auto inner = words_of_json(as_bytes(words.message), depth - 1)) {
      if (inner->reason.empty()) inner->reason = std::move(words.reason);
      return inner;
    }
  }
  return words;
}

/// The code that an XML reason stands for; errc::ok when it tells nothing.
inline errc code_of_reason(std::string_view reason) noexcept {
  struct entry {
    std::string_view reason;
    errc code;
  };
  static constexpr entry table[] = {
      {"NoSuchBucket", errc::not_found},
      {"NoSuchKey", errc::not_found},
      {"NoSuchUpload", errc::not_found},
      {"AccessDenied", errc::permission_denied},
      {"AuthenticationRequired", errc::unauthenticated},
      {"PreconditionFailed", errc::failed_precondition},
      {"InvalidDigest", errc::data_loss},
      {"BadDigest", errc::data_loss},
      {"CrcMismatch", errc::data_loss},
      {"InvalidPart", errc::invalid_argument},
      {"InvalidPartOrder", errc::invalid_argument},
      {"EntityTooSmall", errc::invalid_argument},
      {"EntityTooLarge", errc::invalid_argument},
      {"InvalidArgument", errc::invalid_argument},
      {"InternalError", errc::unavailable},
      {"ServiceUnavailable", errc::unavailable},
      {"RequestTimeout", errc::unavailable},
      {"SlowDown", errc::resource_exhausted},
      {"TooManyRequests", errc::resource_exhausted},
  };
  for (const entry& e : table) {
    if (e.reason == reason) return e.code;
  }
  return errc::ok;
}

/// JSON has no reason of its own for a checksum that the service refused.
inline bool is_checksum_refusal(const service::reply_facts& facts,
                                const service_words& words) noexcept {
  if (facts.status != 400 && facts.status != 412) return false;
  const bool names_one = contains(words.message, "crc32c") || contains(words.message, "md5");
  return names_one && (contains(words.message, "match") || contains(words.message, "calculated"));
}

/// What answers is no Google Cloud Storage, unless it is the service's front end in an outage. A
/// page with the service's id of the request is its own.
inline bool is_strange(const service::reply_facts& facts, const service_words& words) noexcept {
  if (facts.status >= 500 || facts.status == 408 || facts.status == 429) return false;
  return (words.web_page && facts.request_id.empty()) || !facts.stranger.empty();
}

inline errc decide_code(const service::call_identity& call, const service::reply_facts& facts,
                        const service_words& words) noexcept {
  if (is_strange(facts, words)) return errc::internal;
  const errc by_reason = words.xml ? code_of_reason(words.reason) : errc::ok;
  if (facts.ok() && by_reason != errc::ok) return by_reason;
  if (facts.ok()) return words.status == 0 ? errc::unknown : errc_from_http_status(words.status);
  if (by_reason == errc::data_loss || is_checksum_refusal(facts, words)) return errc::data_loss;
  if (facts.status == 412 && call.create_only) return errc::already_exists;
  if (facts.status == 499 && call.session) return errc::not_found;  // it was cancelled
  if (http::classify(facts.status, words.reason) == http::reply_class::throttled) {
    return errc::resource_exhausted;
  }
  return errc_from_http_status(facts.status);
}

inline bool may_succeed_later(const service::reply_facts& facts, std::string_view reason,
                              errc code) noexcept {
  if (facts.ok()) return code == errc::unavailable || code == errc::resource_exhausted;
  const http::reply_class kind = http::classify(facts.status, reason);
  return kind == http::reply_class::transient || kind == http::reply_class::throttled;
}

/// "storage.objects.get" of "... does not have storage.objects.get access ...".
inline std::string_view permission_in(std::string_view message) noexcept {
  for (const std::string_view family : {"storage.objects.", "storage.buckets.",
                                        "storage.multipartUploads.", "serviceusage.services."}) {
    const std::size_t start = message.find(family);
    if (start == std::string_view::npos) continue;
    std::size_t end = start + family.size();
    while (end < message.size() && (message[end] | 0x20) >= 'a' && (message[end] | 0x20) <= 'z') {
      ++end;
    }
    return message.substr(start, end - start);
  }
  return {};
}

inline bool is_missing_bucket(const service::call_identity& call,
                              const service_words& words) noexcept {
  return words.reason == "NoSuchBucket" || call.object.empty() ||
         contains(words.message, "bucket does not exist");
}

/// The source that is not found, of a call that makes an object of others; else the call itself.
inline service::call_identity find_missing(const service::call_identity& call, errc code,
                                           const service_words& words) noexcept {
  if (code != errc::not_found || call.source_bucket.empty() || is_missing_bucket(call, words)) {
    return call;
  }
  service::call_identity missing = call;
  missing.bucket = call.source_bucket;
  if (!call.source.empty()) {
    missing.object = call.source;
    missing.generation = call.source_generation;
    return missing;
  }
  constexpr std::string_view named{"No such object: "};
  std::string_view text = service::trim(words.message);
  if (!text.starts_with(named)) return call;
  text.remove_prefix(named.size());
  if (!text.starts_with(missing.bucket)) return call;
  text.remove_prefix(missing.bucket.size());
  if (text.size() < 2 || text.front() != '/') return call;
  missing.object = text.substr(1);
  return missing;
}

inline std::string advice_for_missing(const service::call_identity& call,
                                      const service_words& words) {
  if (call.session) {
    return "the upload session is over: it was finished, cancelled or older than a week; begin a "
           "new one";
  }
  if (call.verb == "iam.signBlob") return "the service account does not exist";
  if (call.verb == "metadata.email") return "this machine has no such service account";
  if (words.reason == "NoSuchUpload") return "the upload was completed or aborted, or never was";
  if (is_missing_bucket(call, words)) {
    if (!call.source_bucket.empty() && call.source_bucket != call.bucket) {
      return "of the buckets " + std::string{call.source_bucket} + " and " +
             std::string{call.bucket} + " one does not exist: check their names and the endpoint";
    }
    return "the bucket does not exist: check its name and the endpoint";
  }
  if (call.generation != 0) {
    return "this generation is gone: the object was overwritten or deleted, or never was";
  }
  if (words.reason == "NoSuchKey" || contains(words.message, "no such object")) {
    return "the object does not exist";
  }
  return "the object or its bucket does not exist";
}

inline std::string advice_for_forbidden(const service_words& words) {
  const std::string_view permission = permission_in(words.message);
  if (permission.empty()) return "the account may not do this here";
  return "grant the account the permission " + std::string{permission};
}

inline bool only_reads(std::string_view verb) {
  return verb.ends_with(".get") || verb.ends_with(".media") || verb.ends_with(".list");
}

inline std::string advice(const service::call_identity& call, const service::reply_facts& facts,
                          errc code, const service_words& words) {
  if (is_strange(facts, words)) {
    return not_the_service(words.web_page ? "a web page answered"
                                          : std::string{facts.stranger} + " answered");
  }
  if (facts.status >= 300 && facts.status <= 399 && facts.status != 304) {
    return not_the_service("it redirects to " +
                           (facts.redirect.empty() ? "somewhere else" : facts.redirect));
  }
  if (words.reason == "userProjectMissing" || contains(words.message, "requester pays")) {
    return "the bucket's requester pays: set user_project";
  }
  if (contains(words.message, "customer-supplied encryption key") ||
      contains(words.message, "encryption key is incorrect")) {
    return "the object is under another key than the client's encryption_key, or one of them is "
           "under none";
  }
  if (code == errc::data_loss)
    return "nothing was stored: the bytes changed on their way, or the checksum is not theirs";
  if (code == errc::already_exists) return "the object exists already, the call was to create it";
  if (code == errc::resource_exhausted) {
    if (only_reads(call.verb)) return "too many requests: a bucket's rate grows over minutes";
    return "too many requests: at most one write a second to one name, and a bucket's rate grows "
           "over minutes";
  }
  switch (facts.status) {
    case 304:
    case 412:
      return "a condition of the call does not hold: the object is not what was expected";
    case 401:
      return "credentials are missing, expired or of another service: check them";
    case 403:
      return advice_for_forbidden(words);
    case 404:
    case 410:
    case 499:
      return advice_for_missing(call, words);
    case 416:
      return "the range begins beyond the end of the object";
    default:
      return {};
  }
}

/// An envelope has no other member, so that the first one tells.
inline bool is_error_document(bytes_view body) {
  std::string_view text = service::trim(as_text(body));
  if (text.empty()) return false;
  if (text.front() == '<') return codec::parse_xml_error(body).has_value();
  if (text.front() != '{') return false;
  text.remove_prefix(1);
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()))
      .starts_with("\"error\"");
}

DATAFLUX_INLINE std::string not_the_service(std::string_view what) {
  return std::string{"this does not look like Google Cloud Storage: "}.append(what).append(
      "; check the endpoint and any proxy");
}

DATAFLUX_INLINE error cut_or_garbled() {
  return std::move(
      error{errc::internal, "the reply's body is not a JSON object: it is cut or garbled"}
          .with_retryable(true));
}

DATAFLUX_INLINE result<void> check_document(const service::whole_reply& reply,
                                            const service::call_identity& call) {
  const std::string_view start = as_text(reply.body);
  const bool resource = start.starts_with("{\"") && !start.starts_with("{\"error\"");
  if (resource && reply.facts.stranger.empty()) return {};  // nearly always
  if (is_web_page(reply.facts, reply.body)) return parse_error(call, reply.facts, reply.body);
  if (is_error_document(reply.body)) {
    const bool json = service::trim(as_text(reply.body)).front() == '{';
    if (json && !codec::json_document::parse(reply.body)) return cut_or_garbled();
    return parse_error(call, reply.facts, reply.body);
  }
  if (reply.facts.stranger.empty()) return {};
  return error{errc::internal, not_the_service(std::string{reply.facts.stranger} + " answered")};
}

DATAFLUX_INLINE error parse_error(const service::call_identity& call,
                                  const service::reply_facts& facts, bytes_view body,
                                  std::span<const std::string_view> secrets) {
  service_words words =
      service::read_words(facts, body, [](bytes_view json) { return words_of_json(json, 2); });
  // Nothing of what follows may show a secret.
  words.message = codec::without_secrets(std::move(words.message), secrets);
  words.reason = codec::without_secrets(std::move(words.reason), secrets);
  const errc code = gcs::decide_code(call, facts, words);
  const service::call_identity about = find_missing(call, code, words);
  const bool between = !about.source_bucket.empty() && about.source_bucket != about.bucket;
  const service::failure_facts what{.code = code,
                                    .about = about,
                                    .advice = gcs::advice(about, facts, code, words),
                                    .bucket_missing = code == errc::not_found && !about.session &&
                                                      !about.bucket.empty() && !between &&
                                                      is_missing_bucket(about, words),
                                    .retryable = may_succeed_later(facts, words.reason, code)};
  return service::make_error(what, facts, words, secrets);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
