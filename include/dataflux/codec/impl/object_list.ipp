#pragma once

#include <dataflux/codec/detail/decimal.hpp>
#include <dataflux/codec/detail/object_list.hpp>
#include <dataflux/codec/detail/plain_list.hpp>

// json.ipp is the one file that sees simdjson, crc32c.ipp has the text form's inline reader.
#include <dataflux/codec/impl/crc32c.ipp>
#include <dataflux/codec/impl/json.ipp>

#include <cstring>
#include <new>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

enum class list_member : std::uint8_t {
  name,
  size,
  generation,
  crc32c,
  metageneration,
  md5_hash,
  etag,
  content_type,
  content_encoding,
  storage_class,
  time_created,
  updated,
  metadata,
  other,
};

/// How a member is spelled, which optional field asks for it, and where its text goes.
struct list_member_facts {
  std::string_view key;
  object_fields field;
  std::string_view object_list_item::*text;
};
inline constexpr list_member_facts list_members[] = {
    {"name", object_fields::basic, &object_list_item::name},
    {"size", object_fields::basic, nullptr},
    {"generation", object_fields::basic, nullptr},
    {"crc32c", object_fields::basic, nullptr},
    {"metageneration", object_fields::metageneration, nullptr},
    {"md5Hash", object_fields::md5_hash, &object_list_item::md5_hash},
    {"etag", object_fields::etag, &object_list_item::etag},
    {"contentType", object_fields::content_type, &object_list_item::content_type},
    {"contentEncoding", object_fields::content_encoding, &object_list_item::content_encoding},
    {"storageClass", object_fields::storage_class, &object_list_item::storage_class},
    {"timeCreated", object_fields::time_created, &object_list_item::time_created},
    {"updated", object_fields::updated, &object_list_item::updated},
    {"metadata", object_fields::metadata, &object_list_item::metadata},
};

/// True if the raw key at `p` holds an escape: then it may be any member, and no member of an
/// object resource is spelled so.
inline bool is_escaped(const char* p) noexcept {
  while (*p != '"' && *p != '\\') ++p;
  return *p == '\\';
}

inline list_member optional_member(const char* key) noexcept {
  if (is_key(key, "metageneration")) return list_member::metageneration;
  if (is_key(key, "md5Hash")) return list_member::md5_hash;
  if (is_key(key, "etag")) return list_member::etag;
  if (is_key(key, "contentType")) return list_member::content_type;
  if (is_key(key, "contentEncoding")) return list_member::content_encoding;
  if (is_key(key, "storageClass")) return list_member::storage_class;
  if (is_key(key, "timeCreated")) return list_member::time_created;
  if (is_key(key, "updated")) return list_member::updated;
  if (is_key(key, "metadata")) return list_member::metadata;
  return list_member::other;
}

