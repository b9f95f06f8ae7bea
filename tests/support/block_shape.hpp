#pragma once

#include <support/name_shapes.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// How the names of a block differ: by a number in order, padded or not, by a random one, or by the
/// time at which each was made (uuid7: the block's prefix ends inside the time).
enum class leaf : std::uint8_t { padded, decimal, hex, uuid, uuid7 };

/// Names in one folder, or under one prefix.
struct block {
  std::string prefix{};
  std::uint64_t count{0};
  leaf kind{leaf::padded};
  std::string suffix{};
  std::uint64_t first{0};  // rank
};

class block_shape final : public name_shape {
 public:
  /// `blocks` ascending, so that all names of one are less than those of the next.
  block_shape(std::vector<block> blocks, std::uint64_t seed);
  std::uint64_t size() const noexcept override { return size_; }
  void name_at(std::uint64_t rank, std::string& name) const override;

 private:
  /// One number in each of `count` equal parts of the number space.
  void append_random(std::string& name, const block& b, std::uint64_t rank,
                     std::uint64_t index) const;

  std::vector<block> blocks_;
  std::uint64_t seed_;
  std::uint64_t size_{0};
};

/// In decimal, with leading zeros.
void append_padded(std::string& text, std::uint64_t value, int width);
void append_hex(std::string& text, std::uint64_t value, int width);
