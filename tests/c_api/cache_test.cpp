#include <c_api/harness.hpp>
#include <support/temporary_folder.hpp>

#include <string>

namespace cache_test {

TEST_CASE("c_api cache: opened, told of, and freed", "[c_api]") {
  const temporary_folder scratch;
  dataflux_cache_options options;
  dataflux_cache_options_init(&options, sizeof options);
  options.bytes = 32U << 20U;
  dataflux_cache* cache = nullptr;
  REQUIRE(dataflux_cache_open(scratch.path.c_str(), &options, &cache, nullptr) == DATAFLUX_OK);
  REQUIRE(cache != nullptr);
  CHECK(dataflux_cache_flush(cache, nullptr) == DATAFLUX_OK);
  char* text = nullptr;
  REQUIRE(dataflux_cache_counters(cache, &text, nullptr) == DATAFLUX_OK);
  CHECK(std::string(text).starts_with(R"({"hits":0,"hit_bytes":0,"misses":0,)"));
  dataflux_text_free(text);
  dataflux_cache_free(cache);
  dataflux_cache_free(nullptr);
}

TEST_CASE("c_api cache: bad input is an error", "[c_api]") {
  const temporary_folder scratch;
  dataflux_cache* cache = nullptr;
  char* text = nullptr;
  CHECK(dataflux_cache_open(nullptr, nullptr, &cache, nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_cache_open("x", nullptr, nullptr, nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_cache_open((scratch.path / "a" / "b").c_str(), nullptr, &cache, nullptr) ==
        DATAFLUX_NOT_FOUND);
  CHECK(cache == nullptr);
  CHECK(dataflux_cache_counters(nullptr, &text, nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_cache_counters(cache, nullptr, nullptr) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_cache_flush(nullptr, nullptr) == DATAFLUX_INVALID_ARGUMENT);
}

}  // namespace cache_test
