#include <dataflux/bytes.hpp>
#include <dataflux/cache/detail/cache_record.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <fuzz/cache_record_fuzz.hpp>
#include <fuzz/require.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

void fuzz_cache_record(std::span<const std::byte> input) {
  using dataflux::detail::cache_head_bytes;
  using dataflux::detail::decode_cache_head;
  const auto check = [](dataflux::bytes_view bytes) {
    const auto head = decode_cache_head(bytes);
    if (!head) return;
    require(head->bytes_before_body() <= bytes.size());
    require(head->record_bytes() >= head->bytes_before_body() + head->bytes);
    const auto names = dataflux::as_text(bytes.subspan(cache_head_bytes, head->name_bytes));
    std::vector<std::byte> again(cache_head_bytes + names.size());
    dataflux::detail::encode_cache_head(*head, names, again);
    const auto same = decode_cache_head(again);
    require(same && same->bytes == head->bytes && same->crc32c == head->crc32c);
    require(same->object_crc32c == head->object_crc32c && same->verified == head->verified);
  };
  check(input);
  if (input.size() < cache_head_bytes) return;
  // And with the checksum that it should have.
  std::vector<std::byte> mended(input.begin(), input.end());
  std::uint32_t names = 0;
  std::memcpy(&names, mended.data() + 8, sizeof names);
  const std::size_t covered =
      cache_head_bytes - 4 + std::min<std::size_t>(names, mended.size() - cache_head_bytes);
  const std::uint32_t right = dataflux::crc32c(dataflux::bytes_view(mended).subspan(4, covered));
  std::memcpy(mended.data(), &right, sizeof right);
  check(mended);
}
