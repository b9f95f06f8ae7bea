#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/download/detail/part_file.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace part_file_test {

namespace {

namespace fs = std::filesystem;
using dataflux::as_bytes;
using dataflux::detail::part_content;
using dataflux::detail::part_file;

const part_content content{.bucket = "bkt",
                           .object = "an object",
                           .generation = 1234567890123,
                           .object_size = 14,
                           .offset = 2,
                           .length = 10,
                           .slice = 4};
constexpr std::string_view bytes = "0123456789";

/// What has ever lain behind the bytes, of which slices 0 and 2 are there: what another version
/// left is gone on with.
constexpr std::string_view version_1 =
    "6466787061727431cb04fb711f0100000e0000000000000002000000000000000a0000000000000004000000000000"
    "00"
    "342eb3ed18786b29"
    "b9623906892ecba5000000000000000094346a64be1c4056";

std::string in_hex(std::string_view text) {
  std::string out;
  for (const char c : text) dataflux::detail::append_hex(out, static_cast<unsigned char>(c), 2);
  return out;
}

std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

fs::path left_in(const temporary_folder& folder) {
  for (const auto& entry : fs::directory_iterator(folder.path)) return entry.path();
  return {};
}

void write_slice(part_file& file, std::size_t i) {
  const auto some = as_bytes(bytes).subspan(content.begin_of(i), content.length_of(i));
  REQUIRE(file.write(i, some, dataflux::crc32c(some)));
}

}  // namespace

TEST_CASE("part_file: what lies behind the bytes is what has always lain there", "[download]") {
  const temporary_folder folder;
  {
    part_file file((folder.path / "f").string(), -1, content);
    REQUIRE(file.open_with_journal());
    CHECK_FALSE(file.verified(0));
    write_slice(file, 0);
    write_slice(file, 2);
    file.keep();
  }
  std::ifstream in(left_in(folder), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(left_in(folder).filename().string().starts_with(".dataflux-part-"));
  CHECK(text.substr(0, 4) == "0123");
  CHECK(in_hex(text.substr(content.length)) == version_1);
}

TEST_CASE("part_file: slices whose records and bytes are right are there", "[download]") {
  const temporary_folder folder;
  {
    part_file file((folder.path / "f").string(), -1, content);
    REQUIRE(file.open_with_journal());
    file.keep();
  }
  const fs::path left = left_in(folder);
  const std::string whole = std::string(bytes) + from_hex(version_1);
  const auto there = [&](const std::string& text) {
    std::ofstream(left, std::ios::binary | std::ios::trunc) << text;
    part_file file((folder.path / "f").string(), -1, content);
    REQUIRE(file.open_with_journal());
    file.keep();
    std::string slices;
    for (std::size_t i = 0; i < content.slices(); ++i) slices += file.verified(i) ? '1' : '0';
    return slices;
  };
  CHECK(there(whole) == "101");
  // The journal of another length, another head, another record, other bytes.
  CHECK(there(whole.substr(0, whole.size() - 1)) == "000");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] ^= 1;
    const std::size_t head = content.length;
    const std::size_t records = head + 56;
    const bool first = i < 4 || (i >= records && i < records + 8);
    const bool last = (i >= 8 && i < head) || i >= records + 16;
    const bool all = i >= head && i < records;
    CHECK(there(changed) == (all ? "000" : first ? "001" : last ? "100" : "101"));
  }
}

}  // namespace part_file_test
