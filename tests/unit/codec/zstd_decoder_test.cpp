#include <dataflux/codec/detail/zstd_decoder.hpp>

#include <fuzz/zstd_fuzz.hpp>
#include <support/catch.hpp>
#include <support/compressed.hpp>
#include <support/decode_all.hpp>
#include <support/mutations.hpp>
#include <support/vector_file.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace zstd_decoder_test {

using dataflux::errc;
using dataflux::detail::codec::zstd_decoder;

/// A frame of one raw block that announces a window of 2^log.
inline std::string raw_frame(std::string_view bytes, unsigned window_log = 10) {
  std::string out{"\x28\xb5\x2f\xfd\0", 5};
  out += static_cast<char>((window_log - 10) << 3);
  return out.append(little_endian(static_cast<std::uint32_t>(bytes.size() << 3 | 1), 3))
      .append(bytes);
}

inline std::string skippable(std::string_view bytes, unsigned kind = 0) {
  return little_endian(0x184D2A50U + kind, 4)
      .append(little_endian(static_cast<std::uint32_t>(bytes.size()), 4))
      .append(bytes);
}

inline decoded_file decode(std::string_view file) {
  const decoded_file whole = decode_all<zstd_decoder>(file, file.size() + 1, 1 << 20);
  for (const std::size_t room : {1U, 3U, 1000U, 40'000U}) {
    const decoded_file cut = decode_all<zstd_decoder>(file, room, room);
    CHECK(cut.failure.has_value() == whole.failure.has_value());
    if (!whole.failure) CHECK(cut.bytes == whole.bytes);
    // As many bytes as the file has, and not one more to see its end with.
    if (!whole.failure && !whole.bytes.empty()) {
      CHECK(decode_all<zstd_decoder>(file, room, whole.bytes.size()).bytes == whole.bytes);
    }
  }
  return whole;
}

inline std::string message(std::string_view file, errc code = errc::data_loss) {
  const decoded_file out = decode(file);
  REQUIRE(out.failure);
  CHECK(out.failure->code() == code);
  return out.failure->message();
}

TEST_CASE("zstd_decoder: what is no frame is an error with its place", "[codec]") {
  CHECK(message("plain").find("what is at byte 0 of the compressed file is no zstd frame") == 0);
  CHECK(message("\x28\xb5\x2f\xfe").find("no zstd frame") != std::string::npos);
  CHECK(message("").find("truncated") != std::string::npos);
  // The formats of before 2016, which libzstd may read.
  CHECK(message("\x27\xb5\x2f\xfd").find("no zstd frame") != std::string::npos);
  CHECK(message("\x1e\xb5\x2f\xfd").find("no zstd frame") != std::string::npos);
}

#if defined(DATAFLUX_ZSTD)

TEST_CASE("zstd_decoder: every frame of a file is read, and skippable ones are not", "[codec]") {
  CHECK(decode(raw_frame("first")).bytes == "first");
  CHECK(decode(raw_frame("a") + raw_frame("") + zstd_of("b") + zstd_of("")).bytes == "ab");
  for (unsigned kind = 0; kind < 16; ++kind) {
    const decoded_file out =
        decode(skippable("seek", kind) + raw_frame("a") + skippable("") + zstd_of("b"));
    CHECK_FALSE(out.failure);
    CHECK(out.bytes == "ab");
  }
  CHECK_FALSE(decode(skippable("alone")).failure);
}

TEST_CASE("zstd_decoder: files of other writers are read", "[codec]") {
  const decoded_file out = decode(vector_file("tar/odd/plain.tar.zst"));
  CHECK_FALSE(out.failure);
  CHECK(out.bytes == vector_file("tar/odd/plain.tar"));
}

TEST_CASE("zstd_decoder: large files come out as they went in", "[codec]") {
  const std::string text = repeating_bytes(700'000);
  const std::string compressed = zstd_of(text);
  REQUIRE(compressed.size() < text.size() / 4 * 3);
  for (const auto& [piece, room] : {std::pair<std::size_t, std::size_t>{1 << 20, 1 << 20},
                                    {1, 100'000},
                                    {1000, 1},
                                    {5000, 33'000},
                                    {1 << 20, 77}}) {
    const decoded_file out = decode_all<zstd_decoder>(compressed + compressed, piece, room);
    CHECK_FALSE(out.failure);
    CHECK(out.bytes == text + text);
  }
}

TEST_CASE("zstd_decoder: garbage behind a frame is an error with its place", "[codec]") {
  const std::string frame = raw_frame("text");
  CHECK(decode_all<zstd_decoder>(frame + "garbage", 1000, 1000).bytes == "text");
  const std::string wanted = "what is at byte " + std::to_string(frame.size()) +
                             " of the compressed file is no zstd frame";
  CHECK(message(frame + "garbage") == wanted);
  CHECK(message(frame + std::string(100, '\0')) == wanted);
  CHECK(message(frame + "\x28\xb5\x2f_") == wanted);
}

TEST_CASE("zstd_decoder: a cut file is an error at every place but a frame's end", "[codec]") {
  const std::string first = zstd_of(repeating_bytes(900));
  const std::string file = first + raw_frame("second");
  for (std::size_t size = 0; size < file.size(); ++size) {
    INFO(size);
    const decoded_file out = decode_all<zstd_decoder>(file.substr(0, size), 64, 64);
    CHECK(out.failure.has_value() == (size != first.size()));
    if (!out.failure) continue;
    CHECK(out.failure->code() == errc::data_loss);
    CHECK(out.failure->message() == "the compressed file is truncated: it ends at byte " +
                                        std::to_string(size) +
                                        ", within the zstd frame that begins at byte " +
                                        std::to_string(size < first.size() ? 0 : first.size()));
  }
}

TEST_CASE("zstd_decoder: a frame's checksum is compared", "[codec]") {
  std::string file = zstd_of("some text that is stored as it is");
  file.back() = static_cast<char>(file.back() ^ 1);
  const std::string said = message(raw_frame("good") + file);
  CHECK(said.find("the zstd frame that begins at byte 13 cannot be read on at byte ") == 0);
  CHECK(said.find("checksum") != std::string::npos);
}

TEST_CASE("zstd_decoder: what would take more memory than stated is refused", "[codec]") {
  CHECK(decode(raw_frame("text", 27)).bytes == "text");
  for (const unsigned log : {28U, 31U, 41U}) {
    CHECK(message(raw_frame("text", log), errc::unimplemented).find("--long") != std::string::npos);
  }
}

TEST_CASE("zstd_decoder: a frame that needs a dictionary says so", "[codec]") {
  std::string file = raw_frame("text");
  file[4] = '\x01';
  file.insert(6, "\x07");
  CHECK(message(file, errc::unimplemented).find("dictionary") != std::string::npos);
}

TEST_CASE("zstd_decoder: any bytes end in data or in an error", "[codec]") {
  const std::string text = repeating_bytes(300);
  const std::string compressed = zstd_of(text);
  const std::string plain = vector_file("tar/odd/plain.tar.zst");
  for_each_mutation({compressed, plain, raw_frame("a") + skippable("b") + raw_frame("c")}, 1000,
                    fuzz_zstd);
}

#else

TEST_CASE("zstd_decoder: without libzstd it says what to do", "[codec]") {
  CHECK(message(raw_frame("text"), errc::unimplemented).find("DATAFLUX_ZSTD=ON") !=
        std::string::npos);
  CHECK(message(skippable("text"), errc::unimplemented).find("libzstd") != std::string::npos);
  for_each_mutation({raw_frame("a") + skippable("b")}, 100, fuzz_zstd);
}

#endif

}  // namespace zstd_decoder_test
