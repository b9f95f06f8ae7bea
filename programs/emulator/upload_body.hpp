#pragma once

#include <emulator/message.hpp>
#include <emulator/object_json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace emulator {

/// Digests that a writer says its bytes have, in the service's base64 form.
struct declared_digests {
  std::optional<std::string> crc32c{};
  std::optional<std::string> md5{};

  /// Of `x-goog-hash` (comma list or several lines) and `Content-MD5`.
  static declared_digests of_headers(const http_request& request);
  /// Throws service_error 400 on a mismatch or on text that is no digest; XML codes CrcMismatch,
  /// BadDigest and InvalidDigest.
  void check(const content& data) const;
};

/// The boundary of a multipart body, quoted (also by apostrophes, as a client does) or not. Throws
/// service_error 400 when the Content-Type is not `media_type` or names none.
std::string boundary_of(const http_request& request, std::string_view media_type);

/// The two parts of a `multipart/related` upload (protocol.md 1.3).
struct related_body {
  std::string metadata{};    ///< the JSON text
  std::string media_type{};  ///< Content-Type of the second part
  content media{};           ///< shares the request's memory
};
/// Throws service_error 400 unless the body is exactly two well-formed parts.
related_body parse_related(const http_request& request);

/// The body without its `Content-Encoding: gzip`, which is the transfer's on the JSON API, and not
/// the object's. Throws service_error 400 when it is not gzip.
content decoded_body(const http_request& request);

}  // namespace emulator
