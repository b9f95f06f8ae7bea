#include <dataflux/codec/detail/json.hpp>
#include <dataflux/shard/detail/sample_name.hpp>

#include <support/catch.hpp>
#include <support/vector_file.hpp>

#include <algorithm>
#include <cstddef>
#include <regex>
#include <string>
#include <string_view>

namespace sample_name_test {

using dataflux::as_bytes;
using dataflux::detail::codec::json_document;
using namespace dataflux::detail::shard;

inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

TEST_CASE("split_name: each name of the table is read as webdataset reads it", "[shard]") {
  const auto table = json_document::parse(as_bytes(vector_file("tar/names.json"))).value();
  const auto rows = table.root().elements();
  REQUIRE(rows.size() == 53);
  for (const auto& row : rows) {
    const std::string_view name = row.find("name").text().value();
    INFO(name);
    const sample_name parts = split_name(name);
    // Energon's column is webdataset's pattern and its rules of what is skipped, in one.
    const auto wanted = row.find("energon").elements();
    REQUIRE((parts.kind == membership::sample) == !wanted.empty());
    if (wanted.empty()) {
      CHECK(row.find("webdataset_samples").elements().empty());
      CHECK(parts.key.empty());
      continue;
    }
    CHECK(parts.key == wanted[0].text());
    CHECK(parts.field == wanted[1].text());
    const auto samples = row.find("webdataset_samples").elements();
    if (samples.empty() || !is_ascii(parts.field)) continue;
    std::string memory;
    const auto members = samples.at(0).members();
    REQUIRE(members.size() == 2);
    CHECK(members[1].key == lower_field(parts.field, memory));
  }
}

TEST_CASE("split_name: a reason says why a name is in no sample", "[shard]") {
  for (const std::string_view name :
       {"__meta__", "__", "___", "__a.b__", "__dir__/a.jpg", "____/a.jpg", "__a__\n", "__a__/"}) {
    INFO(name);
    CHECK(split_name(name).kind == membership::hidden);
  }
  for (const std::string_view name :
       {"", ".", "README", ".hidden", "a.d/b", "a.d/.b", "/", "./.a"}) {
    INFO(name);
    CHECK(split_name(name).kind == membership::no_field);
  }
  for (const std::string_view name :
       {"__/a.jpg", "___/a.jpg", "__a/b.jpg", "x/__a__", "__a__\nb.jpg"}) {
    INFO(name);
    CHECK(split_name(name).kind != membership::hidden);
  }
}

/// What the patterns say that webdataset gives to Python; ECMAScript's `.` leaves out the line
/// break, too, and its `$` is the end alone.
inline sample_name by_pattern(const std::string& name) {
  static const std::regex pattern("((?:.*/|)[^.]+)[.]([^/]*)");
  static const std::regex hidden("__[^/]*__(\n?|/[\\s\\S]*)");
  std::smatch match;
  const bool alone =
      name.find('/') == std::string::npos && name.starts_with("__") && name.ends_with("__");
  if (alone || std::regex_match(name, hidden)) return {{}, {}, membership::hidden};
  if (!std::regex_match(name, match, pattern)) return {{}, {}, membership::no_field};
  const std::string_view whole{name};
  const auto key = static_cast<std::size_t>(match.length(1));
  return {whole.substr(0, key), whole.substr(key + 1), membership::sample};
}

TEST_CASE("split_name: every short name is read as the pattern reads it", "[shard]") {
  constexpr std::string_view letters{"a./_\n"};
  std::size_t bad = 0;
  for (std::size_t size = 0; size <= 6; ++size) {
    std::size_t count = 1;
    for (std::size_t i = 0; i < size; ++i) count *= letters.size();
    for (std::size_t code = 0; code < count; ++code) {
      std::string name;
      for (std::size_t rest = code, i = 0; i < size; ++i, rest /= letters.size()) {
        name += letters[rest % letters.size()];
      }
      const sample_name parts = split_name(name);
      const sample_name wanted = by_pattern(name);
      if (parts.kind == wanted.kind && parts.key == wanted.key && parts.field == wanted.field) {
        continue;
      }
      if (++bad == 1) CHECK(name == "is read otherwise");
    }
  }
  CHECK(bad == 0);
}

TEST_CASE("lower_field: ASCII alone is changed, and a copy is made where it is", "[shard]") {
  std::string memory;
  const std::string_view plain{"seg.png"};
  CHECK(lower_field(plain, memory).data() == plain.data());
  CHECK(lower_field("JpEG", memory) == "jpeg");
  CHECK(lower_field("@[`{Z", memory) == "@[`{z");
  CHECK(lower_field("\xc4\xb0.JPG", memory) == "\xc4\xb0.JPG");
  CHECK(lower_field("\xe9", memory) == "\xe9");
  CHECK(lower_field("", memory).empty());
}

}  // namespace sample_name_test
