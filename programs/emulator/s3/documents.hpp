#pragma once

#include <emulator/content.hpp>
#include <emulator/s3/object_facts.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The documents that S3's clients send. All readers throw 400 MalformedXML.
namespace emulator::s3 {

struct doomed_object {
  std::string key{};
  std::string version{};  ///< empty: the current one
  std::string etag{};     ///< empty: no condition
};
struct delete_document {
  std::vector<doomed_object> objects{};
  bool quiet{false};
};
/// At most 1,000 objects.
delete_document parse_delete(std::string_view text);

tag_list parse_tagging(std::string_view text);

/// The text of the leaf at that path below the root, such as "Rule/ApplyDefault"; empty: absent.
/// The document may be empty, which has no leaf.
std::string leaf_of(std::string_view text, std::string_view root, std::string_view path);

}  // namespace emulator::s3
