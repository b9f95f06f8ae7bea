#include <dataflux/codec/detail/xxhash64.hpp>

#include <support/catch.hpp>

#include <string>
#include <string_view>

namespace xxhash64_test {
namespace {

using namespace dataflux::detail::codec;
using dataflux::as_bytes;

TEST_CASE("xxhash64: known values", "[codec]") {
  CHECK(xxhash64({}) == 0xEF46DB3751D8E999U);
  CHECK(xxhash64(as_bytes(std::string_view{"abc"})) == 0x44BC2CF5AD770999U);
  // As AIStore says it of an object.
  CHECK(xxhash64(as_bytes(std::string_view{"hello world"})) == 0x45AB6734B21E6968U);
}

TEST_CASE("xxhash64: a run takes bytes in any pieces", "[codec]") {
  std::string text(300, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31);
  const auto all = as_bytes(text);
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    xxhash64_run run;
    run.extend(all.first(cut));
    const xxhash64_run copy = run;
    run.extend(all.subspan(cut));
    CHECK(run.value() == xxhash64(all));
    CHECK(copy.value() == xxhash64(all.first(cut)));
  }
}

}  // namespace
}  // namespace xxhash64_test
