#pragma once

#include <dataflux/codec/detail/glob.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/codec/detail/time_within.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/s3/detail/entity_tag.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/list_page.hpp>
#include <dataflux/service/detail/broken_page.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// A page token is one of these and the text.
inline constexpr char behind_name = 'n';
inline constexpr char by_token = 't';

DATAFLUX_INLINE result<page_start> start_of(const list_page_request& r) {
  page_start out;
  out.floor = r.start_offset;
  if (!r.delimiter.empty() && out.floor.starts_with(r.prefix)) {
    const std::size_t fold = out.floor.find(r.delimiter, r.prefix.size());
    if (fold != std::string::npos) out.floor.resize(fold + r.delimiter.size());
  }
  if (r.page_token.empty()) {
    if (out.floor > r.prefix) out.after = just_before(out.floor);
    return out;
  }
  const char kind = r.page_token.front();
  if (r.page_token.size() < 2 || (kind != behind_name && kind != by_token)) {
    return error{errc::invalid_argument, "page_token: is of no listing of this store"};
  }
  (kind == behind_name ? out.after : out.token) = r.page_token.substr(1);
  return out;
}

/// Takes the entries of a page, of both kinds, and keeps the first fault.
class page_reader {
 public:
  page_reader(const list_page_request& asked, page_start from, list_page& page)
      : asked_(asked), from_(std::move(from)), page_(page) {
    if (!asked.match_glob.empty()) glob_.emplace(asked.match_glob);
  }

  void read(const codec::xml_element& root) {
    coded_ = root.child_text("EncodingType") == "url";
    for (const codec::xml_element& entry : root.children()) {
      const std::string_view kind = entry.local_name();
      if (kind == "Contents") take_object(entry);
      if (kind == "CommonPrefixes") take_prefix(entry);
    }
    go_on(root);
  }
  const std::optional<error>& fault() const noexcept { return fault_.first(); }

 private:
  void check(bool holds, std::string_view what, std::string_view name, std::string_view rule) {
    fault_.check(holds, what, name, rule);
  }

  std::string name_in(const codec::xml_element& entry, std::string_view child) {
    const auto text = entry.child_text(child);
    auto name = text && coded_ ? codec::decode_form(*text) : text;
    check(name && !name->empty() && codec::is_valid_utf8(*name), "entry", text.value_or(""),
          "has no name that can be read");
    return name ? *std::move(name) : std::string{};
  }

  /// False for what is outside of the range asked for, or was told before.
  bool is_wanted(std::string_view what, const std::string& name, std::string& last) {
    check(name.starts_with(asked_.prefix), what, name, "lacks the prefix asked for");
    check(last.empty() || last < name, what, name, "is not behind the one before");
    last = name;
    if (!asked_.end_offset.empty() && name >= asked_.end_offset) {
      ended_ = true;
      return false;
    }
    return name >= from_.floor && (from_.after.empty() || name > from_.after);
  }

  void take_object(const codec::xml_element& entry) {
    std::string name = name_in(entry, "Key");
    const std::string size_text = entry.child_text("Size").value_or("");
    const auto size = http::parse_decimal(size_text);
    check(size && *size <= greatest_object, "object", name, "has no size that can be");
    if (!is_wanted("object", name, last_name_) || fault_) return;
    if (glob_ && !glob_->matches(name)) return;
    const std::string etag = entry.child_text("ETag").value_or("");
    const std::string storage_class = entry.child_text("StorageClass").value_or("");
    object_extras extras{.storage_class = storage_class};
    extras.updated = codec::parse_time_within(entry.child_text("LastModified").value_or(""));
    extras.created = extras.updated;
    page_.objects.append({name, *size, generation_of(etag), std::nullopt}, extras);
    if (asked_.etags) page_.etags.push_back(etag);
  }

  void take_prefix(const codec::xml_element& entry) {
    std::string name = name_in(entry, "Prefix");
    check(!asked_.delimiter.empty(), "prefix", name, "came without a delimiter");
    if (is_wanted("prefix", name, last_prefix_)) page_.prefixes.push_back(std::move(name));
  }

  void go_on(const codec::xml_element& root) {
    const std::string truncated = root.child_text("IsTruncated").value_or("");
    check(truncated == "true" || truncated == "false", "IsTruncated", truncated, "is neither");
    if (truncated != "true" || ended_) return;
    const std::string token = root.child_text("NextContinuationToken").value_or("");
    const std::string& last = std::max(last_name_, last_prefix_);
    const bool named = !last.empty() && (asked_.delimiter.empty() || token.empty());
    if (named) {
      page_.next_page_token = behind_name + last;
    } else if (!token.empty()) {
      page_.next_page_token = by_token + token;
    }
    check(!page_.next_page_token.empty(), "the page", {}, "is not the last, but names no next one");
    check(page_.next_page_token != asked_.page_token, named ? "the page to" : "the page of token",
          named ? last : token,
          named ? "comes again where its next is asked for: the server ignores start-after"
                : "names itself as the next");
  }

  const list_page_request& asked_;
  const page_start from_;
  std::optional<codec::glob> glob_{};
  list_page& page_;
  bool coded_{false};
  bool ended_{false};
  std::string last_name_{};
  std::string last_prefix_{};
  service::page_fault fault_{};
};

DATAFLUX_INLINE result<list_page> read_list_page(const list_page_request& r,
                                                 const whole_reply& reply,
                                                 const call_identity& call) {
  auto from = start_of(r);
  if (!from) return std::move(from).error();
  const auto document = parse_document(reply, "ListBucketResult", call);
  if (!document) return document.error();
  list_page page{.objects = object_columns{r.extra}};
  page.objects.reserve(entries_of(r));
  page_reader reader{r, *std::move(from), page};
  reader.read(document->root());
  if (reader.fault()) return *reader.fault();
  page.served = service::time_of(reply.facts);
  if (page.objects.size() < greatest_page / 2) page.objects.shrink_to_fit();
  return page;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
