#include <emulator/digest.hpp>
#include <emulator/s3/object_facts.hpp>
#include <emulator/v4.hpp>

namespace emulator::s3 {

const object_facts& facts_of(const stored_object& object) noexcept {
  static const object_facts none{};
  return object.s3_facts ? *object.s3_facts : none;
}

std::string etag_of(const stored_object& object) {
  const object_facts& facts = facts_of(object);
  return facts.etag.empty() ? hex_encode(object.md5()) : facts.etag;
}

bool names_etag(std::string_view condition, const stored_object& object) {
  const std::string etag = etag_of(object);
  for (const std::string& each : split(condition, ',')) {
    std::string_view text = trim(each);
    if (text == "*") return true;
    if (text.starts_with("W/")) text.remove_prefix(2);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
      text = text.substr(1, text.size() - 2);
    }
    if (text == etag) return true;
  }
  return false;
}

std::string version_id_of(const stored_object& object) {
  if (!is_versioned(object)) return "null";
  return base64url_encode(md5("version " + std::to_string(object.generation)));
}

bool is_marker(const stored_object& object) noexcept { return facts_of(object).marker; }
bool is_versioned(const stored_object& object) noexcept { return facts_of(object).versioned; }

std::shared_ptr<const object_facts> with_version(const object_facts& facts, bool versioned) {
  auto out = std::make_shared<object_facts>(facts);
  out->versioned = versioned;
  return out;
}

}  // namespace emulator::s3
