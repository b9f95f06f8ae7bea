#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/part_number.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/detail/hexadecimal.hpp>

#include <pugixml.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <new>
#include <system_error>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

inline pugi::xml_node node_of(void* node) noexcept {
  return pugi::xml_node{static_cast<pugi::xml_node_struct*>(node)};
}

inline std::string_view local_name_of(const pugi::xml_node& node) noexcept {
  const std::string_view name{node.name()};
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

inline bool is_element(const pugi::xml_node& node) noexcept {
  return node.type() == pugi::node_element;
}

/// True if the number after "&#" at the front of `text` is one that XML lets a document name.
/// pugixml takes any: a NUL would cut its strings short, a surrogate make them ill-formed.
inline bool is_character_reference(std::string_view text) noexcept {
  text.remove_prefix(2);
  int base = 10;
  if (!text.empty() && text.front() == 'x') {
    base = 16;
    text.remove_prefix(1);
  }
  std::uint32_t value = 0;
  std::size_t digits = 0;
  for (const char c : text) {
    const int digit = hex_value(c);
    if (digit < 0 || digit >= base) {
      return c == ';' && digits > 0 && value != 0 && (value >> 11) != 0x1B;
    }
    value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit);
    ++digits;
    if (value > 0x10FFFF) return false;
  }
  return false;
}

inline error xml_parse_error(std::string_view what, std::size_t offset) {
  std::string message{"malformed XML: "};
  message.append(what).append(" at byte ").append(std::to_string(offset));
  return {errc::invalid_argument, std::move(message)};
}

/// What pugixml takes on trust.
inline result<void> check_xml_text(std::string_view text) {
  if (text.size() > xml_document::max_size) {
    return error{errc::invalid_argument, "XML document is longer than 8 MiB"};
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return xml_parse_error("NUL character", nul);
  }
  if (!is_valid_utf8(text)) return error{errc::invalid_argument, "malformed XML: not UTF-8"};
  for (std::size_t at = text.find("&#"); at != std::string_view::npos;
       at = text.find("&#", at + 2)) {
    if (!is_character_reference(text.substr(at))) return xml_parse_error("character reference", at);
  }
  return {};
}

struct xml_document::tree {
  pugi::xml_document document{};
};

DATAFLUX_INLINE xml_document::xml_document(std::unique_ptr<tree> parsed) noexcept
    : tree_(std::move(parsed)) {}
DATAFLUX_INLINE xml_document::xml_document(xml_document&& other) noexcept = default;
DATAFLUX_INLINE xml_document& xml_document::operator=(xml_document&& other) noexcept = default;
DATAFLUX_INLINE xml_document::~xml_document() = default;

DATAFLUX_INLINE result<xml_document> xml_document::parse(bytes_view bytes) {
  const std::string_view text = as_text(bytes);
  if (result<void> good = check_xml_text(text); !good) return std::move(good).error();
  auto parsed = std::make_unique<tree>();
  // White space is kept, since it may be all of an object's name.
  const pugi::xml_parse_result outcome = parsed->document.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_ws_pcdata, pugi::encoding_utf8);
  if (outcome.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!outcome) {
    return xml_parse_error(outcome.description(),
                           static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, outcome.offset)));
  }
  const auto top = parsed->document.children();
  if (std::count_if(top.begin(), top.end(), is_element) != 1) {
    return error{errc::invalid_argument, "malformed XML: more than one root element"};
  }
  return xml_document{std::move(parsed)};
}

DATAFLUX_INLINE xml_element xml_document::root() const noexcept {
  return xml_element{tree_->document.document_element().internal_object()};
}

DATAFLUX_INLINE std::string_view xml_element::local_name() const noexcept {
  return local_name_of(node_of(node_));
}

DATAFLUX_INLINE std::string xml_element::text() const {
  std::string out;
  for (const pugi::xml_node& node : node_of(node_).children()) {
    if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) out += node.value();
  }
  return out;
}

