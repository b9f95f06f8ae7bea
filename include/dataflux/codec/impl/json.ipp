#pragma once

#include <dataflux/codec/detail/json.hpp>

// simdjson up to 3.1 shows each source its code for every kind of processor, of which a source
// needs the one that it is compiled for; the library that is linked has them all, and chooses at
// run time.
#if !defined(__SSE4_2__)
#if !defined(SIMDJSON_IMPLEMENTATION_ICELAKE)
#define SIMDJSON_IMPLEMENTATION_ICELAKE 0
#endif
#if !defined(SIMDJSON_IMPLEMENTATION_HASWELL)
#define SIMDJSON_IMPLEMENTATION_HASWELL 0
#endif
#if !defined(SIMDJSON_IMPLEMENTATION_WESTMERE)
#define SIMDJSON_IMPLEMENTATION_WESTMERE 0
#endif
#endif
#include <simdjson.h>

#include <bit>
#include <charconv>
#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// A parser of the calling thread, whose scratch memory outlives the call. It is taken out of its
/// slot meanwhile, so that a nested call makes one of its own.
template <class Parser>
class parser_lease {
 public:
  parser_lease() : parser_(std::move(slot())) {
    if (parser_ == nullptr) parser_ = std::make_unique<Parser>();
  }
  parser_lease(const parser_lease&) = delete;
  parser_lease& operator=(const parser_lease&) = delete;
  /// One that was short of memory is half made, and does not know it.
  ~parser_lease() {
    const bool whole = std::uncaught_exceptions() == thrown_;
    if (whole && parser_->capacity() <= keep_limit) slot() = std::move(parser_);
  }
  Parser& operator*() noexcept { return *parser_; }
  Parser* operator->() noexcept { return parser_.get(); }

 private:
  /// One huge document must not hold its memory for the life of the thread.
  static constexpr std::size_t keep_limit = std::size_t{8} << 20;

  static std::unique_ptr<Parser>& slot() {
    thread_local std::unique_ptr<Parser> kept;
    return kept;
  }
  const int thrown_{std::uncaught_exceptions()};
  std::unique_ptr<Parser> parser_;
};

// A value's handle is simdjson's own, without its name: both are a pointer and an index.
using json_handle = std::array<std::uintptr_t, 2>;
static_assert(sizeof(simdjson::dom::element) == sizeof(json_handle));
static_assert(std::is_trivially_copyable_v<simdjson::dom::element>);

inline simdjson::dom::element element_of(const json_handle& handle) noexcept {
  return std::bit_cast<simdjson::dom::element>(handle);
}
inline json_handle handle_of(const simdjson::dom::element& element) noexcept {
  return std::bit_cast<json_handle>(element);
}

struct json_document::tape {
  simdjson::dom::document document{};
  json_value root{};
};

DATAFLUX_INLINE json_document::json_document(std::unique_ptr<tape> parsed) noexcept
    : tape_(std::move(parsed)) {}
DATAFLUX_INLINE json_document::json_document(json_document&& other) noexcept = default;
DATAFLUX_INLINE json_document& json_document::operator=(json_document&& other) noexcept = default;
DATAFLUX_INLINE json_document::~json_document() = default;

DATAFLUX_INLINE json_value json_document::root() const noexcept { return tape_->root; }

DATAFLUX_INLINE result<json_document> json_document::parse(bytes_view bytes) {
  if (bytes.size() > max_size) {
    return error{errc::invalid_argument, "JSON document is longer than 16 MiB"};
  }
  // simdjson copies even an empty input, whose pointer may be null.
  const std::string_view text = bytes.empty() ? std::string_view{""} : as_text(bytes);
  auto parsed = std::make_unique<tape>();
  parser_lease<simdjson::dom::parser> parser;
  simdjson::dom::element root;
  // simdjson copies the text behind its own padding, and the document keeps nothing of the parser.
  const simdjson::error_code code =
      parser->parse_into_document(parsed->document, text.data(), text.size()).get(root);
  if (code == simdjson::MEMALLOC) throw std::bad_alloc();
  if (code != simdjson::SUCCESS) {
    return error{errc::invalid_argument,
                 std::string{"malformed JSON: "}.append(simdjson::error_message(code))};
  }
  parsed->root = json_value{handle_of(root)};
  return json_document{std::move(parsed)};
}

DATAFLUX_INLINE json_kind json_value::kind() const noexcept {
  if (!*this) return json_kind::absent;
  switch (element_of(handle_).type()) {
    case simdjson::dom::element_type::ARRAY:
      return json_kind::array;
    case simdjson::dom::element_type::OBJECT:
      return json_kind::object;
    case simdjson::dom::element_type::STRING:
      return json_kind::string;
    case simdjson::dom::element_type::BOOL:
      return json_kind::boolean;
    case simdjson::dom::element_type::NULL_VALUE:
      return json_kind::null;
    default:
      return json_kind::number;
  }
}

DATAFLUX_INLINE json_value json_value::find(std::string_view key) const noexcept {
  simdjson::dom::object object;
  simdjson::dom::element found;
  if (!*this || element_of(handle_).get_object().get(object) != simdjson::SUCCESS ||
      object.at_key(key).get(found) != simdjson::SUCCESS) {
    return {};
  }
  return json_value{handle_of(found)};
}

DATAFLUX_INLINE std::optional<std::string_view> json_value::text() const noexcept {
  std::string_view text;
  if (!*this || element_of(handle_).get_string().get(text) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return text;
}

DATAFLUX_INLINE std::optional<bool> json_value::boolean() const noexcept {
  bool value = false;
  if (!*this || element_of(handle_).get_bool().get(value) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return value;
}

template <class T>
std::optional<T> json_value::integer() const noexcept {
  if (!*this) return std::nullopt;
  T value{};
  if (element_of(handle_).get<T>().get(value) == simdjson::SUCCESS) return value;
  const std::optional<std::string_view> digits = text();
  if (!digits) return std::nullopt;
  const char* end = digits->data() + digits->size();
  const auto [stop, code] = std::from_chars(digits->data(), end, value);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return value;
}

DATAFLUX_INLINE std::optional<std::int64_t> json_value::int64() const noexcept {
  return integer<std::int64_t>();
}
DATAFLUX_INLINE std::optional<std::uint64_t> json_value::uint64() const noexcept {
  return integer<std::uint64_t>();
}

DATAFLUX_INLINE std::vector<json_value> json_value::elements() const {
  std::vector<json_value> out;
  simdjson::dom::array array;
  if (!*this || element_of(handle_).get_array().get(array) != simdjson::SUCCESS) return out;
  out.reserve(array.size());
  for (const simdjson::dom::element element : array) {
    out.push_back(json_value{handle_of(element)});
  }
  return out;
}

DATAFLUX_INLINE std::vector<json_member> json_value::members() const {
  std::vector<json_member> out;
  simdjson::dom::object object;
  if (!*this || element_of(handle_).get_object().get(object) != simdjson::SUCCESS) {
    return out;
  }
  out.reserve(object.size());
  for (const simdjson::dom::key_value_pair member : object) {
    out.push_back({member.key, json_value{handle_of(member.value)}});
  }
  return out;
}

DATAFLUX_INLINE std::string json_value::to_string() const {
  if (!*this) return {};
  if (const std::optional<std::string_view> plain = text()) return std::string{*plain};
  return simdjson::minify(element_of(handle_));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
