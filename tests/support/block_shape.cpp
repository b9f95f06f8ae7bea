#include <support/block_shape.hpp>
#include <support/name_dice.hpp>

#include <algorithm>
#include <array>
#include <utility>

using name_dice::mix;

namespace {

/// How many of 0 .. count - 1 begin with the decimal `prefix`, itself included.
std::uint64_t decimals_below(std::uint64_t prefix, std::uint64_t count) noexcept {
  std::uint64_t found = 0;
  for (std::uint64_t low = prefix, width = 1; low < count; low *= 10, width *= 10) {
    found += std::min(count, low + width) - low;
    if (low == 0) break;
  }
  return found;
}

/// The decimal without leading zeros at that place of 0 .. count - 1 in order of bytes.
std::uint64_t decimal_at(std::uint64_t rank, std::uint64_t count) noexcept {
  if (rank == 0) return 0;
  --rank;  // behind "0"
  std::uint64_t value = 1;
  for (;;) {
    const std::uint64_t here = decimals_below(value, count);
    if (rank >= here) {
      rank -= here;
      ++value;
    } else if (rank == 0) {
      return value;
    } else {
      --rank;
      value *= 10;
    }
  }
}

}  // namespace

void append_padded(std::string& text, std::uint64_t value, int width) {
  std::array<char, 20> digits{};
  for (int i = width; i-- > 0; value /= 10) {
    digits.at(static_cast<std::size_t>(i)) = static_cast<char>('0' + value % 10);
  }
  text.append(digits.data(), static_cast<std::size_t>(width));
}

void append_hex(std::string& text, std::uint64_t value, int width) {
  for (int i = width; i-- > 0;)
    text += "0123456789abcdef"[value >> (4U * static_cast<unsigned>(i)) & 15U];
}

block_shape::block_shape(std::vector<block> blocks, std::uint64_t seed)
    : blocks_(std::move(blocks)), seed_(seed) {
  std::erase_if(blocks_, [](const block& b) { return b.count == 0; });
  for (block& b : blocks_) {
    b.first = size_;
    size_ += b.count;
  }
}

void block_shape::name_at(std::uint64_t rank, std::string& name) const {
  const auto behind = std::upper_bound(blocks_.begin(), blocks_.end(), rank,
                                       [](std::uint64_t r, const block& b) { return r < b.first; });
  const block& b = *std::prev(behind);
  name.assign(b.prefix);
  const std::uint64_t index = rank - b.first;
  switch (b.kind) {
    case leaf::padded:
      append_padded(name, index, 8);
      break;
    case leaf::decimal:
      name += std::to_string(decimal_at(index, b.count));
      break;
    case leaf::hex:
    case leaf::uuid:
    case leaf::uuid7:
      append_random(name, b, rank, index);
  }
  name += b.suffix;
}

void block_shape::append_random(std::string& name, const block& b, std::uint64_t rank,
                                std::uint64_t index) const {
  const double part = 0x1p60 / static_cast<double>(b.count);
  const double within = static_cast<double>(mix(seed_ ^ rank) >> 11U) * 0x1p-53;
  const auto low = static_cast<std::uint64_t>(part * static_cast<double>(index));
  const std::uint64_t value = (low + static_cast<std::uint64_t>(part * within * 0.999)) << 4U;
  const std::uint64_t rest = mix(~seed_ ^ rank);
  if (b.kind == leaf::hex) {
    append_hex(name, value, 16);
    return append_hex(name, rest, 12);
  }
  if (b.kind == leaf::uuid7) {  // five digits of the time, then a counter
    append_hex(name, value >> 60U, 1);
    append_hex(name += '-', value >> 44U & 0xFFFFU, 4);
    append_hex(name += "-7", value >> 32U & 0xFFFU, 3);
  } else {
    append_hex(name, value >> 32U, 8);
    append_hex(name += '-', value >> 16U & 0xFFFFU, 4);
    append_hex(name += "-4", rest >> 52U, 3);
  }
  append_hex(name += "-a", rest >> 40U & 0xFFFU, 3);
  append_hex(name += '-', rest >> 8U & 0xFFFFFFFFFFFFU, 12);
}
