#include <dataflux/codec/detail/pax_records.hpp>

#include <support/catch.hpp>
#include <support/mutations.hpp>
#include <support/tar_bytes.hpp>

#include <string>
#include <utility>
#include <vector>

namespace pax_records_test {

using dataflux::detail::codec::pax_records;
using dataflux::test::pax_record_of;
using pairs = std::vector<std::pair<std::string, std::string>>;

namespace {

pairs read(std::string_view body, bool broken = false) {
  pairs all;
  pax_records records{body};
  while (const auto record = records.next()) all.emplace_back(record->key, record->value);
  CHECK(records.broken() == broken);
  CHECK_FALSE(records.next());
  return all;
}

}  // namespace

TEST_CASE("pax_records: keys and values, whatever bytes a value has", "[shard]") {
  const std::string odd{"a\n=\0b 9 x=y\n", 12};
  const std::string body = pax_record_of("path", "d/\xc3\xa9.jpg") + pax_record_of("size", "5") +
                           pax_record_of("comment", odd) + pax_record_of("mtime", "");
  CHECK(read(body) ==
        pairs{{"path", "d/\xc3\xa9.jpg"}, {"size", "5"}, {"comment", odd}, {"mtime", ""}});
  CHECK(read("").empty());
  CHECK(read("9 size=3\n") == pairs{{"size", "3"}});
  CHECK(read("009 sz=3\n") == pairs{{"sz", "3"}});
  CHECK(read("5 a=\n") == pairs{{"a", ""}});
  // A length of two digits may count its own.
  CHECK(read(pax_record_of("path", "1234567")).front().second == "1234567");
  CHECK(read(pax_record_of("path", std::string(90, 'x'))).front().second == std::string(90, 'x'));
}

TEST_CASE("pax_records: NULs may fill the end", "[shard]") {
  CHECK(read(std::string("9 size=3\n\0\0\0", 12)) == pairs{{"size", "3"}});
  CHECK(read(std::string("\0\0\0", 3)).empty());
  CHECK(read(std::string("9 size=3\n\0x", 11), true) == pairs{{"size", "3"}});
}

TEST_CASE("pax_records: a record that is not well-formed ends them", "[shard]") {
  for (const char* const bad : {"size=3\n",
                                "x size=3\n",
                                " 9 size=3\n",
                                "-9 size=3\n",
                                "+9 size=3\n",
                                "9size=3\n",
                                "8 size=3\n",
                                "11 size=3\n",
                                "9 size=3 ",
                                "9 size 3\n",
                                "4 =\n",
                                "5 =a\n",
                                "3 \n",
                                "1 a=\n",
                                "0 a=\n",
                                "4 a=\n",
                                "9",
                                "9 ",
                                "99999999999999999999999 a=b\n",
                                "18446744073709551615 a=\n",
                                "9 size=3\n9 size=",
                                "9 size=3\n\n"}) {
    INFO(bad);
    const pairs all = read(bad, true);
    CHECK(all.size() == (std::string_view{bad}.starts_with("9 size=3\n") ? 1 : 0));
  }
}

TEST_CASE("pax_records: mutations give records inside the body, and an end", "[shard]") {
  for_each_mutation({"9 size=3\n14 path=a.txt\n", "21 hdrcharset=BINARY\n5 a=\n"}, 300,
                    [](std::span<const std::byte> input) {
                      const std::string_view body = dataflux::as_text(input);
                      pax_records records{body};
                      const char* last = body.data();
                      while (const auto record = records.next()) {
                        REQUIRE(record->key.data() > last);
                        REQUIRE(record->value.data() > record->key.data());
                        last = record->value.data() + record->value.size();
                        REQUIRE(last < body.data() + body.size());
                      }
                    });
}

}  // namespace pax_records_test
