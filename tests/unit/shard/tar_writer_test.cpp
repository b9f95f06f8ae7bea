#include <dataflux/shard/detail/tar_reader.hpp>
#include <dataflux/shard/detail/tar_writer.hpp>

#include <support/catch.hpp>
#include <support/tar_bytes.hpp>
#include <support/tar_play.hpp>

#include <string>

namespace tar_writer_test {

using dataflux::as_bytes;
using dataflux::detail::shard::append_tar_header;
using dataflux::detail::shard::parse_tar_header;
using dataflux::detail::shard::tar_reader;

namespace {

std::string header_of(const std::string& name, std::uint64_t size) {
  std::string out;
  append_tar_header(out, name, size);
  return out;
}

/// The one member of which these are the headers, as a reader takes them.
std::pair<std::string, std::uint64_t> read_back(const std::string& headers) {
  tar_reader reader;
  auto rest = as_bytes(headers);
  while (!rest.empty()) {
    const auto step = reader.next(rest);
    REQUIRE(step);
    rest = rest.subspan(step->consumed);
    if (step->event == dataflux::detail::shard::tar_event::file) {
      CHECK(rest.empty());
      CHECK(reader.member().begin == 0);
      return {std::string(reader.member().name), reader.member().size};
    }
  }
  return {};
}

}  // namespace

TEST_CASE("tar_writer: a header is what tar tools write", "[shard]") {
  std::string other =
      dataflux::test::tar_header_of({.name = "a.jpg", .data = std::string(1234, 'x')});
  other.replace(108, 7, "0000000").replace(116, 7, "0000000");
  dataflux::test::seal_tar_header(other);
  CHECK(header_of("a.jpg", 1234) == other);
}

TEST_CASE("tar_writer: each name and size comes back", "[shard]") {
  const std::string folder(60, 'd');
  for (const std::string& name :
       {std::string("a.b"), std::string(100, 'n'), std::string(101, 'n'), folder + "/" + folder,
        folder + "/" + folder + "/" + folder + "/" + folder + ".x", std::string(4096, 'k') + ".j",
        std::string("\xc3\xa9.txt"), std::string("\xe9.txt"), "/" + std::string(100, 'n'),
        std::string(155, 'p') + "/" + std::string(100, 'n'),
        std::string(156, 'p') + "/" + std::string(100, 'n'),
        std::string(100, 'p') + "/" + std::string(101, 'n'), std::string("a\nb=c.x"),
        std::string((1 << 20) - 64, 'z')}) {
    for (const std::uint64_t size : {std::uint64_t{0}, (std::uint64_t{1} << 33) - 1,
                                     std::uint64_t{1} << 33, std::uint64_t{1} << 40}) {
      CAPTURE(name.substr(0, 300), size);
      const std::string headers = header_of(name, size);
      CHECK(headers.size() % 512 == 0);
      const auto [read, bytes] = read_back(headers);
      CHECK(read == name);
      CHECK(bytes == size);
    }
  }
}

TEST_CASE("tar_writer: a pax header only where it is needed", "[shard]") {
  const auto blocks = [](const std::string& name, std::uint64_t size) {
    return header_of(name, size).size() / 512;
  };
  CHECK(blocks(std::string(100, 'n'), 1) == 1);
  CHECK(blocks(std::string(155, 'p') + "/" + std::string(100, 'n'), 1) == 1);
  CHECK(blocks(std::string(101, 'n'), 1) == 3);
  CHECK(blocks("a", (std::uint64_t{1} << 33) - 1) == 1);
  CHECK(blocks("a", std::uint64_t{1} << 33) == 3);
  // The record's length counts its own digits: 9 with one, 10 with two.
  for (std::size_t n = 101; n < 1100; ++n) {
    const std::string name(n, 'n');
    CHECK(read_back(header_of(name, 7)).first == name);
  }
}

}  // namespace tar_writer_test