/// A scalar's token without the white space that simdjson leaves behind it.
[[gnu::always_inline]] inline std::string_view scalar_token(
    simdjson::ondemand::value& value) noexcept {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

// On-Demand skips a value that nobody took, but it takes `"x":` for a key then and runs on to the
// end of the parent: in `{"kind":"x":1,"items":[...]}` the items would vanish. So strings are
// always taken, and what is skipped must begin as a value.

[[gnu::always_inline]] inline bool take_string(simdjson::ondemand::value& value) noexcept {
  simdjson::ondemand::raw_json_string taken;
  return value.get_raw_json_string().get(taken) == simdjson::SUCCESS;
}

/// A string's text: in place when nothing is escaped, else in the parser's string buffer.
inline bool read_text(simdjson::ondemand::value& value, std::string_view& out) noexcept {
  const std::string_view token = scalar_token(value);
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return false;
  const std::string_view content = token.substr(1, token.size() - 2);
  if (std::memchr(content.data(), '\\', content.size()) != nullptr) {
    return value.get_string().get(out) == simdjson::SUCCESS;
  }
  out = content;
  return take_string(value);
}

/// A count as a string or as a number; no_count for all else.
inline std::uint64_t read_number(simdjson::ondemand::value& value) noexcept {
  std::string_view token = scalar_token(value);
  if (token.size() > 2 && token.front() == '"' && token.back() == '"') {
    if (!take_string(value)) return no_count;
    token = token.substr(1, token.size() - 2);
  }
  return read_count(token);
}

inline bool read_size(simdjson::ondemand::value& value, std::uint64_t& out) noexcept {
  out = read_number(value);
  return out != no_count;
}

inline bool read_generation(simdjson::ondemand::value& value, std::int64_t& out) noexcept {
  const std::uint64_t count = read_number(value);
  out = static_cast<std::int64_t>(count);
  return count != no_count;
}

inline bool read_crc32c(simdjson::ondemand::value& value,
                        std::optional<std::uint32_t>& out) noexcept {
  const std::string_view token = scalar_token(value);
  if (token.size() == 10 && token.front() == '"' && token.back() == '"') {
    const std::uint64_t crc = read_crc32c_text(token.data() + 1);
    out = static_cast<std::uint32_t>(crc);
    return crc <= 0xFFFFFFFFU && take_string(value);
  }
  std::string_view text;  // perhaps with an escaped '/'
  if (!read_text(value, text)) return false;
  out = decode_crc32c(text);
  return out.has_value();
}

/// An object of strings, as it is written: read once, so that whoever keeps the text can rely
/// on it.
inline bool read_pairs(simdjson::ondemand::value& value, std::string_view& out) noexcept {
  simdjson::ondemand::object pairs;
  if (value.get_object().get(pairs) != simdjson::SUCCESS) return false;
  if (pairs.raw_json().get(out) != simdjson::SUCCESS) return false;
  if (pairs.reset().error() != simdjson::SUCCESS) return false;
  for (auto each : pairs) {
    simdjson::ondemand::field pair;
    std::string_view text;
    if (std::move(each).get(pair) != simdjson::SUCCESS) return false;
    if (pair.unescaped_key().get(text) != simdjson::SUCCESS) return false;
    if (pair.value().get_string().get(text) != simdjson::SUCCESS) return false;
  }
  while (!out.empty() && static_cast<unsigned char>(out.back()) <= ' ') out.remove_suffix(1);
  return !out.empty() && out.back() == '}';
}

inline bool skip(simdjson::ondemand::value& value) noexcept {
  const std::string_view token = value.raw_json_token();
  if (token.empty()) return false;
  if (token.front() == '"') return take_string(value);
  return std::string_view{"{[-0123456789tfn"}.find(token.front()) != std::string_view::npos;
}

/// Whether simdjson found the memory for its unescaped strings, of which it does not tell.
inline bool has_string_memory(simdjson::ondemand::document& document) noexcept {
  struct inside : simdjson::ondemand::document {
    static simdjson::ondemand::json_iterator& of(simdjson::ondemand::document& d) noexcept {
      return d.*(&inside::iter);
    }
  };
  return inside::of(document).string_buf_loc() != nullptr;
}

/// One page on its way to a visitor. Functions give false after they have set `failure`.
class list_reader {
 public:
  list_reader(std::string_view page, object_fields fields, object_list_visitor& visitor) noexcept
      : page_(page), fields_(fields), visitor_(visitor) {}

  result<object_list_end> read(simdjson::ondemand::parser& parser, std::size_t capacity) {
    if (fields_ == object_fields::basic && read_plain_list(page_, visitor_, shown_)) {
      return std::move(shown_);
    }
    simdjson::ondemand::document document;
    const simdjson::error_code code =
        parser.iterate(page_.data(), page_.size(), capacity).get(document);
    if (code == simdjson::MEMALLOC) throw std::bad_alloc();
    if (code == simdjson::SUCCESS && !has_string_memory(document)) throw std::bad_alloc();
    if (code != simdjson::SUCCESS) {
      fail(simdjson::error_message(code), "", nullptr);
      return std::move(*failure_);
    }
    if (!read_page(document)) return std::move(*failure_);
    return std::move(end_);
  }

 private:
  [[gnu::cold]] bool fail(std::string_view what, std::string_view member, const char* where) {
    std::string message{"objects.list reply: "};
    if (!member.empty()) message.append("\"").append(member).append("\": ");
    message.append(what);
    if (where != nullptr && where >= page_.data() && where <= page_.data() + page_.size()) {
      message.append(" at byte ").append(std::to_string(where - page_.data()));
    }
    failure_.emplace(errc::internal, std::move(message)).with_retryable(true);
    return false;
  }
  [[gnu::cold]] bool fail(simdjson::error_code code, std::string_view member,
                          const char* where = nullptr) {
    return fail(simdjson::error_message(code), member, where);
  }

  bool read_page(simdjson::ondemand::document& document) {
    simdjson::ondemand::object object;
    if (const auto code = document.get_object().get(object)) return fail(code, "page");
    unsigned seen = 0;
    for (auto each : object) {
      simdjson::ondemand::field field;
      std::string_view key;
      if (const auto code = std::move(each).get(field)) {
        return fail(code, "page", location(document));
      }
      // Unescaped, unlike an item's: an escaped "items" must not vanish as an unknown key.
      if (const auto code = field.unescaped_key().get(key)) return fail(code, "page");
      const unsigned bit = key == "items"           ? 1
                           : key == "prefixes"      ? 2
                           : key == "nextPageToken" ? 4
                                                    : 0;
      if ((seen & bit) != 0) return fail("repeated", key, location(document));
      seen |= bit;
      const bool good = bit == 1   ? read_items(field.value(), document)
                        : bit == 2 ? read_prefixes(field.value(), document)
                        : bit == 4
                            ? read_token(field.value())
                            : skip(field.value()) || fail("malformed", key, location(document));
      if (!good) return false;
    }
    // Once a document is read to its end, there is no location any more.
    if (location(document) != nullptr)
      return fail("text after the end", "page", location(document));
    return true;
  }

  static const char* location(simdjson::ondemand::document& document) noexcept {
    const char* where = nullptr;
    return document.current_location().get(where) == simdjson::SUCCESS ? where : nullptr;
  }

  bool read_items(simdjson::ondemand::value& value, simdjson::ondemand::document& document) {
    simdjson::ondemand::array array;
    if (const auto code = value.get_array().get(array)) {
      return fail(code, "items", location(document));
    }
    for (auto each : array) {
      simdjson::ondemand::object object;
      if (const auto code = each.get_object().get(object)) {
        return fail(code, "items", location(document));
      }
      if (!read_item(object, document)) return false;
    }
    return true;
  }

  bool read_item(simdjson::ondemand::object& object, simdjson::ondemand::document& document) {
    if (fields_ == object_fields::basic) {
      item_.crc32c.reset();  // the others are required
    } else {
      item_ = {};
    }
    unsigned seen = 0;
    for (auto each : object) {
      if (const auto code = each.error()) return fail(code, "items", location(document));
      // By reference: to copy a field that was just written piece by piece stalls the loads.
      auto&& field = std::move(each).value_unsafe();
      if (!read_field(field, seen)) return false;
    }
    // Left out a size is 0, if the checksum is that of no bytes.
    if (constexpr unsigned sized = 0b010; (seen & sized) == 0 && item_.crc32c == 0U) {
      seen |= sized;
      item_.size = 0;
    }
    constexpr unsigned required = 0b111;
    if ((seen & required) != required || item_.name.empty()) {
      const auto missing = static_cast<unsigned>(std::countr_one(seen & required));
      fail("missing or empty in an item", list_members[missing % 3].key, location(document));
      failure_->with_retryable(false);
      return false;
    }
    if (++end_.objects > shown_.objects) visitor_.on_object(item_);
    return true;
  }

  /// The four members of a projected page by branches that follow its pattern; all else apart.
  bool read_field(simdjson::ondemand::field& field, unsigned& seen) {
    const char* key = field.key().raw();
    bool good = false;
    list_member member = list_member::name;
    if (is_key(key, "name")) {
      good = read_text(field.value(), item_.name);
    } else if (is_key(key, "size")) {
      member = list_member::size;
      good = read_size(field.value(), item_.size);
    } else if (is_key(key, "generation")) {
      member = list_member::generation;
      good = read_generation(field.value(), item_.generation);
    } else if (is_key(key, "crc32c")) {
      member = list_member::crc32c;
      good = read_crc32c(field.value(), item_.crc32c);
    } else {
      return read_other_field(field, seen);
    }
    const unsigned bit = 1U << static_cast<unsigned>(member);
    if (!good || (seen & bit) != 0) return fail_member(good, member, key);
    seen |= bit;
    return true;
  }

  [[gnu::noinline]] bool read_other_field(simdjson::ondemand::field& field, unsigned& seen) {
    const char* key = field.key().raw();
    const list_member member = optional_member(key);
    if (member == list_member::other) {
      if (is_escaped(key)) return fail("escaped key", "items", key);
      return skip(field.value()) || fail("malformed value", "items", key);
    }
    const list_member_facts& facts = list_members[static_cast<unsigned>(member)];
    if (!has(fields_, facts.field)) return skip(field.value()) || fail("malformed", facts.key, key);
    const bool good = facts.text == nullptr ? read_generation(field.value(), item_.metageneration)
                      : member == list_member::metadata
                          ? read_pairs(field.value(), item_.metadata)
                          : read_text(field.value(), item_.*facts.text);
    const unsigned bit = 1U << static_cast<unsigned>(member);
    if (!good || (seen & bit) != 0) return fail_member(good, member, key);
    seen |= bit;
    return true;
  }

  [[gnu::cold]] bool fail_member(bool repeated, list_member member, const char* where) {
    return fail(repeated ? "repeated in an item" : "malformed or out of range",
                list_members[static_cast<unsigned>(member)].key, where);
  }

  bool read_prefixes(simdjson::ondemand::value& value, simdjson::ondemand::document& document) {
    simdjson::ondemand::array array;
    if (const auto code = value.get_array().get(array)) {
      return fail(code, "prefixes", location(document));
    }
    for (auto each : array) {
      simdjson::ondemand::value element;
      std::string_view prefix;
      if (const auto code = std::move(each).get(element)) {
        return fail(code, "prefixes", location(document));
      }
      if (!read_text(element, prefix) || prefix.empty()) {
        return fail("not a string of some length", "prefixes", location(document));
      }
      if (++end_.prefixes > shown_.prefixes) visitor_.on_prefix(prefix);
    }
    return true;
  }

  bool read_token(simdjson::ondemand::value& value) {
    std::string_view token;
    if (!read_text(value, token)) return fail("not a string", "nextPageToken", nullptr);
    end_.next_page_token = token;
    return true;
  }

  std::string_view page_;
  object_fields fields_;
  object_list_visitor& visitor_;
  object_list_item item_{};
  object_list_end end_{};
  object_list_end shown_{};  ///< by read_plain_list(), before it gave up
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

DATAFLUX_INLINE result<object_list_end> parse_object_list(bytes_view bytes, std::size_t capacity,
                                                          object_fields fields,
                                                          object_list_visitor& visitor) {
  static_assert(buffer_slack >= simdjson::SIMDJSON_PADDING);
  parser_lease<simdjson::ondemand::parser> parser;
  const std::string_view page = as_text(bytes);
  if (capacity >= page.size() && capacity - page.size() >= buffer_slack) {
    return list_reader{page, fields, visitor}.read(*parser, capacity);
  }
  const simdjson::padded_string copy{page};
  return list_reader{copy, fields, visitor}.read(*parser, copy.size() + buffer_slack);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
