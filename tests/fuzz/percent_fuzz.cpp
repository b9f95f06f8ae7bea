#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/percent.hpp>

#include <fuzz/percent_fuzz.hpp>
#include <fuzz/require.hpp>

#include <string>

namespace codec = dataflux::detail::codec;

void fuzz_percent(std::span<const std::byte> input) {
  const std::string_view text = dataflux::as_text(input);
  const std::string segment = percent_text(text);
  require(codec::decode_percent(segment) == text);
  require(segment.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789-._~%") == std::string::npos);
  std::string out{"kept"};
  codec::append_percent(out, text);
  require(out == "kept" + segment);
  if (const auto decoded = codec::decode_percent(text)) {
    require(decoded->size() <= text.size());
    require(codec::decode_percent(percent_text(*decoded)) == decoded);
  }
}
