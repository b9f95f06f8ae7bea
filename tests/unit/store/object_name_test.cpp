#include <dataflux/store/object_columns.hpp>

#include <support/catch.hpp>

#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace object_name_test {

using dataflux::object_name;

TEST_CASE("object_name: text of its own moves with it, whether short or long", "[store]") {
  for (const std::string& text : {std::string("short"), std::string(100, 'n')}) {
    object_name a(text);
    object_name b = a;
    const object_name c = std::move(a);
    CHECK(b == text);
    CHECK(c == b);
    CHECK(c.str() == text);
    b = object_name("other");
    CHECK(b == "other");
    CHECK_FALSE(c == b);
  }
  CHECK(object_name().view().empty());
  std::ostringstream shown;
  shown << object_name("a name");
  CHECK(shown.str() == "a name");
}

TEST_CASE("object_name: a shared one is not copied, and keeps its owner", "[store]") {
  const auto owner = std::make_shared<std::string>("all/names");
  const std::weak_ptr<std::string> alive = owner;
  object_name name(std::string_view(*owner).substr(4), owner);
  CHECK(name.view().data() == owner->data() + 4);
  const object_name copy = name;
  name = object_name("else");
  CHECK(copy == "names");
  CHECK(copy.view().data() == owner->data() + 4);
  CHECK(owner.use_count() == 2);
}

}  // namespace object_name_test
