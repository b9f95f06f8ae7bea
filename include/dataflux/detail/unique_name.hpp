#pragma once

#include <dataflux/detail/config.hpp>
#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/detail/text_hash.hpp>

#include <sys/random.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Random bits of the system, as a seed sequence, too. std::random_device and
/// std::seed_seq need memory.
struct system_entropy {
  using result_type = std::uint32_t;

  static void fill(void* memory, std::size_t size) noexcept {
    auto* to = static_cast<unsigned char*>(memory);
    while (size > 0) {
      const ::ssize_t got = ::getrandom(to, size, 0);  // less than all after a signal
      if (got <= 0) continue;
      to += got;
      size -= static_cast<std::size_t>(got);
    }
  }
  static std::uint64_t bits() noexcept {
    std::uint64_t out = 0;
    fill(&out, sizeof out);
    return out;
  }
  template <class Iterator>
  void generate(Iterator first, Iterator last) const noexcept {
    for (; first != last; ++first) *first = static_cast<result_type>(bits());
  }
};

/// `prefix` and 16 hexadecimal digits that tell `key`, however long that is (FNV-1a): the same in
/// each process.
inline std::string hashed_name(std::string_view prefix, std::string_view key) {
  std::string name(prefix);
  append_hex(name, fnv1a(key));
  return name;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
