#include <dataflux/codec/detail/base64.hpp>

#include <fuzz/base64_fuzz.hpp>
#include <fuzz/require.hpp>

namespace codec = dataflux::detail::codec;

void fuzz_base64(std::span<const std::byte> input) {
  const std::string_view text = dataflux::as_text(input);
  if (const auto bytes = codec::decode_base64(text)) {
    require(codec::encode_base64(dataflux::as_bytes(*bytes)) == text);
  }
  require(codec::decode_base64(codec::encode_base64(input)) == text);
}
