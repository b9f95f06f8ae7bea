#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator {

/// Undoes percent-encoding; a stray '%' is kept as it is. '+' stays '+': the service takes it so in
/// paths, and `plus_is_space` says otherwise for form bodies.
std::string percent_decode(std::string_view text, bool plus_is_space = false);
/// Encodes every byte but A-Z a-z 0-9 - . _ ~ (protocol.md 0.1).
std::string percent_encode(std::string_view text);

/// The decoded parameters of a query or a form, in the order sent.
class query_parameters {
 public:
  query_parameters() = default;
  explicit query_parameters(std::string_view text, bool form = false);

  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// The first value of that name, empty when there is none.
  std::string_view get(std::string_view name) const noexcept;

 private:
  const std::string* find(std::string_view name) const noexcept;
  std::vector<std::pair<std::string, std::string>> values_{};
};

/// A decimal number that fills the whole text.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

/// True for well-formed UTF-8 (no surrogates, no overlong forms).
bool valid_utf8(std::string_view text) noexcept;

}  // namespace emulator
