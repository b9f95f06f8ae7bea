#include <dataflux/shard/detail/shard_decoder.hpp>

#include <support/catch.hpp>
#include <support/compressed.hpp>
#include <support/decode_all.hpp>
#include <support/vector_file.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace shard_decoder_test {

using dataflux::as_bytes;
using dataflux::bytes_span;
using dataflux::errc;
using namespace dataflux::detail::shard;

/// decode_all() reads what a decoder puts into memory; a plain shard is elsewhere.
struct copying_decoder {
  struct outcome {
    std::size_t consumed{0};
    std::size_t produced{0};
    bool needs_input{false};
  };
  dataflux::result<outcome> decode(dataflux::bytes_view input, bytes_span memory) {
    if (!rest.empty()) return give({0, 0, after}, memory);
    auto step = decoder.decode(input, memory);
    if (!step) return step.error();
    rest.assign(dataflux::as_text(step->bytes));
    given += rest.size();
    after = step->needs_input;
    return give({step->consumed, 0, after}, memory);
  }
  dataflux::result<void> finish() const {
    if (given != decoder.position()) return dataflux::error{errc::internal, "wrong position"};
    return decoder.finish();
  }
  outcome give(outcome out, bytes_span memory) {
    out.produced = std::min(rest.size(), memory.size());
    std::copy_n(as_bytes(rest).begin(), out.produced, memory.begin());
    rest.erase(0, out.produced);
    out.needs_input = out.needs_input && rest.empty();
    return out;
  }

  shard_decoder decoder{};
  std::string rest{};
  std::size_t given{0};
  bool after{false};
};

inline decoded_file decode(std::string_view file) {
  const decoded_file whole = decode_all<copying_decoder>(file, file.size() + 1, 1 << 16);
  for (std::size_t piece = 1; piece < 14; ++piece) {
    const decoded_file cut = decode_all<copying_decoder>(file, piece, 1000);
    CHECK(cut.bytes == whole.bytes);
    CHECK(cut.failure.has_value() == whole.failure.has_value());
    if (cut.failure && whole.failure) CHECK(cut.failure->message() == whole.failure->message());
  }
  return whole;
}

inline shard_coding coding_of(std::string_view file) {
  shard_decoder decoder;
  std::string memory(1000, '\0');
  const auto step = decoder.decode(as_bytes(file), std::as_writable_bytes(std::span<char>{memory}));
  return step ? decoder.coding() : shard_coding::unknown;
}

TEST_CASE("shard_decoder: plain and compressed shards give the same archive", "[shard]") {
  const std::string plain = vector_file("tar/odd/plain.tar");
  for (const std::string_view name : {
         "plain.tar", "plain.tar.gz", "two_members.tgz"
#if defined(DATAFLUX_ZSTD)
             ,
             "plain.tar.zst"
#endif
       }) {
    INFO(name);
    const decoded_file out = decode(vector_file("tar/odd/" + std::string{name}));
    CHECK_FALSE(out.failure);
    CHECK(out.bytes == plain);
  }
}

TEST_CASE("shard_decoder: a plain shard is passed on where it lies", "[shard]") {
  const std::string plain = vector_file("tar/odd/plain.tar");
  shard_decoder decoder;
  std::byte memory[16]{};
  const auto step = decoder.decode(as_bytes(plain), memory);
  REQUIRE(step);
  CHECK(step->bytes.data() == as_bytes(plain).data());
  CHECK(step->bytes.size() == plain.size());
  CHECK(step->consumed == plain.size());
  CHECK(step->needs_input);
  CHECK(decoder.coding() == shard_coding::plain);
  CHECK(decoder.position() == plain.size());
  const auto next = decoder.decode(as_bytes(plain).subspan(7), memory);
  REQUIRE(next);
  CHECK(next->bytes.data() == as_bytes(plain).data() + 7);
}

TEST_CASE("shard_decoder: the first bytes say how a shard is stored", "[shard]") {
  CHECK(coding_of(vector_file("tar/odd/plain.tar")) == shard_coding::plain);
  CHECK(coding_of(vector_file("tar/odd/two_members.tgz")) == shard_coding::gzip);
#if defined(DATAFLUX_ZSTD)
  CHECK(coding_of(vector_file("tar/odd/plain.tar.zst")) == shard_coding::zstd);
  CHECK(coding_of(std::string{"\x5f\x2a\x4d\x18\1\0\0\0x", 9}) == shard_coding::zstd);
#endif
  CHECK(coding_of("") == shard_coding::unknown);
  CHECK(coding_of("\x1f") == shard_coding::unknown);
}

TEST_CASE("shard_decoder: a name that begins as a format does is a name", "[shard]") {
  for (const std::string_view name :
       {"BZh9.jpg", "BZh91AY&S.jpg", "P*M.txt", "(\xb5/a.jpg", "P", "_", "\x1f.a", "PaxHeader/x"}) {
    INFO(name);
    const std::string block = std::string{name} + std::string(512 - name.size(), '\0');
    const decoded_file out = decode(block);
    CHECK_FALSE(out.failure);
    CHECK(out.bytes == block);
    CHECK(coding_of(block) == shard_coding::plain);
  }
}

TEST_CASE("shard_decoder: formats that are not read are refused by name", "[shard]") {
  for (const auto& [file, name] : {std::pair<const char*, const char*>{"plain.tar.xz", "xz"},
                                   {"plain.tar.bz2", "bzip2"},
                                   {"plain.tar.lz4", "lz4"}}) {
    INFO(file);
    const decoded_file out = decode(vector_file(std::string{"tar/odd/"} + file));
    REQUIRE(out.failure);
    CHECK(out.failure->code() == errc::unimplemented);
    CHECK(out.failure->message() ==
          std::string{"the shard is compressed by "} + name +
              ", which dataflux does not read; compress it by gzip or zstd, or store it as plain "
              "tar");
    CHECK(out.bytes.empty());
  }
}

TEST_CASE("shard_decoder: an end within what is compressed is an error", "[shard]") {
  const decoded_file out = decode(vector_file("tar/odd/trunc.tar.gz"));
  REQUIRE(out.failure);
  CHECK(out.failure->code() == errc::data_loss);
  CHECK_FALSE(decode("").failure);
  CHECK_FALSE(decode("a").failure);
  for (const std::string_view head : {"\x1f", "BZh9", "(",
                                      "\xfd"
                                      "7z"}) {
    const decoded_file cut = decode(head);
    REQUIRE(cut.failure);
    CHECK(cut.failure->message() == "the shard is truncated: it has " +
                                        std::to_string(head.size()) +
                                        " bytes, too few for any format");
  }
}

TEST_CASE("shard_decoder: a damaged member behind a good one is found", "[shard]") {
  const decoded_file out = decode(gzip_of("first") + "second");
  REQUIRE(out.failure);
  CHECK(out.bytes == "first");
  CHECK(out.failure->code() == errc::data_loss);
}

}  // namespace shard_decoder_test
