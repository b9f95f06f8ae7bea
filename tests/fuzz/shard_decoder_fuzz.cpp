#include <dataflux/shard/detail/shard_decoder.hpp>

#include <fuzz/require.hpp>
#include <fuzz/shard_decoder_fuzz.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

struct decoded {
  std::string bytes{};
  bool failed{false};
};

decoded decode(dataflux::bytes_view input, std::size_t piece, std::size_t room) {
  // A bomb is not fuzzed for: what comes out of so few bytes is cut.
  constexpr std::size_t most = std::size_t{4} << 20U;
  dataflux::detail::shard::shard_decoder decoder;
  std::vector<std::byte> memory(room);
  decoded out;
  for (bool more = true; more && out.bytes.size() < most;) {
    const std::size_t size = std::min(piece, input.size());
    auto rest = input.first(size);
    input = input.subspan(size);
    more = size != 0;
    for (bool wants = false; more && !wants && out.bytes.size() < most;) {
      const auto step = decoder.decode(rest, memory);
      if (!step) return out.failed = true, out;
      require(step->consumed <= rest.size());
      out.bytes.append(dataflux::as_text(step->bytes));
      rest = rest.subspan(step->consumed);
      wants = step->needs_input;
      require(!wants || rest.empty());
    }
  }
  require(out.bytes.size() >= most || decoder.position() == out.bytes.size());
  out.failed = out.bytes.size() < most && !decoder.finish();
  return out;
}

}  // namespace

void fuzz_shard_decoder(std::span<const std::byte> input) {
  const decoded whole = decode(input, input.size() + 1, std::size_t{64} << 10U);
  const decoded cut = decode(input, 7, 300);
  require(whole.failed == cut.failed);
  if (!whole.failed) require(whole.bytes == cut.bytes);
}
