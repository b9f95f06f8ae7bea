#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator {

/// Undoes percent-encoding; a stray '%' is kept as it is. '+' stays '+', as in paths, unless
/// `plus_is_space`, as in queries and forms.
std::string percent_decode(std::string_view text, bool plus_is_space = false);
/// Encodes every byte but A-Z a-z 0-9 - . _ ~ (protocol.md 0.1).
std::string percent_encode(std::string_view text);

/// The decoded parameters of a query or a form, in the order sent.
class query_parameters {
 public:
  query_parameters() = default;
  explicit query_parameters(std::string_view text);

  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// The first value of that name, empty when there is none.
  std::string_view get(std::string_view name) const noexcept;
  /// All values of that name.
  std::vector<std::string_view> all(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& values() const noexcept {
    return values_;
  }
  void erase(std::string_view name);
  /// True for "true" in any case: clients write booleans as their language prints them.
  bool flag(std::string_view name) const noexcept;

 private:
  const std::string* find(std::string_view name) const noexcept;
  std::vector<std::pair<std::string, std::string>> values_{};
};

/// Without the white space at both ends.
std::string_view trim(std::string_view text) noexcept;
/// A decimal number that fills the whole text.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

/// True for well-formed UTF-8 (no surrogates, no overlong forms).
bool valid_utf8(std::string_view text) noexcept;

}  // namespace emulator
