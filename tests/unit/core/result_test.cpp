#include <dataflux/result.hpp>

#include <support/catch.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace result_test {
namespace {

using dataflux::result;

struct found {
  std::vector<std::string> names{};
};

result<found> find() { return found{{"a name too long to be kept within the string itself", "b"}}; }

}  // namespace

TEST_CASE("result: what a temporary's value holds may stand in a range-for (mend 16)", "[core]") {
  static_assert(std::is_same_v<decltype(find().value()), found>);
  static_assert(std::is_same_v<decltype(std::declval<result<found>&>().value()), found&>);
  std::vector<std::string> seen;
  for (const std::string& name : find().value().names) seen.push_back(name);
  CHECK(seen == find()->names);
}

}  // namespace result_test
