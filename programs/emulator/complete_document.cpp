#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>
#include <emulator/xml_api.hpp>

#include <pugixml.hpp>

#include <string>

namespace emulator {
namespace {

std::string_view local_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

service_error malformed() {
  return bad_request("MalformedXML",
                     "The XML you provided was not well-formed or did not validate against our "
                     "published schema.");
}

}  // namespace

std::vector<upload_store::listed_part> parse_complete(std::string_view document) {
  pugi::xml_document parsed;
  if (!parsed.load_buffer(document.data(), document.size())) throw malformed();
  const pugi::xml_node root = parsed.document_element();
  if (local_name(root) != "CompleteMultipartUpload") throw malformed();
  std::vector<upload_store::listed_part> out;
  for (const pugi::xml_node& line : root.children()) {
    if (local_name(line) != "Part") throw malformed();
    upload_store::listed_part part{.number = 0, .etag = {}};
    for (const pugi::xml_node& leaf : line.children()) {
      if (local_name(leaf) == "PartNumber") {
        const auto number = parse_integer(leaf.text().get());
        if (!number || *number < 1 || *number > 10000) throw malformed();
        part.number = static_cast<int>(*number);
      } else if (local_name(leaf) == "ETag") {
        part.etag = leaf.text().get();
      } else if (local_name(leaf).starts_with("Checksum")) {
        part.checksum = leaf.text().get();
      }
    }
    if (part.number == 0 || part.etag.empty()) throw malformed();
    out.push_back(std::move(part));
  }
  return out;
}

}  // namespace emulator
