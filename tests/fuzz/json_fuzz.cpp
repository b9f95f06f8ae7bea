#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/plain_json.hpp>
#include <dataflux/codec/detail/utf8.hpp>

#include <fuzz/json_fuzz.hpp>
#include <fuzz/require.hpp>

namespace codec = dataflux::detail::codec;
using codec::json_kind;

namespace {

void check_value(const codec::json_value& value) {
  const json_kind kind = value.kind();
  require(value && kind != json_kind::absent);
  require(value.text().has_value() == (kind == json_kind::string));
  require(value.boolean().has_value() == (kind == json_kind::boolean));
  if (const auto text = value.text()) require(codec::is_valid_utf8(*text));
  const auto number = value.int64();
  // A string may hold "-0", which no unsigned integer is spelled as.
  if (number && *number > 0) require(value.uint64() == static_cast<std::uint64_t>(*number));
  require(kind == json_kind::object || value.members().empty());
  require(kind == json_kind::array || value.elements().empty());
}

void walk(const codec::json_value& root) {
  std::vector<codec::json_value> open{root};
  while (!open.empty()) {
    const codec::json_value value = open.back();
    open.pop_back();
    check_value(value);
    for (const auto& element : value.elements()) open.push_back(element);
    for (const auto& [key, member] : value.members()) {
      require(static_cast<bool>(value.find(key)));
      open.push_back(member);
    }
  }
}

/// What is read plainly is what json_document reads.
void check_plain(std::string_view text) {
  if (!codec::is_valid_utf8(text)) return;
  codec::plain_reader whole{text};
  while (whole.next()) continue;
  if (!whole.complete() || whole.rest().find_first_not_of(" \t\r\n") != std::string_view::npos)
    return;
  const auto document = codec::json_document::parse(dataflux::as_bytes(text));
  require(document && document->root().kind() == json_kind::object);
  std::vector<codec::json_member> left = document->root().members();
  std::vector<codec::json_member> inner;
  std::size_t at = 0, inner_at = 0;
  codec::plain_reader in{text};
  while (in.next()) {
    if (in.parent().empty()) inner.clear(), inner_at = 0;
    const auto& other = in.parent().empty() ? left.at(at++) : inner.at(inner_at++);
    require(in.key() == other.key && in.value().kind() == other.value.kind());
    require(in.value().text() == other.value.text() && in.value().int64() == other.value.int64());
    if (in.value().kind() == json_kind::object) inner = other.value.members();
  }
  require(at == left.size());
}

}  // namespace

void fuzz_json(std::span<const std::byte> input) {
  if (const auto document = codec::json_document::parse(input)) {
    walk(document->root());
    if (document->root().kind() != json_kind::string) {
      const std::string compact = document->root().to_string();
      const auto again = codec::json_document::parse(dataflux::as_bytes(compact));
      require(again && again->root().to_string() == compact);
    }
  }
  const std::string_view text = dataflux::as_text(input);
  check_plain(text);
  codec::json_writer writer;
  writer.begin_object().key(text).string(text).end_object();
  const auto written = codec::json_document::parse(dataflux::as_bytes(writer.text()));
  require(written.has_value() == codec::is_valid_utf8(text));
  if (written) require(written->root().find(text).text() == text);
}
