#pragma once

#include <emulator/content.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What the emulator's plain layers know of HTTP: a request in, a reply out, no socket.
namespace emulator {

/// ASCII case-insensitive equality, as header names are compared.
bool same_name(std::string_view a, std::string_view b) noexcept;
/// With A to Z in lower case.
std::string lower_case(std::string_view text);

struct header_view {
  std::string_view name;
  std::string_view value;
};
struct header_line {
  std::string name;
  std::string value;
};

/// A request. Head texts are borrowed from the connection until the reply has been made.
struct http_request {
  std::string_view method{};
  std::string_view target{};  ///< as sent: path and query, still percent-encoded
  std::vector<header_view> headers{};
  content body{};
  bool secure{false};  ///< came over TLS
  /// The certificate that the client showed, DER in base64; empty: none.
  std::string_view client_certificate{};

  /// The first value of that name, empty when there is none.
  std::string_view header(std::string_view name) const noexcept;
  /// Scheme and authority as the client wrote them, for links in replies.
  std::string base() const;
};

struct http_reply {
  int status{200};
  /// Without Content-Length, Transfer-Encoding and Connection: the connection adds those, and Date
  /// and Server where they are absent.
  std::vector<header_line> headers{};
  content body{};
  bool chunked{false};    ///< sent in chunks, with no Content-Length
  bool head_only{false};  ///< answer to HEAD: Content-Length of `body`, no body

  void set(std::string_view name, std::string value) {
    headers.push_back({std::string{name}, std::move(value)});
  }
  /// The first value of that name, empty when there is none.
  std::string_view header(std::string_view name) const noexcept;
};

/// The reason phrase of a status line.
std::string_view reason_phrase(int status) noexcept;

}  // namespace emulator
