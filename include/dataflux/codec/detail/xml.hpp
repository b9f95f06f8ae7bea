#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The documents of the XML API (protocol.md 2). Elements are matched by their local names: the
/// service declares S3's namespace, sometimes with a prefix, and its fakes often do not.
///
/// No DTD is read and no entity expanded but the five of XML and character references, so that a
/// document cannot grow while it is read.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// One element of a document, borrowed: valid for as long as the xml_document lives (moving the
/// document is fine). Trivial to copy. Reads are thread-safe.
class xml_element {
 public:
  /// An absent element: no name, no text, no children.
  xml_element() noexcept = default;
  explicit operator bool() const noexcept { return node_ != nullptr; }

  /// The name without its namespace prefix; lives as long as the document.
  std::string_view local_name() const noexcept;
  /// The text directly inside, PCDATA and CDATA, to the byte; line ends as '\n', as XML has it.
  std::string text() const;
  /// The first child element of that local name; absent if there is none.
  xml_element child(std::string_view name) const noexcept;
  /// child(name).text(); nullopt if there is no such child.
  std::optional<std::string> child_text(std::string_view name) const;
  /// The child elements, or those of one local name, in the document's order.
  std::vector<xml_element> children() const;
  std::vector<xml_element> children(std::string_view name) const;

 private:
  friend class xml_document;
  explicit xml_element(void* node) noexcept : node_(node) {}
  void* node_{nullptr};
};

/// A parsed document. Movable; owns all that its elements point into.
class xml_document {
 public:
  /// Longest document accepted: a page of 1,000 parts or uploads is far below.
  static constexpr std::size_t max_size = std::size_t{8} << 20;

  /// Reads a whole document in UTF-8. `bytes` is copied and may go once the call returns. Neither
  /// reading nor destroying recurses, so that nesting is bounded by `max_size` alone.
  ///
  /// Errors: invalid_argument, saying what is wrong and mostly at which byte. Thread-safe. Cost:
  /// linear time; memory of some ten times the document.
  static result<xml_document> parse(bytes_view bytes);

  xml_document(xml_document&& other) noexcept;
  xml_document& operator=(xml_document&& other) noexcept;
  ~xml_document();

  /// The document's element; never absent.
  xml_element root() const noexcept;

 private:
  struct tree;
  explicit xml_document(std::unique_ptr<tree> parsed) noexcept;
  std::unique_ptr<tree> tree_;
};

/// `<Error>`: the service's failure report, in the body of a failed call.
struct xml_error {
  std::string code{};     ///< such as "NoSuchUpload"
  std::string message{};  ///< for a person
  std::string details{};  ///< may be empty
};
/// nullopt if the body is not such a document: error bodies may also be plain text or JSON
/// (protocol.md 1.2).
std::optional<xml_error> parse_xml_error(bytes_view body);

/// The UploadId of `<InitiateMultipartUploadResult>`. Errors: as parse_complete_result().
result<std::string> parse_initiate_result(bytes_view body);

/// `<CompleteMultipartUploadResult>`; members are empty where the document has none.
struct complete_result {
  std::string location{};
  std::string bucket{};
  std::string key{};
  std::string etag{};
  std::string crc32c{};         ///< base64, of parts with "-N" behind it
  std::string checksum_type{};  ///< such as "FULL_OBJECT"
};
/// Never trust the status of a complete call alone: an `<Error>` in a reply of 200 is an error.
/// Errors: `unknown` with the reason set for an `<Error>`; `internal` for any other document.
result<complete_result> parse_complete_result(bytes_view body);
/// The same of an element that has been found.
complete_result read_complete_result(const xml_element& root);

struct listed_part {
  std::uint32_t number{0};  ///< never 0
  std::uint64_t size{0};
  std::string etag{};  ///< with its quotes
  std::optional<timestamp> modified{};
};
/// `<ListPartsResult>`. Errors, here and below: as parse_complete_result(), and `internal` for a
/// page whose members are missing or malformed.
struct list_parts_result {
  std::vector<listed_part> parts{};
  bool truncated{false};
  std::uint32_t next_marker{0};  ///< 0 when the page gives none
};
result<list_parts_result> parse_list_parts_result(bytes_view body);

struct listed_upload {
  std::string key{};  ///< neither this nor upload_id is empty
  std::string upload_id{};
  std::string storage_class{};
  std::optional<timestamp> initiated{};
};
/// `<ListMultipartUploadsResult>`.
struct list_uploads_result {
  std::vector<listed_upload> uploads{};
  bool truncated{false};
  std::string next_key_marker{};
  std::string next_upload_id_marker{};
  /// "url": keys and the key marker are coded as forms are.
  std::string encoding{};
};
result<list_uploads_result> parse_list_uploads_result(bytes_view body);

/// Appends a text of an element, with its '&', '<', '>' and line ends escaped.
void append_xml_text(std::string& out, std::string_view text);

/// A part that was uploaded: its number and its ETag as the header gave it, quotes included.
struct completed_part {
  std::int32_t number{0};  ///< 1 to 10,000
  std::string_view etag{};
  /// Said in its own element where there is one.
  std::optional<std::uint32_t> crc32c{};
};
/// The body of a complete call: parts as given, with the quotes of an ETag written raw (the service
/// compares them so) and the rest escaped. Errors: invalid_argument for no part, numbers that do
/// not strictly ascend within 1 to 10,000, and ETags that are empty or hold control characters.
result<std::string> write_complete_request(std::span<const completed_part> parts);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/xml.ipp>
#endif
