#include <dataflux/codec/detail/tar_extensions.hpp>

#include <support/catch.hpp>
#include <support/tar_bytes.hpp>

#include <string>

namespace tar_extensions_test {

using namespace dataflux::detail::codec;
using dataflux::as_bytes;
using dataflux::test::pax_record_of;

namespace {

/// Gives an extension with this body, in two pieces.
const char* add(tar_extensions& to, tar_type type, const std::string& body) {
  REQUIRE(to.begin(type, body.size()));
  to.append(as_bytes(body).first(body.size() / 2));
  to.append(as_bytes(body).subspan(body.size() / 2));
  return to.end();
}
std::string path(std::string_view value) { return pax_record_of("path", value); }
std::string size(std::string_view value) { return pax_record_of("size", value); }

}  // namespace

TEST_CASE("tar_extensions: a member's record counts before a long name, that before all's",
          "[shard]") {
  tar_extensions said;
  CHECK_FALSE(said.name());
  CHECK_FALSE(said.size());
  CHECK(add(said, tar_type::global_records, path("of all") + size("7")) == nullptr);
  CHECK(said.name() == "of all");
  CHECK(add(said, tar_type::long_name, std::string("long\0junk", 9)) == nullptr);
  CHECK(said.name() == "long");
  CHECK(add(said, tar_type::records, path("own") + size("8")) == nullptr);
  CHECK(said.name() == "own");
  CHECK(said.size() == 8);
  CHECK(add(said, tar_type::long_name, "later") == nullptr);
  CHECK(said.name() == "own");
  said.next_member();
  CHECK(said.name() == "of all");
  CHECK(said.size() == 7);
  said.next_archive();
  CHECK_FALSE(said.name());
  CHECK_FALSE(said.size());
}

TEST_CASE("tar_extensions: several records of one member are one", "[shard]") {
  tar_extensions said;
  CHECK(add(said, tar_type::records, path("first") + path("second")) == nullptr);
  CHECK(said.name() == "second");
  CHECK(add(said, tar_type::records, size("5") + pax_record_of("mtime", "1.5")) == nullptr);
  CHECK(said.name() == "second");
  CHECK(said.size() == 5);
  CHECK_FALSE(said.sparse());
}

TEST_CASE("tar_extensions: a record without a value takes back that of all", "[shard]") {
  tar_extensions said;
  CHECK(add(said, tar_type::global_records, path("of all") + size("7")) == nullptr);
  CHECK(add(said, tar_type::records, path("") + size("")) == nullptr);
  CHECK_FALSE(said.name());
  CHECK_FALSE(said.size());
  said.next_member();
  CHECK(said.size() == 7);
  CHECK(add(said, tar_type::global_records, path("") + size("")) == nullptr);
  CHECK_FALSE(said.name());
  CHECK_FALSE(said.size());
}

TEST_CASE("tar_extensions: names of links are passed over", "[shard]") {
  tar_extensions said;
  CHECK(add(said, tar_type::long_link, "target") == nullptr);
  CHECK_FALSE(said.name());
  CHECK(add(said, tar_type::records, pax_record_of("linkpath", "target")) == nullptr);
  CHECK_FALSE(said.name());
}

TEST_CASE("tar_extensions: sparse files in pax's ways", "[shard]") {
  for (const auto* const key : {"GNU.sparse.map", "GNU.sparse.major", "GNU.sparse.size"}) {
    tar_extensions said;
    CHECK(add(said, tar_type::records, pax_record_of(key, "1")) == nullptr);
    CHECK(said.sparse());
    CHECK(said.sparse_name().empty());
    CHECK(add(said, tar_type::records, pax_record_of("GNU.sparse.name", "real")) == nullptr);
    CHECK(said.sparse_name() == "real");
    said.next_member();
    CHECK_FALSE(said.sparse());
    CHECK(said.sparse_name().empty());
  }
}

TEST_CASE("tar_extensions: a bad record or size is told", "[shard]") {
  tar_extensions said;
  CHECK(std::string_view{add(said, tar_type::records, "9 size=3")} ==
        "a pax record is not well-formed");
  for (const auto* const bad : {"-1", "x", "5 ", "0x5", "1.5", "18446744073709551616"}) {
    INFO(bad);
    CHECK(std::string_view{add(said, tar_type::records, size(bad))} ==
          "a pax record of the size is no size");
  }
}

TEST_CASE("tar_extensions: those of one member have 1 MiB together", "[shard]") {
  tar_extensions said;
  const std::string name(most_extension_bytes - 9, 'n');
  CHECK(add(said, tar_type::long_name, name) == nullptr);
  CHECK(add(said, tar_type::records, size("3")) == nullptr);
  CHECK(said.name() == name);
  CHECK_FALSE(said.begin(tar_type::long_link, 1));
  said.next_member();
  CHECK_FALSE(said.begin(tar_type::records, most_extension_bytes + 1));
  CHECK_FALSE(said.begin(tar_type::records, ~std::uint64_t{0}));
  CHECK(add(said, tar_type::global_records, path(std::string(most_extension_bytes - 20, 'p'))) ==
        nullptr);
  said.next_member();
  CHECK(add(said, tar_type::long_name, name) == nullptr);
  CHECK(said.memory() <= std::size_t{4} << 20U);
}

}  // namespace tar_extensions_test
