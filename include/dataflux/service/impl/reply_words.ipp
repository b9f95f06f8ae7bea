#pragma once

#include <dataflux/codec/detail/secrets.hpp>
#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/service/detail/printable_text.hpp>
#include <dataflux/service/detail/reply_words.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

inline reply_words words_of_text(std::string_view text) {
  reply_words words;
  words.message = text;
  return words;
}

inline std::optional<reply_words> words_of_xml(bytes_view body) {
  auto found = codec::parse_xml_error(body);
  if (!found) return std::nullopt;
  reply_words words{std::move(found->code), std::move(found->message), 0, true};
  if (!found->details.empty() && found->details != words.message) {
    words.message.append(words.message.empty() ? "" : ": ").append(found->details);
  }
  return words;
}

/// Of a page only the title is worth reading.
inline reply_words words_of_page(std::string_view page) {
  reply_words words;
  words.web_page = true;
  constexpr std::string_view open{"<title>"};
  const std::size_t start = find_ignoring_case(page, open);
  if (start != std::string_view::npos) {
    const std::string_view title = page.substr(start + open.size());
    const std::size_t end = find_ignoring_case(title, "</title>");
    if (end != std::string_view::npos) words.message = trim(title.substr(0, end));
  }
  return words;
}

DATAFLUX_INLINE reply_words read_words(const reply_facts& facts, bytes_view body, json_words json) {
  const std::string_view text = trim(as_text(body));
  if (text.empty()) return {};
  if (!facts.content_encoding.empty() &&
      !http::equals_ignoring_case(facts.content_encoding, "identity")) {
    return words_of_text("the reply's text is compressed (" + facts.content_encoding + ")");
  }
  if (is_web_page(facts, body)) return words_of_page(text);
  if (text.front() == '{' && json != nullptr) {
    if (auto words = json(as_bytes(text))) return *std::move(words);
  }
  if (text.front() == '<') {
    if (auto words = words_of_xml(as_bytes(text))) return *std::move(words);
  }
  return words_of_text(text);
}

DATAFLUX_INLINE bool is_web_page(const reply_facts& facts, bytes_view body) noexcept {
  const std::string_view text = trim(as_text(body));
  if (starts_with_ignoring_case(text, "<!doctype html") ||
      starts_with_ignoring_case(text, "<html")) {
    return true;
  }
  // The service sends plain-text errors as text/html, too: the type alone says nothing.
  return starts_with_ignoring_case(facts.content_type, "text/html") && text.starts_with('<') &&
         !text.starts_with("<?xml") && !text.starts_with("<Error");
}

DATAFLUX_INLINE error make_error(const failure_facts& what, const reply_facts& facts,
                                 const reply_words& words,
                                 std::span<const std::string_view> secrets) {
  const std::string said = codec::without_secrets(words.message, secrets);
  const std::string reason = codec::without_secrets(words.reason, secrets);
  const std::string request_id = codec::without_secrets(facts.request_id, secrets);
  std::string message = printable_text(said);
  if (message.empty()) message = "HTTP " + std::to_string(facts.status) + " without a word";
  if (!what.advice.empty()) message.append(" (").append(what.advice).append(")");
  const call_identity& about = what.about;
  error e{what.code, std::move(message)};
  e.with_http_status(facts.status).with_verb(about.verb).with_bucket(about.bucket);
  e.with_object(about.object).with_generation(about.generation);
  e.with_reason(printable_text(reason, 200)).with_request_id(printable_text(request_id, 200));
  e.with_bucket_missing(what.bucket_missing);
  e.with_retryable(what.retryable).with_retry_after(facts.retry_after);
  return e;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
