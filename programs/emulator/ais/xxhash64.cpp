#include <emulator/ais/xxhash64.hpp>
#include <emulator/service_error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <span>

namespace emulator::ais {
namespace {

constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t prime3 = 0x165667B19E3779F9;
constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5;
constexpr std::size_t stripe = 32;

template <typename Number>
Number little_endian(const std::byte* from) {
  Number out = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    out |= static_cast<Number>(static_cast<Number>(from[i]) << (8 * i));
  }
  return out;
}

std::uint64_t mixed(std::uint64_t lane, std::uint64_t input) {
  return std::rotl(lane + input * prime2, 31) * prime1;
}

/// Takes the bytes in runs of any length.
class state {
 public:
  void add(std::span<const std::byte> bytes) {
    total_ += bytes.size();
    if (held_ > 0) {
      const std::size_t n = std::min(stripe - held_, bytes.size());
      std::copy_n(bytes.begin(), n, rest_.begin() + static_cast<std::ptrdiff_t>(held_));
      held_ += n;
      bytes = bytes.subspan(n);
      if (held_ < stripe) return;
      take(rest_.data());
      held_ = 0;
    }
    for (; bytes.size() >= stripe; bytes = bytes.subspan(stripe)) take(bytes.data());
    std::ranges::copy(bytes, rest_.begin());
    held_ = bytes.size();
  }

  std::uint64_t finish() const {
    std::uint64_t hash = prime5;
    if (total_ >= stripe) {
      hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
             std::rotl(lanes_[3], 18);
      for (const std::uint64_t lane : lanes_) {
        hash = (hash ^ mixed(0, lane)) * prime1 + prime4;
      }
    }
    return avalanche(with_rest(hash + total_));
  }

 private:
  void take(const std::byte* from) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i] = mixed(lanes_[i], little_endian<std::uint64_t>(from + 8 * i));
    }
  }
  std::uint64_t with_rest(std::uint64_t hash) const {
    std::size_t at = 0;
    for (; at + 8 <= held_; at += 8) {
      hash ^= mixed(0, little_endian<std::uint64_t>(rest_.data() + at));
      hash = std::rotl(hash, 27) * prime1 + prime4;
    }
    if (at + 4 <= held_) {
      hash ^= little_endian<std::uint32_t>(rest_.data() + at) * prime1;
      hash = std::rotl(hash, 23) * prime2 + prime3;
      at += 4;
    }
    for (; at < held_; ++at) {
      hash ^= static_cast<std::uint64_t>(rest_[at]) * prime5;
      hash = std::rotl(hash, 11) * prime1;
    }
    return hash;
  }
  static std::uint64_t avalanche(std::uint64_t hash) {
    hash = (hash ^ (hash >> 33)) * prime2;
    hash = (hash ^ (hash >> 29)) * prime3;
    return hash ^ (hash >> 32);
  }

  std::array<std::uint64_t, 4> lanes_{prime1 + prime2, prime2, 0, 0 - prime1};
  std::array<std::byte, stripe> rest_{};
  std::size_t held_{0};
  std::uint64_t total_{0};
};

}  // namespace

std::uint64_t xxhash64(const content& data) {
  state hash;
  std::vector<std::byte> scratch;
  for (std::uint64_t at = 0; at < data.size();) {
    const auto chunk = data.read(at, std::size_t{1} << 20U, scratch);
    if (chunk.empty()) {
      throw service_error{500, "internalError", "InternalError",
                          "The bytes of the object can no longer be read"};
    }
    hash.add(chunk);
    at += chunk.size();
  }
  return hash.finish();
}

std::string xxhash2(const content& data) {
  std::array<char, 17> out{};
  std::snprintf(out.data(), out.size(), "%016llx", static_cast<unsigned long long>(xxhash64(data)));
  return out.data();
}

}  // namespace emulator::ais