DATAFLUX_INLINE xml_element xml_element::child(std::string_view name) const noexcept {
  for (const pugi::xml_node& node : node_of(node_).children()) {
    if (is_element(node) && local_name_of(node) == name) {
      return xml_element{node.internal_object()};
    }
  }
  return {};
}

DATAFLUX_INLINE std::optional<std::string> xml_element::child_text(std::string_view name) const {
  const xml_element found = child(name);
  if (!found) return std::nullopt;
  return found.text();
}

DATAFLUX_INLINE std::vector<xml_element> xml_element::children() const {
  std::vector<xml_element> out;
  for (const pugi::xml_node& node : node_of(node_).children()) {
    if (is_element(node)) out.push_back(xml_element{node.internal_object()});
  }
  return out;
}

DATAFLUX_INLINE std::vector<xml_element> xml_element::children(std::string_view name) const {
  std::vector<xml_element> out = children();
  std::erase_if(out, [name](const xml_element& e) { return e.local_name() != name; });
  return out;
}

inline xml_error read_xml_error(const xml_element& root) {
  return {root.child_text("Code").value_or(""), root.child_text("Message").value_or(""),
          root.child_text("Details").value_or("")};
}

/// The reply whose root must be `name`; `<Error>` and every other document become errors.
inline result<xml_document> parse_xml_reply(bytes_view body, std::string_view name) {
  result<xml_document> document = xml_document::parse(body);
  if (!document) {
    return error{errc::internal,
                 std::string{name}.append(" expected: ").append(document.error().message())};
  }
  const xml_element root = document->root();
  if (root.local_name() == name) return document;
  if (root.local_name() != "Error") {
    return error{
        errc::internal,
        std::string{name}.append(" expected, not ").append(root.local_name().substr(0, 64))};
  }
  xml_error reported = read_xml_error(root);
  error failure{errc::unknown, reported.message.empty() ? reported.code : reported.message};
  failure.with_reason(reported.code);
  return failure;
}

DATAFLUX_INLINE void append_xml_text(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\r':
        out += "&#13;";
        break;
      default:
        out += c;
    }
  }
}

DATAFLUX_INLINE std::optional<xml_error> parse_xml_error(bytes_view body) {
  const result<xml_document> document = xml_document::parse(body);
  if (!document || document->root().local_name() != "Error") return std::nullopt;
  return read_xml_error(document->root());
}

DATAFLUX_INLINE result<std::string> parse_initiate_result(bytes_view body) {
  result<xml_document> document = parse_xml_reply(body, "InitiateMultipartUploadResult");
  if (!document) return std::move(document).error();
  std::string id = document->root().child_text("UploadId").value_or("");
  if (id.empty()) {
    return error{errc::internal, "InitiateMultipartUploadResult without an UploadId"};
  }
  return id;
}

DATAFLUX_INLINE complete_result read_complete_result(const xml_element& root) {
  const auto text = [&root](std::string_view name) { return root.child_text(name).value_or(""); };
  return {text("Location"), text("Bucket"),         text("Key"),
          text("ETag"),     text("ChecksumCRC32C"), text("ChecksumType")};
}

DATAFLUX_INLINE result<complete_result> parse_complete_result(bytes_view body) {
  result<xml_document> document = parse_xml_reply(body, "CompleteMultipartUploadResult");
  if (!document) return std::move(document).error();
  return read_complete_result(document->root());
}

/// Reads the children of an element, each of the type that is asked for; good() tells in the end.
class xml_reader {
 public:
  explicit xml_reader(const xml_element& of) noexcept : of_(of) {}

  template <class Integer>
  Integer number(std::string_view name, bool required) {
    const auto text = of_.child_text(name);
    Integer value{0};
    if (!text || text->empty()) return check(!required), value;
    const char* const last = text->data() + text->size();
    const auto [end, failure] = std::from_chars(text->data(), last, value);
    check(failure == std::errc{} && end == last);
    return value;
  }
  std::string text(std::string_view name, bool required) {
    std::string value = of_.child_text(name).value_or("");
    check(!required || !value.empty());
    return value;
  }
  /// Absent when empty. Nobody lists for the sake of a time, but a malformed one is suspicious.
  std::optional<timestamp> time(std::string_view name) {
    const auto text = of_.child_text(name);
    if (!text || text->empty()) return std::nullopt;
    const auto value = parse_timestamp(*text);
    check(value.has_value());
    return value;
  }
  bool truth(std::string_view name) {
    const std::string value = text(name, false);
    check(value.empty() || value == "true" || value == "false");
    return value == "true";
  }
  bool good() const noexcept { return good_; }

