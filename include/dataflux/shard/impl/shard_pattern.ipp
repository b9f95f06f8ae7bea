#pragma once

#include <dataflux/shard/detail/shard_pattern.hpp>

#include <charconv>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

inline constexpr std::size_t most_digits = 18;

DATAFLUX_INLINE result<shard_pattern> shard_pattern::parse(std::string_view pattern,
                                                           std::string_view example) {
  const error bad{errc::invalid_argument,
                  "the pattern '" + std::string(pattern) +
                      "' must have one number with leading zeros, of 1 to 18 digits, and no other "
                      "'%': such as " +
                      std::string(example)};
  const std::size_t begin = pattern.find("%0");
  if (begin == std::string_view::npos) return bad;
  std::string_view rest = pattern.substr(begin + 2);
  shard_pattern made;
  const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), made.digits_);
  if (number.ec != std::errc{} || made.digits_ == 0 || made.digits_ > most_digits) return bad;
  rest.remove_prefix(static_cast<std::size_t>(number.ptr - rest.data()));
  if (!rest.starts_with('d')) return bad;
  made.front_ = pattern.substr(0, begin);
  made.back_ = rest.substr(1);
  if (made.front_.find('%') != std::string::npos || made.back_.find('%') != std::string::npos) {
    return bad;
  }
  return made;
}

DATAFLUX_INLINE shard_pattern shard_pattern::one(std::string_view name) {
  shard_pattern made;
  made.front_ = name;
  return made;
}

DATAFLUX_INLINE result<std::string> shard_pattern::name(std::uint64_t number) const {
  if (digits_ == 0 && number == 0) return front_;
  const std::string digits = std::to_string(number);
  if (digits.size() > digits_) {
    return error{errc::out_of_range, "shard " + digits + " does not fit the " +
                                         std::to_string(digits_) +
                                         " digits of its pattern; give it more digits"};
  }
  return front_ + std::string(digits_ - digits.size(), '0') + digits + back_;
}

DATAFLUX_INLINE std::optional<std::uint64_t> shard_pattern::number_of(
    std::string_view name) const noexcept {
  if (name.size() != front_.size() + digits_ + back_.size()) return std::nullopt;
  if (!name.starts_with(front_) || !name.ends_with(back_)) return std::nullopt;
  if (digits_ == 0) return 0;
  const std::string_view digits = name.substr(front_.size(), digits_);
  std::uint64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
