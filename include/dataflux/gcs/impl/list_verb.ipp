#pragma once

#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/object_list.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/list_verb.hpp>
#include <dataflux/gcs/detail/target.hpp>
#include <dataflux/service/detail/broken_page.hpp>
#include <dataflux/store/resumable.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

inline std::uint32_t entries_of(const list_page_request& r) noexcept {
  return r.max_results == 0 ? greatest_page : std::min(r.max_results, greatest_page);
}

/// Takes a page into columns. Only the first fault is kept: a visitor cannot stop the pass, and
/// what comes behind a fault does not matter.
class page_reader : public codec::object_list_visitor {
 public:
  page_reader(const list_page_request& asked, list_page& page) : asked_(asked), page_(page) {}

  void on_object(const codec::object_list_item& item) override {
    check_place(item);
    page_.objects.append(item.name, item.size, item.generation, item.crc32c);
  }

  void on_prefix(std::string_view prefix) override {
    check(!asked_.delimiter.empty(), "prefix", prefix, "came without a delimiter");
    check(prefix.starts_with(asked_.prefix), "prefix", prefix, "lacks the prefix asked for");
    check(page_.prefixes.empty() || page_.prefixes.back() < prefix, "prefix", prefix,
          "is not behind the one before");
    page_.prefixes.emplace_back(prefix);
  }

  /// The first fault of the whole page, or nothing.
  std::optional<error> finish() {
    if (!page_.objects.empty()) {
      const std::string_view last = page_.objects.last_name();
      check(last.starts_with(asked_.prefix), "object", last, "lacks the prefix");
      check(asked_.end_offset.empty() || last < asked_.end_offset, "object", last,
            "is not before end_offset");
    }
    check(asked_.page_token.empty() || page_.next_page_token != asked_.page_token, "the page", {},
          "does not advance: it names itself as the next");
    return fault_.first();
  }

 protected:
  void check_place(const codec::object_list_item& item) {
    check(item.size <= greatest_object_size, "object", item.name, "has more bytes than any object");
    // Names ascend, so that the first and the last stand for all between.
    if (page_.objects.empty()) {
      check(item.name >= asked_.start_offset, "object", item.name, "is before start_offset");
      check(item.name.starts_with(asked_.prefix), "object", item.name, "lacks the prefix");
    } else {
      check(item.name > page_.objects.last_name() || is_next_version(item), "object", item.name,
            "is not behind the one before");
    }
  }

  void check(bool holds, std::string_view what, std::string_view name, std::string_view rule) {
    fault_.check(holds, what, name, rule);
  }

  const list_page_request& asked_;
  list_page& page_;

 private:
  bool is_next_version(const codec::object_list_item& item) const {
    const object_columns& kept = page_.objects;
    return asked_.versions && item.name == kept.last_name() &&
           item.generation > kept.generation(kept.size() - 1);
  }

  service::page_fault fault_{};
};

/// Takes the extra columns along. A class of its own, so that a page without them costs nothing.
class extra_page_reader final : public page_reader {
 public:
  using page_reader::page_reader;

  void on_object(const codec::object_list_item& item) override {
    check_place(item);
    object_extras extras{.content_type = item.content_type,
                         .storage_class = item.storage_class,
                         .metadata = item.metadata};
    take_md5(item, extras.md5);
    extras.created = parse_timestamp(item.time_created);
    extras.updated = parse_timestamp(item.updated);
    page_.objects.append({item.name, item.size, item.generation, item.crc32c}, extras);
  }

 private:
  void take_md5(const codec::object_list_item& item,
                std::optional<std::array<std::byte, 16>>& out) {
    if (item.md5_hash.empty()) return;
    const auto digest = codec::decode_base64(item.md5_hash);
    const bool good = digest && digest->size() == 16;
    check(good, "md5Hash of", item.name, "is malformed");
    if (good) std::memcpy(out.emplace().data(), digest->data(), 16);
  }
};

/// How the service calls an extra column, and what reads it.
struct extra_member {
  std::string_view name;
  codec::object_fields field;
};
inline constexpr std::array<extra_member, extra_column_count> extra_members{
    {{"md5Hash", codec::object_fields::md5_hash},
     {"timeCreated", codec::object_fields::time_created},
     {"updated", codec::object_fields::updated},
     {"contentType", codec::object_fields::content_type},
     {"storageClass", codec::object_fields::storage_class},
     {"metadata", codec::object_fields::metadata}}};

/// Without nextPageToken among the fields paging would silently stop after one page.
inline void add_projection(target_writer& target, extra_columns extra) {
  if (extra == extra_columns::none) {
    target.raw("fields=nextPageToken%2Cprefixes%2Citems%28name%2Csize%2Cgeneration%2Ccrc32c%29");
    return;
  }
  std::string fields{"fields=nextPageToken%2Cprefixes%2Citems%28name%2Csize%2Cgeneration%2Ccrc32c"};
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    if (has(extra, extra_column(k))) fields.append("%2C").append(extra_members[k].name);
  }
  target.raw(fields.append("%29"));
}

inline codec::object_fields members_of(extra_columns extra) noexcept {
  auto fields = codec::object_fields::basic;
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    if (has(extra, extra_column(k))) fields = fields | extra_members[k].field;
  }
  return fields;
}

template <class Reader>
result<list_page> read_list_page(const list_page_request& r, const service::whole_reply& reply) {
  list_page page{.objects = object_columns{r.extra}};
  page.objects.reserve(entries_of(r));
  Reader reader{r, page};
  auto end = codec::parse_object_list(reply.body, reply.capacity, members_of(r.extra), reader);
  if (!end) return std::move(end).error();
  page.next_page_token = std::move(end->next_page_token);
  page.served = service::time_of(reply.facts);
  if (page.objects.size() < greatest_page / 2) page.objects.shrink_to_fit();
  if (auto fault = reader.finish()) return *std::move(fault);
  return page;
}

DATAFLUX_INLINE void list_verb::build(const call_context& context, const request& r, const state&,
                                      http::request& out) {
  begin(context, http::method::get, out);
  target_writer target{out};
  target.json_path(context.endpoint.json_buckets(), r.bucket).raw("prettyPrint=false");
  add_projection(target, r.extra);
  target.number("maxResults", entries_of(r))
      .optional_text("prefix", r.prefix)
      .optional_text("delimiter", r.delimiter)
      .optional_text("startOffset", r.start_offset)
      .optional_text("endOffset", r.end_offset);
  if (r.include_trailing_delimiter) target.raw("includeTrailingDelimiter=true");
  target.optional_text("matchGlob", r.match_glob);
  if (r.versions) target.raw("versions=true");
  target.optional_text("pageToken", r.page_token);
  bill_json(context, target, out);
}

DATAFLUX_INLINE result<list_page> list_verb::parse(const request& r, const state&,
                                                   const service::whole_reply& reply) {
  if (auto fit = check_document(reply, identity(r)); !fit) return std::move(fit).error();
  return r.extra == extra_columns::none ? read_list_page<page_reader>(r, reply)
                                        : read_list_page<extra_page_reader>(r, reply);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
