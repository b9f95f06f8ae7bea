#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/codec/detail/xml.hpp>

#include <fuzz/require.hpp>
#include <fuzz/xml_fuzz.hpp>

namespace codec = dataflux::detail::codec;

namespace {

void walk(const codec::xml_element& root) {
  std::vector<codec::xml_element> open{root};
  while (!open.empty()) {
    const codec::xml_element element = open.back();
    open.pop_back();
    require(codec::is_valid_utf8(element.local_name()) && codec::is_valid_utf8(element.text()));
    for (const auto& child : element.children()) {
      require(static_cast<bool>(element.child(child.local_name())));
      require(!element.children(child.local_name()).empty());
      open.push_back(child);
    }
  }
}

void check_etag(std::string_view etag) {
  const codec::completed_part part{7, etag};
  const auto body = codec::write_complete_request({&part, 1});
  if (!body || !codec::is_valid_utf8(etag)) return;
  const auto document = codec::xml_document::parse(dataflux::as_bytes(*body));
  require(document.has_value());
  require(document->root().child("Part").child_text("ETag") == etag);
}

}  // namespace

void fuzz_xml(std::span<const std::byte> input) {
  const auto document = codec::xml_document::parse(input);
  if (document) walk(document->root());
  const std::string_view root = document ? document->root().local_name() : "";
  require(codec::parse_xml_error(input).has_value() == (root == "Error"));
  const auto upload = codec::parse_initiate_result(input);
  require(!upload || (root == "InitiateMultipartUploadResult" && !upload->empty()));
  const auto complete = codec::parse_complete_result(input);
  require(complete.has_value() == (root == "CompleteMultipartUploadResult"));
  check_etag(dataflux::as_text(input));
}
