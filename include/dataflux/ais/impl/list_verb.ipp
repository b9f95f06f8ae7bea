#pragma once

#include <dataflux/ais/detail/error_reply.hpp>
#include <dataflux/ais/detail/list_verb.hpp>
#include <dataflux/ais/detail/object_state.hpp>
#include <dataflux/ais/detail/target.hpp>
#include <dataflux/codec/detail/glob.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/service/detail/broken_page.hpp>
#include <dataflux/service/detail/just_before.hpp>
#include <dataflux/service/detail/reply_words.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// A page token is this and the last name of the page before, or the last prefix that was folded.
inline constexpr char behind_name = 'n';
inline constexpr char behind_prefix = 'p';

/// Names that begin with `prefix` are before it, but for some that the page drops.
inline std::string behind_all_of(std::string prefix) {
  return std::move(prefix.append("\xF4\x8F\xBF\xBF"));  // U+10FFFF
}

/// Where a page begins.
struct page_start {
  std::string after{};   ///< start_after
  std::string floor{};   ///< names before it are dropped
  std::string folded{};  ///< names that begin with it are, too: the page before has told it
};

inline page_start start_of(const list_page_request& r) {
  page_start out{.floor = r.start_offset};
  if (!r.delimiter.empty() && out.floor.starts_with(r.prefix)) {
    const std::size_t fold = out.floor.find(r.delimiter, r.prefix.size());
    if (fold != std::string::npos) out.floor.resize(fold + r.delimiter.size());
  }
  if (r.page_token.empty()) {
    if (out.floor > r.prefix) out.after = service::just_before(out.floor);
  } else if (r.page_token.front() == behind_prefix) {
    out.folded = r.page_token.substr(1);
    out.after = behind_all_of(out.folded);
  } else {
    out.after = r.page_token.substr(1);
  }
  return out;
}

DATAFLUX_INLINE result<void> list_verb::check(const call_context& context, const request& r) {
  if (context.provider != "ais") {
    return error{
        errc::unimplemented,
        "provider: AIStore lists the buckets of others by its own page tokens alone, which "
        "are not supported; list such a bucket by gs:// or s3://"};
  }
  if (auto known = check_etl(r.prefix); !known) return known;
  const auto lacks = [](std::string_view what) {
    return error{errc::unimplemented,
                 std::string{what}.append(": AIStore's listing does not know it")};
  };
  if (!r.match_glob.empty() && !r.delimiter.empty()) return lacks("match_glob with a delimiter");
  if (r.versions) return lacks("versions");
  if (r.include_trailing_delimiter && !r.delimiter.empty()) {
    return lacks("include_trailing_delimiter");
  }
  if (r.page_token.empty()) return {};
  const char kind = r.page_token.front();
  const bool folds = kind == behind_prefix && !r.delimiter.empty();
  if (r.page_token.size() > 1 && (kind == behind_name || folds)) return {};
  return error{errc::invalid_argument, "page_token: is of no listing of this store"};
}

DATAFLUX_INLINE void list_verb::prepare(const request& r, const call_id&, state& s) {
  s.document.clear();
  codec::json_writer w{std::move(s.document)};
  w.begin_object().key("action").string("list").key("value").begin_object();
  w.key("prefix").string(r.prefix).key("props").string("name,size,checksum,version");
  w.key("flags").string("0").key("pagesize");
  w.natural(r.max_results == 0 ? greatest_page : r.max_results);
  w.key("start_after").string(start_of(r).after).end_object().end_object();
  s.document = std::move(w).take();
}

DATAFLUX_INLINE void list_verb::build(const call_context& context, const request& r, const state& s,
                                      http::request& out) {
  begin(context, http::method::get, r.bucket, {}, out);
  out.headers.add("Content-Type", "application/json");
  out.body.append(as_bytes(s.document));
}

