#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <memory>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct held_key;
}

/// A key of the caller's, by which the service encrypts objects (AES-256) and which it does not
/// keep: a customer-supplied key of Google, SSE-C of S3. Without it the objects are lost.
///
/// Copies share the 32 bytes, which are wiped when the last of them is gone. They are in no error,
/// event or log. Requests carry them, and what a request was made in is not wiped.
///
/// Threads: as of a std::shared_ptr. Cost: of a copy a count.
class encryption_key {
 public:
  static constexpr std::size_t length = 32;

  /// None.
  encryption_key() noexcept = default;
  /// Copies the bytes; the caller wipes its own. Errors: invalid_argument for any number of bytes
  /// but 32, and none shows them; internal, from OpenSSL.
  static result<encryption_key> from_bytes(bytes_view bytes);
  /// Of the text in Base64 that gcloud and gsutil take. Errors: as above.
  static result<encryption_key> from_base64(std::string_view text);

  bool empty() const noexcept { return held_ == nullptr; }
  /// Null for none.
  const detail::held_key* held() const noexcept { return held_.get(); }
  friend bool operator==(const encryption_key& a, const encryption_key& b) noexcept {
    return a.equals(b);
  }

 private:
  bool equals(const encryption_key& other) const noexcept;

  std::shared_ptr<const detail::held_key> held_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/encryption_key.ipp>
#endif
