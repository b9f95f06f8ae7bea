#pragma once

#include <dataflux/detail/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

/// JSON for request bodies: compact, members in the order in which they are written.
namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// Appends `text` as a JSON string, quotes included. '"', '\' and control characters are escaped;
/// all else is copied, so that the outcome is valid JSON exactly if `text` is valid UTF-8
/// (is_valid_utf8): bytes are never replaced in silence. `text` must not point into `out`.
void append_json_string(std::string& out, std::string_view text);

/// The same document with each character beyond ASCII as \uXXXX. `json` is valid UTF-8.
std::string to_ascii_json(std::string_view json);

/// Builds one document; puts the commas. The caller balances begin and end, and calls key() before
/// each value inside an object: the writer does not check.
///
///     json_writer w;
///     w.begin_object().key("name").string(name).key("size").decimal_string(size).end_object();
///     request.body = std::move(w).take();
///
/// Not thread-safe; distinct objects are independent. Cost: the growth of one string.
class json_writer {
 public:
  /// Writes behind `begun`, whose memory it uses: take() gives both.
  explicit json_writer(std::string begun = {}) noexcept : out_(std::move(begun)) {}
  json_writer& begin_object();
  json_writer& end_object();
  json_writer& begin_array();
  json_writer& end_array();
  json_writer& key(std::string_view name);
  json_writer& string(std::string_view text);
  json_writer& boolean(bool value);
  json_writer& null();
  json_writer& integer(std::int64_t value);
  json_writer& natural(std::uint64_t value);
  /// The shortest text that is read as the same number; null for one that is not finite.
  json_writer& number(double value);
  /// A 64-bit integer as a string, which is how the service writes them (protocol.md 0).
  json_writer& decimal_string(std::int64_t value);

  const std::string& text() const noexcept { return out_; }
  std::string take() && noexcept { return std::move(out_); }

 private:
  void separate();

  std::string out_;
  bool comma_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/json_writer.ipp>
#endif