/// Takes the entries of a page, and keeps the first fault.
class page_reader {
 public:
  page_reader(const list_page_request& asked, list_page& page)
      : asked_(asked), from_(start_of(asked)), page_(page) {
    if (!asked.match_glob.empty()) glob_.emplace(asked.match_glob);
  }

  void read(const codec::json_value& root) {
    for (const codec::json_value& entry : root.find("entries").elements()) take(entry);
    const auto token = root.find("continuation_token").text();
    check(root.kind() == codec::json_kind::object && token.has_value(), "the page", {},
          "does not say whether it is the last");
    if (fault_ || ended_ || token->empty()) return;
    check(!last_.empty(), "the page", {}, "is not the last, but has no names");
    check(last_ > from_.after, "the page", last_, "is not the last, but goes no further");
    const bool folded = !folded_.empty() && last_.starts_with(folded_);
    page_.next_page_token = folded ? behind_prefix + folded_ : behind_name + last_;
    check(page_.next_page_token != asked_.page_token, "the page", {}, "names itself as the next");
  }
  const std::optional<error>& fault() const noexcept { return fault_.first(); }

 private:
  void check(bool holds, std::string_view what, std::string_view name, std::string_view rule) {
    fault_.check(holds, what, name, rule);
  }

  void take(const codec::json_value& entry) {
    const std::string_view name = entry.find("name").text().value_or("");
    // What is empty is left out.
    const codec::json_value told = entry.find("size");
    const auto size = told ? told.uint64() : std::uint64_t{0};
    check(!name.empty(), "entry", name, "has no name");
    check(size && *size <= greatest_object, "object", name, "has no size that can be");
    check(name.starts_with(asked_.prefix), "object", name, "lacks the prefix asked for");
    check(last_.empty() || last_ < name, "object", name, "is not behind the one before");
    if (fault_) return;
    last_ = name;
    ended_ = ended_ || (!asked_.end_offset.empty() && name >= asked_.end_offset);
    const bool told_before = !from_.folded.empty() && name.starts_with(from_.folded);
    if (ended_ || name < from_.floor || told_before) return;
    if (!from_.after.empty() && name <= from_.after) return;
    if (fold(name) || (glob_ && !glob_->matches(name))) return;
    page_.objects.append(name, *size, generation_of(entry), std::nullopt);
  }

  /// True for a name that is a part of a prefix.
  bool fold(std::string_view name) {
    if (asked_.delimiter.empty()) return false;
    const std::size_t at = name.find(asked_.delimiter, asked_.prefix.size());
    if (at == std::string_view::npos) return false;
    const std::string_view prefix = name.substr(0, at + asked_.delimiter.size());
    if (prefix != folded_) {
      folded_ = prefix;
      page_.prefixes.emplace_back(prefix);
    }
    return true;
  }

  static std::int64_t generation_of(const codec::json_value& entry) {
    const object_state told{
        entry.find("version").text().value_or(""), {}, entry.find("checksum").text().value_or("")};
    return told.lasting_generation();
  }

  const list_page_request& asked_;
  const page_start from_;
  list_page& page_;
  std::optional<codec::glob> glob_{};
  bool ended_{false};
  std::string last_{};
  std::string folded_{};
  service::page_fault fault_{};
};

DATAFLUX_INLINE result<list_page> list_verb::parse(const request& r, const state&,
                                                   const whole_reply& reply) {
  const auto document = codec::json_document::parse(reply.body);
  if (!document) {
    if (service::is_web_page(reply.facts, reply.body) || !reply.facts.stranger.empty()) {
      return parse_error(identity(r), reply.facts, reply.body);
    }
    return std::move(
        error{errc::internal, "the listing's page is no JSON: it is cut or garbled"}.with_retryable(
            true));
  }
  list_page page{.objects = object_columns{r.extra}};
  page_reader reader{r, page};
  reader.read(document->root());
  if (reader.fault()) return *reader.fault();
  page.served = service::time_of(reply.facts);
  page.objects.shrink_to_fit();
  return page;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
