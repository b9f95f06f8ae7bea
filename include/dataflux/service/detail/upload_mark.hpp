#pragma once

#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/service/detail/verb.hpp>
#include <dataflux/store/detail/attributes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The mark by which a write knows its own object again: object_metadata::upload_mark.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// 32 hexadecimal digits.
class hexadecimal {
 public:
  explicit hexadecimal(const call_id& id) noexcept {
    char* to = text_.data();
    for (const std::uint64_t half : id) {
      to = write_hex(static_cast<std::uint32_t>(half >> 32U), to);
      to = write_hex(static_cast<std::uint32_t>(half), to);
    }
  }
  std::string_view view() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 32> text_{};
};

/// Empty when the caller's metadata leave no room for it within the `limit` of the service, in
/// bytes.
inline void write_mark(const call_id& id, const object_attributes& a, std::size_t limit,
                       std::string& mark) {
  mark.assign(hexadecimal{id}.view());
  std::size_t bytes = upload_mark_key.size() + mark.size();
  for (const auto& [key, value] : a.metadata) bytes += key.size() + value.size();
  if (bytes > limit) mark.clear();
}

inline std::string_view content_type_of(const object_attributes& a) noexcept {
  return a.content_type.empty() ? "application/octet-stream" : std::string_view(a.content_type);
}

/// Is it the object of the write that left `mark`? Without one, its metadata must do.
inline bool bears(const object_metadata& found, std::string_view mark, const object_attributes& a) {
  if (!mark.empty()) return found.upload_mark == mark;
  auto stored = found.metadata;
  auto sent = a.metadata;
  std::sort(sent.begin(), sent.end());
  std::sort(stored.begin(), stored.end());
  return sent == stored;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
