#include <emulator/s3/documents.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/v4.hpp>

#include <pugixml.hpp>

namespace emulator::s3 {
namespace {

std::string_view bare_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

pugi::xml_node child_of(const pugi::xml_node& node, std::string_view name) {
  for (const pugi::xml_node& each : node.children()) {
    if (bare_name(each) == name) return each;
  }
  return {};
}

std::string text_in(const pugi::xml_node& node, std::string_view name) {
  return child_of(node, name).text().get();
}

pugi::xml_node load(pugi::xml_document& into, std::string_view text, std::string_view root) {
  // A key may be blank, or end so.
  constexpr unsigned flags = pugi::parse_default | pugi::parse_ws_pcdata_single;
  if (!into.load_buffer(text.data(), text.size(), flags)) throw malformed_xml();
  const pugi::xml_node top = into.document_element();
  if (bare_name(top) != root) throw malformed_xml();
  return top;
}

}  // namespace

delete_document parse_delete(std::string_view text) {
  pugi::xml_document parsed;
  const pugi::xml_node root = load(parsed, text, "Delete");
  delete_document out;
  for (const pugi::xml_node& each : root.children()) {
    if (each.type() != pugi::node_element) continue;
    if (bare_name(each) == "Quiet") out.quiet = std::string_view{each.text().get()} == "true";
    if (bare_name(each) != "Object") continue;
    doomed_object line{.key = text_in(each, "Key"),
                       .version = text_in(each, "VersionId"),
                       .etag = text_in(each, "ETag")};
    if (line.key.empty()) throw malformed_xml();
    out.objects.push_back(std::move(line));
  }
  if (out.objects.empty() || out.objects.size() > 1000) throw malformed_xml();
  return out;
}

tag_list parse_tagging(std::string_view text) {
  pugi::xml_document parsed;
  const pugi::xml_node set = child_of(load(parsed, text, "Tagging"), "TagSet");
  if (!set) throw malformed_xml();
  tag_list out;
  for (const pugi::xml_node& each : set.children()) {
    if (bare_name(each) == "Tag") out.emplace_back(text_in(each, "Key"), text_in(each, "Value"));
  }
  return out;
}

std::string leaf_of(std::string_view text, std::string_view root, std::string_view path) {
  if (text.empty()) return {};
  pugi::xml_document parsed;
  pugi::xml_node at = load(parsed, text, root);
  for (const std::string& name : split(path, '/')) at = child_of(at, name);
  return at.text().get();
}

}  // namespace emulator::s3