 private:
  void check(bool holds) noexcept { good_ = good_ && holds; }
  const xml_element& of_;
  bool good_{true};
};

inline error malformed_member(std::string_view of) {
  return {errc::internal, std::string{of}.append(" with a member that is missing or malformed")};
}

DATAFLUX_INLINE result<list_parts_result> parse_list_parts_result(bytes_view body) {
  constexpr std::string_view name{"ListPartsResult"};
  const result<xml_document> document = parse_xml_reply(body, name);
  if (!document) return document.error();
  const xml_element root = document->root();
  xml_reader page{root};
  list_parts_result out;
  out.truncated = page.truth("IsTruncated");
  out.next_marker = page.number<std::uint32_t>("NextPartNumberMarker", false);
  bool good = page.good();
  for (const xml_element& entry : root.children("Part")) {
    xml_reader in{entry};
    listed_part part;
    part.number = in.number<std::uint32_t>("PartNumber", true);
    part.size = in.number<std::uint64_t>("Size", true);
    part.etag = in.text("ETag", true);
    part.modified = in.time("LastModified");
    good = good && in.good() && part.number != 0;
    out.parts.push_back(std::move(part));
  }
  if (!good) return malformed_member(name);
  return out;
}

DATAFLUX_INLINE result<list_uploads_result> parse_list_uploads_result(bytes_view body) {
  constexpr std::string_view name{"ListMultipartUploadsResult"};
  const result<xml_document> document = parse_xml_reply(body, name);
  if (!document) return document.error();
  const xml_element root = document->root();
  xml_reader page{root};
  list_uploads_result out;
  out.truncated = page.truth("IsTruncated");
  out.next_key_marker = page.text("NextKeyMarker", out.truncated);
  out.next_upload_id_marker = page.text("NextUploadIdMarker", false);
  out.encoding = page.text("EncodingType", false);
  bool good = page.good();
  for (const xml_element& entry : root.children("Upload")) {
    xml_reader in{entry};
    listed_upload upload;
    upload.key = in.text("Key", true);
    upload.upload_id = in.text("UploadId", true);
    upload.storage_class = in.text("StorageClass", false);
    upload.initiated = in.time("Initiated");
    good = good && in.good();
    out.uploads.push_back(std::move(upload));
  }
  if (!good) return malformed_member(name);
  return out;
}

DATAFLUX_INLINE result<std::string> write_complete_request(std::span<const completed_part> parts) {
  if (parts.empty()) return error{errc::invalid_argument, "a multipart upload without parts"};
  std::string out{"<CompleteMultipartUpload>"};
  std::int32_t last = 0;
  for (const completed_part& part : parts) {
    if (part.number <= last || part.number > static_cast<std::int32_t>(greatest_part_number)) {
      return error{errc::invalid_argument, "part number " + std::to_string(part.number) +
                                               " does not ascend within 1 to " +
                                               std::to_string(greatest_part_number)};
    }
    last = part.number;
    const bool printable = std::none_of(part.etag.begin(), part.etag.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20;
    });
    if (part.etag.empty() || !printable) {
      return error{errc::invalid_argument,
                   "empty or unprintable ETag of part " + std::to_string(part.number)};
    }
    out.append("<Part><PartNumber>").append(std::to_string(part.number));
    out.append("</PartNumber><ETag>");
    append_xml_text(out, part.etag);
    out.append("</ETag>");
    if (part.crc32c) {
      out.append("<ChecksumCRC32C>").append(encode_crc32c(*part.crc32c).view());
      out.append("</ChecksumCRC32C>");
    }
    out.append("</Part>");
  }
  out.append("</CompleteMultipartUpload>");
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
