#pragma once

#include <dataflux/ais/detail/error_reply.hpp>
#include <dataflux/ais/detail/object_state.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/secrets.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/service/detail/reply_words.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

inline constexpr std::string_view wrong_checksum{"ErrBadCksum"};

/// One field of a head; of those that are repeated the first counts.
inline void take_fact(std::string_view name, std::string_view value, reply_facts& out) {
  const auto first = [&](std::string_view known, std::string& text) {
    if (text.empty() && http::equals_ignoring_case(name, known)) {
      service::set_header_text(text, value);
    }
  };
  first("date", out.date);
  first("content-type", out.content_type);
  first("content-encoding", out.content_encoding);
  if (http::equals_ignoring_case(name, "x-guploader-uploadid")) {
    out.stranger = "Google Cloud Storage";
  }
  if (http::equals_ignoring_case(name, "x-amz-request-id")) out.stranger = "an S3 server";
  if (http::equals_ignoring_case(name, "retry-after")) {
    const std::uint64_t wait = http::parse_decimal(value).value_or(0);
    out.retry_after = std::chrono::seconds{std::min<std::uint64_t>(wait, 3600)};
  }
}

DATAFLUX_INLINE void gather_facts(const http::reply_head& head, reply_facts& out) {
  for (std::string* text : {&out.content_type, &out.content_encoding, &out.request_id, &out.etag,
                            &out.redirect, &out.location, &out.date, &out.region}) {
    text->clear();
  }
  out.status = head.status();
  out.stranger = {};
  out.retry_after = {};
  out.metageneration = 0;
  for (const auto& field : head.fields()) take_fact(field.name, field.value, out);
  const object_state told = object_state::of(head);
  out.etag = told.text();
  out.generation = told.lasting_generation();
  if (out.status >= 300 && out.status <= 399) {
    out.location = head.find("location").value_or(std::string_view{});
    std::string location = out.location;
    out.redirect = service::origin_in(location);
  }
  out.crc32c = checksum_of(told).transform([](const told_checksum& t) { return t.crc32c; });
}

DATAFLUX_INLINE http::reply_class classify(int status, std::string_view reason) noexcept {
  if (reason == wrong_checksum) return http::reply_class::final;
  return http::classify(status, reason);
}

inline std::optional<service::reply_words> words_of_json(bytes_view body) {
  const auto document = codec::json_document::parse(body);
  if (!document || document->root().kind() != codec::json_kind::object) return std::nullopt;
  service::reply_words words;
  words.reason = document->root().find("tcode").text().value_or(std::string_view{});
  words.message = document->root().find("message").to_string();
  if (words.reason.empty() && words.message.empty()) return std::nullopt;
  return words;
}

/// What answers is no AIStore, unless it is something before it in an outage.
inline bool is_strange(const reply_facts& facts, const service::reply_words& words) noexcept {
  if (facts.status >= 500 || facts.status == 408 || facts.status == 429) return false;
  return words.web_page || !facts.stranger.empty();
}

inline bool is_redirect(int status) noexcept {
  return status == 301 || status == 302 || status == 307 || status == 308;
}

inline errc decide_code(const reply_facts& facts, const service::reply_words& words,
                        http::reply_class repeat) noexcept {
  if (is_strange(facts, words)) return errc::internal;
  if (words.reason == wrong_checksum) return errc::data_loss;
  if (words.reason == "ErrUnsupp") return errc::unimplemented;
  if (is_redirect(facts.status)) return errc::failed_precondition;
  if (repeat == http::reply_class::throttled) return errc::resource_exhausted;
  return errc_from_http_status(facts.status);
}

inline std::string advice(const call_identity& call, const reply_facts& facts,
                          const service::reply_words& words) {
  if (is_strange(facts, words)) {
    return not_the_service(words.web_page ? "a web page answered"
                                          : std::string{facts.stranger} + " answered");
  }
  if (words.reason == wrong_checksum) {
    return "nothing was stored: the bytes changed on their way";
  }
  if (is_redirect(facts.status)) {
    if (facts.redirect.empty()) return not_the_service("it redirects to nowhere");
    return "it redirects to " + facts.redirect +
           ", in a way that is not followed: twice, or to what is no URL";
  }
  switch (facts.status) {
    case 401:
    case 403:
      return "set AIS_AUTHN_TOKEN, or AIS_AUTHN_TOKEN_FILE: `ais auth login` writes that file. A "
             "token goes in the clear to this machine alone";
    case 404:
      return call.object.empty() || words.reason == "ErrBckNotFound"
                 ? "the bucket does not exist: check its name, its provider and the endpoint"
                 : "the object or its bucket does not exist";
    default:
      return {};
  }
}

DATAFLUX_INLINE error parse_error(const call_identity& call, const reply_facts& facts,
                                  bytes_view body, std::span<const std::string_view> secrets) {
  service::reply_words words = service::read_words(facts, body, &words_of_json);
  words.reason = codec::without_secrets(std::move(words.reason), secrets);
  const auto repeat = classify(facts.status, words.reason);
  const errc code = decide_code(facts, words, repeat);
  const service::failure_facts what{
      .code = code,
      .about = call,
      .advice = advice(call, facts, words),
      .bucket_missing = code == errc::not_found && !call.bucket.empty() &&
                        (words.reason == "ErrBckNotFound" || call.object.empty()),
      .retryable =
          repeat == http::reply_class::transient || repeat == http::reply_class::throttled};
  return service::make_error(what, facts, words, secrets);
}

DATAFLUX_INLINE std::string not_the_service(std::string_view what) {
  return std::string{"this does not look like AIStore: "}.append(what).append(
      "; check the endpoint and any proxy");
}

DATAFLUX_INLINE std::optional<http::url> redirect_of(const reply_facts& facts) {
  if (!is_redirect(facts.status)) return std::nullopt;
  auto url = http::parse_url(facts.location);
  if (!url) return std::nullopt;
  url->origin.direct = url->origin.is_loopback();
  return *std::move(url);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
