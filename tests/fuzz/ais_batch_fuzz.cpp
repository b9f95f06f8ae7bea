#include <dataflux/ais/detail/batch_verb.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <fuzz/ais_batch_fuzz.hpp>
#include <fuzz/require.hpp>

#include <array>
#include <cstddef>
#include <string>

void fuzz_ais_batch(std::span<const std::byte> input) {
  std::array<std::array<std::byte, 3>, 3> memory{};
  dataflux::read_batch_request asked{.bucket = "bkt"};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    asked.entries.push_back({std::string(1, static_cast<char>('a' + i)), i == 1 ? 7 : 0,
                             dataflux::bytes_span(memory[i]).first(i + 1)});
  }
  const auto came = dataflux::detail::ais::read_batch(asked, input);
  require(came.size() == asked.entries.size());
  for (std::size_t i = 0; i < came.size(); ++i) {
    if (!came[i].got) continue;
    require(came[i].crc32c == dataflux::crc32c(asked.entries[i].into));
    require(came[i].verified == (asked.entries[i].generation != 0));
  }
}
