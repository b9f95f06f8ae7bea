#include <dataflux/shard/detail/sample_grouper.hpp>

#include <support/catch.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sample_grouper_test {

using dataflux::byte_extent;
using dataflux::errc;
using dataflux::grouping_rules;
using dataflux::repeated_rule;
using namespace dataflux::detail::shard;

/// Feeds members of 1,024 bytes each, and writes samples as "key{field,field}".
class shard_of_names {
 public:
  explicit shard_of_names(const grouping_rules& rules = {}) : grouper(rules) {}

  dataflux::result<grouped_member> add(std::string_view name) {
    const byte_extent place{next_, 1024};
    next_ += place.length;
    auto member = grouper.add(name, place);
    if (!member) return member;
    if (member->ended) end(*member->ended);
    if (member->begins) open_ = std::string{grouper.key()} + "{";
    if (member->taken) open_.append(member->field).append(",");
    return member;
  }
  void end_shard() {
    if (const auto ended = grouper.end_shard()) end(*ended);
  }
  std::string of(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) REQUIRE(add(name));
    end_shard();
    return std::exchange(said_, {});
  }

  sample_grouper grouper;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> extents{};

 private:
  void end(byte_extent sample) {
    extents.emplace_back(sample.offset / 1024, sample.length / 1024);
    if (open_.back() == ',') open_.pop_back();
    said_ += open_ + "}";
  }
  std::uint64_t next_{0};
  std::string open_{};
  std::string said_{};
};

TEST_CASE("sample_grouper: neighbours with one key are a sample", "[shard]") {
  shard_of_names shard;
  CHECK(shard.of({"a.jpg", "a.cls", "b.jpg", "d/b.jpg", "d/b.x.y"}) ==
        "a{jpg,cls}b{jpg}d/b{jpg,x.y}");
  CHECK(shard.extents == decltype(shard.extents){{0, 2}, {2, 1}, {3, 2}});
}

TEST_CASE("sample_grouper: a key that comes again is another sample", "[shard]") {
  shard_of_names shard;
  CHECK(shard.of({"a.x", "b.x", "a.x"}) == "a{x}b{x}a{x}");
}

TEST_CASE("sample_grouper: what is in no sample ends none, and is counted", "[shard]") {
  shard_of_names shard;
  CHECK(shard.of({"README", "a.x", "__meta__", "a", "a.y", "__d__/q.x", ".z", "b.x"}) ==
        "a{x,y}b{x}");
  CHECK(shard.extents == decltype(shard.extents){{1, 4}, {7, 1}});
  CHECK(shard.grouper.counts().hidden == 2);
  CHECK(shard.grouper.counts().no_field == 3);
  CHECK(shard.grouper.counts().left_out() == 5);
  CHECK(shard.of({"README", "__meta__"}) == "");
}

TEST_CASE("sample_grouper: the shard's end ends its sample", "[shard]") {
  shard_of_names shard;
  CHECK(shard.of({"a.x"}) == "a{x}");
  CHECK(shard.of({"a.x", "a.y"}) == "a{x,y}");
  CHECK_FALSE(shard.grouper.end_shard());
}

TEST_CASE("sample_grouper: fields are in lower case, keys are not", "[shard]") {
  CHECK(shard_of_names{}.of({"A.JPG", "A.\xc3\x89"}) == "A{jpg,\xc3\x89}");
  shard_of_names kept({.keep_case = true});
  CHECK(kept.of({"a.JPG", "a.jpg"}) == "a{JPG,jpg}");
}

TEST_CASE("sample_grouper: a leading ./ is of the key unless it is stripped", "[shard]") {
  CHECK(shard_of_names{}.of({"./a.x", "a.y"}) == "./a{x}a{y}");
  shard_of_names stripped({.strip_dot_slash = true});
  CHECK(stripped.of({"./a.x", "a.y", "././b.x", "./__m__/c.x", "./"}) == "a{x,y}./b{x}");
  CHECK(stripped.grouper.counts().hidden == 1);
}

TEST_CASE("sample_grouper: a field that comes twice is refused, and nothing changes", "[shard]") {
  shard_of_names shard;
  REQUIRE(shard.add("a.jpg"));
  REQUIRE(shard.add("a.b"));
  const auto refused = shard.add("a.JPG");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::invalid_argument);
  CHECK(refused.error().message() ==
        "the sample \"a\" has two members for the field \"jpg\"; rename one of them, or have the "
        "first field kept (the rule repeated = keep_first)");
  CHECK(shard.of({"a.c", "b.jpg"}) == "a{jpg,b,c}b{jpg}");
  CHECK(shard.grouper.counts().repeated == 0);
}

TEST_CASE("sample_grouper: the first of two fields stays where that is asked for", "[shard]") {
  shard_of_names shard({.repeated = repeated_rule::keep_first});
  CHECK(shard.of({"a.x", "a.X", "a.y", "a.x", "b.x"}) == "a{x,y}b{x}");
  CHECK(shard.grouper.counts().repeated == 2);
  CHECK(shard.extents.front() == std::pair<std::uint64_t, std::uint64_t>{0, 3});
}

TEST_CASE("sample_grouper: the names that every sample has are no fields", "[shard]") {
  for (const std::string_view name : {"a.__key__", "a.__url__", "a.__KEY__"}) {
    INFO(name);
    shard_of_names shard;
    const auto refused = shard.add(name);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::invalid_argument);
    CHECK(refused.error().message().find("every sample has") != std::string::npos);
    CHECK(shard_of_names({.repeated = repeated_rule::keep_first}).of({name, "a.x"}) == "a{x}");
  }
  CHECK(shard_of_names{}.of({"a.__x__", "a.__local_path__"}) == "a{__x__,__local_path__}");
}

TEST_CASE("sample_grouper: an error shows no more of a name than a person reads", "[shard]") {
  shard_of_names shard;
  const std::string name = "line\nbreak" + std::string(5000, 'k') + ".x";
  REQUIRE(shard.add(name));
  const std::string message = shard.add(name).error().message();
  CHECK(message.size() < 500);
  CHECK(message.find("line\\x0abreak") != std::string::npos);
}

TEST_CASE("sample_grouper: many fields in any order are told apart", "[shard]") {
  shard_of_names shard;
  for (std::size_t i = 0; i < 3000; ++i) {
    REQUIRE(shard.add("a." + std::to_string(i * 7919 % 3000)));
  }
  for (std::size_t i = 0; i < 3000; ++i) REQUIRE_FALSE(shard.add("a." + std::to_string(i)));
}

TEST_CASE("sample_grouper: the fields of a sample have a bound", "[shard]") {
  sample_grouper grouper;
  const std::string padding(1000, 'f');
  std::size_t held = 0;
  std::size_t count = 0;
  while (true) {
    const std::string name = "a." + padding + std::to_string(count);
    const auto added = grouper.add(name, {count, 1});
    if (!added) {
      CHECK(added.error().code() == errc::resource_exhausted);
      CHECK(held + name.size() - 2 + 8 > sample_grouper::most_field_bytes);
      break;
    }
    held += name.size() - 2 + 8;
    ++count;
    REQUIRE(held <= sample_grouper::most_field_bytes);
  }
  // The next sample begins with nothing held.
  CHECK(grouper.add("b." + padding, {count, 1}));
  CHECK_FALSE(grouper.add("b." + std::string(sample_grouper::most_field_bytes, 'f'), {count, 1}));
}

}  // namespace sample_grouper_test
