#include <dataflux/bytes.hpp>
#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>
#include <dataflux/checkpoint/member_record.hpp>

#include <fuzz/require.hpp>
#include <fuzz/set_manifest_fuzz.hpp>

#include <string>

namespace {

/// Every text has one meaning, and every meaning one text.
void check_record(const dataflux::member_record& record) {
  require(dataflux::validate(record).has_value());
  const std::string text = to_text(record);
  require(text.find('\n') == std::string::npos);
  const auto again = dataflux::parse_member_record(text);
  require(again && to_text(*again) == text && again->parts.size() == record.parts.size());
}

}  // namespace

void fuzz_set_manifest(std::span<const std::byte> input) {
  const std::string_view text = dataflux::as_text(input);
  if (const auto record = dataflux::parse_member_record(text)) check_record(*record);
  if (const auto manifest = dataflux::detail::decode_set_manifest(text)) {
    for (const auto& member : manifest->members) check_record(member);
    const std::string written = encode(*manifest);
    const auto again = dataflux::detail::decode_set_manifest(written);
    require(again && encode(*again) == written);
  }
  if (const auto mark = dataflux::detail::find_mark(text)) {
    require(dataflux::detail::is_manifest_name(mark->manifest));
    const auto again = dataflux::detail::find_mark(to_metadata(*mark));
    require(again && again->manifest_crc32c == mark->manifest_crc32c);
  }
  static_cast<void>(dataflux::validate_member_name(text));
}
