#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <emulator/gzip.hpp>
#include <support/catch.hpp>
#include <support/raw_server.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace decode_gzip_test {

// Reads that ask the service to decompress.
namespace {

using namespace std::chrono_literals;
using dataflux::errc;
namespace fault = emulator::fault;
namespace gcs = dataflux::gcs;

/// Compresses to about half, so that the packed bytes too come in many pieces.
std::string text_of(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<char>('a' + ((i * 2654435761U) >> 28U));
  return out;
}

std::shared_ptr<gcs::client> make(const std::string& endpoint) {
  gcs::client_options o{.endpoint = endpoint, .emulator = true};
  o.retry = {.max_attempts = 3, .first = 1ms, .cap = 5ms};
  o.stall_timeout = 1s;
  o.transport.io_threads = 1;
  auto made = gcs::client::create(o);
  REQUIRE(made);
  return std::move(*made);
}

struct received {
  dataflux::result<dataflux::read_summary> summary;
  std::string bytes;
};
received decode(dataflux::object_store& store, const std::string& object,
                std::size_t room = 1 << 20) {
  std::vector<std::byte> memory(room);
  dataflux::span_sink sink(memory);
  auto summary = store.read({.bucket = "bkt", .object = object, .decode_gzip = true}, sink);
  return {std::move(summary), std::string(dataflux::as_text(sink.filled()))};
}

}  // namespace

TEST_CASE("client: decode_gzip has the service decompress", "[integration]") {
  emulator::server server;
  const auto client = make(server.endpoint());
  const std::string text = text_of(500'000);
  const std::string packed = emulator::gzip(text);
  server.put("bkt", "packed", packed, {.content_encoding = "gzip"});
  server.put("bkt", "plain", text);
  server.put("bkt", "kept", packed, {.content_encoding = "gzip", .cache_control = "no-transform"});
  server.put("bkt", "nothing", emulator::gzip(""), {.content_encoding = "gzip"});

  const auto got = decode(*client, "packed");
  INFO((got.summary ? std::string() : got.summary.error().to_string()));
  REQUIRE(got.summary);
  CHECK((got.bytes == text));
  CHECK(got.summary->decoded);
  CHECK_FALSE(got.summary->verified);
  CHECK(got.summary->bytes == text.size());
  CHECK(got.summary->crc32c == dataflux::crc32c(dataflux::as_bytes(text)));
  CHECK(got.summary->object_size == packed.size());
  CHECK(got.summary->object_crc32c == dataflux::crc32c(dataflux::as_bytes(packed)));

  // What is not compressed, or must not be touched, comes as it is stored.
  const auto plain = decode(*client, "plain");
  REQUIRE(plain.summary);
  CHECK((plain.bytes == text));
  CHECK_FALSE(plain.summary->decoded);
  CHECK(plain.summary->verified);
  const auto kept = decode(*client, "kept");
  REQUIRE(kept.summary);
  CHECK((kept.bytes == packed));
  CHECK_FALSE(kept.summary->decoded);
  CHECK(kept.summary->verified);
  const auto nothing = decode(*client, "nothing");
  REQUIRE(nothing.summary);
  CHECK(nothing.summary->bytes == 0);
  CHECK(nothing.summary->decoded);

  const auto small = decode(*client, "packed", text.size() - 1);
  REQUIRE_FALSE(small.summary);
  CHECK(small.summary.error().code() == errc::out_of_range);
}

TEST_CASE("client: a decompressed read that breaks off begins anew", "[integration]") {
  emulator::server server;
  const auto client = make(server.endpoint());
  const std::string text = text_of(500'000);
  const std::int64_t generation =
      server.put("bkt", "packed", emulator::gzip(text), {.content_encoding = "gzip"});
  for (const bool reset : {true, false}) {
    server.faults().add(
        {.verb = "objects.media",
         .action =
             fault::cut{.where = fault::point::in_body, .body_bytes = 200'000, .reset = reset}});
    const auto got = decode(*client, "packed");
    INFO((got.summary ? std::string() : got.summary.error().to_string()));
    REQUIRE(got.summary);
    CHECK((got.bytes == text));
    CHECK(got.summary->decoded);
    CHECK(got.summary->attempts == 2);
    CHECK(got.summary->generation == generation);
  }
}

TEST_CASE("client: a decompressed read that only the connection ends is refused", "[integration]") {
  raw_server server({[](raw_server::peer& peer) {
    peer.request();
    peer.send(
        "HTTP/1.1 200 OK\r\nx-goog-generation: 1\r\nWarning: 214 UploadServer gunzipped\r\n"
        "Connection: close\r\n\r\nhalf of i");
    peer.close();
  }});
  const auto got = decode(*make("http://127.0.0.1:" + std::to_string(server.port())), "o");
  REQUIRE_FALSE(got.summary);
  CHECK(got.summary.error().code() == errc::internal);
}

}  // namespace decode_gzip_test
