#include <c_api/harness.hpp>

#include <support/tar_bytes.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace c_api_shard_stream_test {

using namespace c_api_test;

namespace {

using stream_ptr = std::unique_ptr<dataflux_shard_stream, decltype(&dataflux_shard_stream_free)>;

stream_ptr made(const dataflux_shard_stream_options* options, told& why) {
  dataflux_shard_stream* stream = nullptr;
  CHECK(dataflux_shard_stream_new(options, &stream, why) == DATAFLUX_OK);
  return {stream, dataflux_shard_stream_free};
}

/// Each sample as "key: field=data field=data".
dataflux_status take(const stream_ptr& stream, std::vector<std::string>& samples, told& why) {
  for (;;) {
    dataflux_streamed_sample sample;
    const auto status = dataflux_shard_stream_next(stream.get(), &sample, sizeof sample, why);
    if (status != DATAFLUX_OK || sample.key == nullptr) {
      CHECK(sample.field_count == 0);
      return status;
    }
    std::string text{sample.key, sample.key_size};
    text += ':';
    for (std::uint64_t k = 0; k < sample.field_count; ++k) {
      const dataflux_sample_field& field = sample.fields[k];
      text.append(" ").append(field.name, field.name_size).append("=");
      text.append(static_cast<const char*>(sample.data) + field.offset, field.size);
    }
    samples.push_back(text);
  }
}

}  // namespace

TEST_CASE("dataflux_shard_stream: bytes become samples, and what was left out is told", "[c_api]") {
  const std::string shard =
      dataflux::test::tar_members({{.name = "a.TXT", .data = "one"},
                                   {.name = "a.link", .type = '2'},
                                   {.name = "a.cls", .data = ""},
                                   {.name = std::string{"b\xff.txt"}, .data = "two"}}) +
      std::string(1024, '\0');
  told why;
  for (const std::size_t piece : {1U, 100U, 5000U}) {
    const stream_ptr stream = made(nullptr, why);
    std::vector<std::string> samples;
    for (std::size_t at = 0; at < shard.size(); at += piece) {
      const std::string some = shard.substr(at, piece);
      REQUIRE(dataflux_shard_stream_feed(stream.get(), some.data(), some.size(), why) ==
              DATAFLUX_OK);
      REQUIRE(take(stream, samples, why) == DATAFLUX_OK);
    }
    REQUIRE(dataflux_shard_stream_finish(stream.get(), why) == DATAFLUX_OK);
    REQUIRE(take(stream, samples, why) == DATAFLUX_OK);
    CHECK(samples == std::vector<std::string>{"a: txt=one cls=", "b\xff: txt=two"});
    const char* json = nullptr;
    REQUIRE(dataflux_shard_stream_counts(stream.get(), &json, why) == DATAFLUX_OK);
    CHECK(has(json, R"("symlinks":1)"));
    CHECK(dataflux_shard_stream_feed(stream.get(), "x", 1, why) == DATAFLUX_FAILED_PRECONDITION);
  }
}

TEST_CASE("dataflux_shard_stream: damage, options and bad input", "[c_api]") {
  told why;
  const std::string broken =
      dataflux::test::tar_members({{.name = "a.txt", .data = "one"}, {.name = "b.txt"}}) +
      std::string(512, 'x');
  dataflux_shard_stream_options options;
  dataflux_shard_stream_options_init(&options, sizeof options);
  for (const bool ends : {false, true}) {
    options.end_at_damage = ends ? 1 : 0;
    const stream_ptr stream = made(&options, why);
    REQUIRE(dataflux_shard_stream_feed(stream.get(), broken.data(), broken.size(), why) ==
            DATAFLUX_OK);
    REQUIRE(dataflux_shard_stream_finish(stream.get(), why) == DATAFLUX_OK);
    std::vector<std::string> samples;
    CHECK(take(stream, samples, why) == (ends ? DATAFLUX_OK : DATAFLUX_DATA_LOSS));
    CHECK(samples.size() == (ends ? 2 : 1));
    if (!ends) CHECK(take(stream, samples, why) == DATAFLUX_DATA_LOSS);
  }
  dataflux_shard_stream* none = nullptr;
  CHECK(dataflux_shard_stream_new(nullptr, nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  options.struct_size = 3;
  CHECK(dataflux_shard_stream_new(&options, &none, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(none == nullptr);
  const stream_ptr stream = made(nullptr, why);
  dataflux_streamed_sample sample;
  CHECK(dataflux_shard_stream_feed(stream.get(), nullptr, 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_stream_feed(nullptr, "x", 1, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_stream_finish(nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_stream_next(nullptr, &sample, sizeof sample, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_stream_next(stream.get(), nullptr, sizeof sample, why) ==
        DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_stream_next(stream.get(), &sample, 3, why) == DATAFLUX_INVALID_ARGUMENT);
  CHECK(dataflux_shard_stream_counts(stream.get(), nullptr, why) == DATAFLUX_INVALID_ARGUMENT);
  const char* json = nullptr;
  CHECK(dataflux_shard_stream_counts(nullptr, &json, why) == DATAFLUX_INVALID_ARGUMENT);
  dataflux_shard_stream_free(nullptr);
}

}  // namespace c_api_shard_stream_test
