#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

enum class method : std::uint8_t { get, head, post, put, del, patch };

/// "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH".
std::string_view to_string(method m) noexcept;

/// Header fields in the form in which they go on the wire, in one string that keeps its capacity
/// between requests. Order is kept; names may repeat. Not thread-safe.
class header_list {
 public:
  /// `name` must be a token other than the encoder's own (Host, Connection, Content-Length,
  /// Transfer-Encoding) and `value` free of CR, LF and NUL; otherwise the field is left out and
  /// valid() is false, so that builders need no check per field.
  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::uint64_t value);
  /// All fields of another list, which has looked at them.
  void add(const header_list& others);
  void clear() noexcept;
  bool valid() const noexcept { return valid_; }
  /// The fields as they are sent: "name: value\r\n" each, without the empty line.
  std::string_view wire() const noexcept { return wire_; }
  /// The first field of that name (ASCII case-insensitive), for tests and logs.
  std::optional<std::string_view> find(std::string_view name) const noexcept;

 private:
  std::string wire_{};
  bool valid_{true};
};

/// A request body: gathered spans of the caller's memory, sent without a copy. It can be sent
/// again from the start at any time. The memory outlives the exchange.
class request_body {
 public:
  static constexpr std::size_t max_parts = 4;

  request_body() noexcept = default;
  request_body(bytes_view whole) noexcept { append(whole); }
  /// At most max_parts pieces; empty ones are skipped. One too many is not taken and valid() is
  /// false from then on: the encoder refuses the request.
  void append(bytes_view part) noexcept;
  void clear() noexcept { count_ = 0, size_ = 0, valid_ = true; }
  bool valid() const noexcept { return valid_; }
  std::uint64_t size() const noexcept { return size_; }
  std::span<const bytes_view> parts() const noexcept { return {parts_, count_}; }

 private:
  bytes_view parts_[max_parts]{};
  std::size_t count_{0};
  std::uint64_t size_{0};
  bool valid_{true};
};

/// One HTTP/1.1 request. `host` and framing fields (Host, Content-Length, Connection) are written
/// by the encoder and must not be in `headers`.
struct request {
  http::method method{http::method::get};
  /// Where to connect and what Host says; shared between requests, never null when sent.
  std::shared_ptr<const http::origin> origin{};
  /// Origin form: absolute path and query, percent-encoded already.
  std::string target{};
  header_list headers{};
  request_body body{};

  /// Empties all but the capacity of the strings.
  void clear() noexcept;
};

/// Status line and fields of a reply. All views point into the decoder's input and are valid only
/// for the duration of the call that hands the head out.
class reply_head {
 public:
  struct field {
    std::string_view name{};
    std::string_view value{};  ///< without surrounding white space
  };

  int status() const noexcept { return status_; }
  bool ok() const noexcept { return status_ >= 200 && status_ <= 299; }
  std::span<const field> fields() const noexcept { return fields_; }
  /// The first field of that name (ASCII case-insensitive), or nothing.
  std::optional<std::string_view> find(std::string_view name) const noexcept;
  /// The Content-Length, nothing when the body is chunked or ends with the connection.
  std::optional<std::uint64_t> content_length() const noexcept { return content_length_; }

  /// For the decoder and for scripted replies in tests.
  void assign(int status, std::vector<field> fields, std::optional<std::uint64_t> length);

 private:
  friend class reply_decoder;
  int status_{0};
  std::vector<field> fields_{};
  std::optional<std::uint64_t> content_length_{};
};

bool same_letters_of_same_size(std::string_view a, std::string_view b) noexcept;

/// ASCII case-insensitive equality, as header names compare. Most pairs differ in size already.
inline bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && same_letters_of_same_size(a, b);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/message.ipp>
#endif
