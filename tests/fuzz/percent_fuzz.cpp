#include <dataflux/bytes.hpp>
#include <dataflux/codec/percent.hpp>

#include <fuzz/percent_fuzz.hpp>
#include <fuzz/require.hpp>

#include <algorithm>

namespace codec = dataflux::codec;

void fuzz_percent(std::span<const std::byte> input) {
  const std::string_view text = dataflux::as_text(input);
  const std::string segment = codec::encode_percent(text);
  require(codec::decode_percent(segment) == text);
  require(segment.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789-._~%") == std::string::npos);
  std::string path{"kept"};
  codec::append_percent_path(path, text);
  require(path.starts_with("kept") && codec::decode_percent(path.substr(4)) == text);
  require(std::count(path.begin(), path.end(), '/') == std::count(text.begin(), text.end(), '/'));
  if (const auto decoded = codec::decode_percent(text)) {
    require(decoded->size() <= text.size());
    require(codec::decode_percent(codec::encode_percent(*decoded)) == decoded);
  }
}
