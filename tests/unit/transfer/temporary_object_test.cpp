#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>
#include <dataflux/transfer/detail/temporary_object.hpp>

#include <support/catch.hpp>

#include <string>

namespace temporary_object_test {

using dataflux::detail::target_of_temporary;
using dataflux::detail::temporary_object_name;
using dataflux::detail::temporary_objects_prefix;

TEST_CASE("temporary_object: a name tells what it is going to be", "[transfer]") {
  for (const std::string object : {"x", "a/b c", "100%", "\xc3\xa4\n", "a-b/.."}) {
    const std::string name = temporary_object_name(object);
    CHECK(name.starts_with(temporary_objects_prefix));
    CHECK(name.find('/', temporary_objects_prefix.size()) == std::string::npos);
    CHECK(name != temporary_object_name(object));
    const auto target = target_of_temporary(name);
    REQUIRE(target);
    CHECK(target->object == object);
    CHECK(target->whole);
  }
}

TEST_CASE("temporary_object: of a long name it tells the beginning", "[transfer]") {
  for (std::size_t i = 0; i < 36; ++i) {
    std::string object(i / 3, 'x');
    const std::string characters[] = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    while (object.size() < 1000) object += characters[i % 3];
    const std::string name = temporary_object_name(object);
    CHECK(name.size() < 500);
    const auto target = target_of_temporary(name);
    REQUIRE(target);
    CHECK_FALSE(target->whole);
    CHECK(target->object.size() > 100);
    CHECK(object.starts_with(target->object));
    CHECK(dataflux::detail::codec::is_valid_utf8(target->object));
  }
}

TEST_CASE("temporary_object: other names are none of ours", "[transfer]") {
  const std::string prefix(temporary_objects_prefix);
  for (const std::string& name :
       {std::string("x"), prefix, prefix + "x", prefix + "0123456789abcdef",
        prefix + "0123456789abcdef-", prefix + "0123456789abcdeF-x", prefix + "0123456789abcde-xx",
        prefix + "0123456789abcdef-%zz", prefix + "0123456789abcdef-%c3",
        "y/" + prefix + "0123456789abcdef-x"}) {
    INFO(name);
    CHECK_FALSE(target_of_temporary(name));
  }
  CHECK(target_of_temporary(prefix + "0123456789abcdef-x"));
}

}  // namespace temporary_object_test
