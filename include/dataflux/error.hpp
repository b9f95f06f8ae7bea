#pragma once

#include <dataflux/detail/config.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// What kind of failure it is. Values equal google.rpc.Code 0-16 in every language binding.
enum class errc : std::int32_t {
  ok = 0,
  cancelled = 1,            ///< the caller asked to stop
  unknown = 2,              ///< the service said something that no other code covers
  invalid_argument = 3,     ///< bad input; found before any network call whenever possible
  deadline_exceeded = 4,    ///< the caller's deadline passed
  not_found = 5,            ///< no such bucket, object, generation or upload
  already_exists = 6,       ///< a create-only write met an existing object
  permission_denied = 7,    ///< authenticated, but not allowed (403)
  resource_exhausted = 8,   ///< rate limit or quota (429), or a local memory budget
  failed_precondition = 9,  ///< a condition did not hold (412, 304), or a handle used after fork
  aborted = 10,             ///< a conflict with a concurrent change (409)
  out_of_range = 11,        ///< a range outside the object (416)
  unimplemented = 12,       ///< recognised, not supported; the message says what to use
  internal = 13,            ///< an invariant of this library or of the service broke
  unavailable = 14,         ///< the service or the network cannot serve now (5xx, connect, reset)
  data_loss = 15,           ///< bytes arrived, or were stored, that do not match their checksum
  unauthenticated = 16,     ///< no credentials, or refused ones (401)
};

/// The canonical lower-case name, such as "not_found"; "unknown" for a value outside 0-16.
std::string_view to_string(errc code) noexcept;

/// The code for an HTTP status outside 2xx (protocol.md 1.10, 3.1); errc::unknown for others.
errc errc_from_http_status(int status) noexcept;

/// One failure with all that an operator needs to act on it.
///
/// It never holds a secret: tokens, keys and session URLs are left out when the error is made.
///
/// Lifetime: texts are valid as long as the error is. A moved-from error may only be assigned to or
/// destroyed.
///
/// Threads: distinct objects are independent, copies of one error as well.
///
/// Cost: one pointer wide; copies share the text, and the `with_*` setters copy on write.
class error {
 public:
  /// Cost: one allocation. `code` must not be errc::ok.
  error(errc code, std::string message);
  error(const error& other) noexcept;
  error(error&& other) noexcept : rep_(other.rep_) { other.rep_ = nullptr; }
  error& operator=(error other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~error();

  errc code() const noexcept;
  /// What happened and what to do, for a person; without bucket, object or attempts (see
  /// to_string).
  const std::string& message() const noexcept;
  /// The HTTP status of the last reply, 0 when none arrived.
  int http_status() const noexcept;
  /// The verb that failed, such as "objects.get"; empty outside a call of the service.
  const std::string& verb() const noexcept;
  /// "s3" of a bucket of S3, "ais" of AIStore, as URLs begin; "gs" where nothing else was said.
  const std::string& scheme() const noexcept;
  const std::string& bucket() const noexcept;
  const std::string& object() const noexcept;
  /// The generation asked for, 0 when none was.
  std::int64_t generation() const noexcept;
  /// The service's machine-readable reason ("rateLimitExceeded", "NoSuchUpload"), verbatim.
  const std::string& reason() const noexcept;
  /// The service's id of the request (X-GUploader-UploadID), for a support case.
  const std::string& request_id() const noexcept;
  /// How many HTTP attempts were made, 0 when the failure came before the first.
  int attempts() const noexcept;
  /// True if an attempt without an answer, or with a 5xx, may have been carried out, or may still
  /// be, whatever a later attempt, which this error may report, was answered.
  bool outcome_unknown() const noexcept;
  /// True if the same call may succeed later without any change by the caller.
  bool retryable() const noexcept;
  /// True if the bucket was not found, and so everything in it.
  bool bucket_missing() const noexcept;
  /// How long the service asked to wait, 0 when it did not.
  std::chrono::milliseconds retry_after() const noexcept;

  /// Not errc::ok.
  error& with_code(errc code);
  error& with_message(std::string text);
  error& with_http_status(int status);
  error& with_verb(std::string_view verb);
  error& with_scheme(std::string_view scheme);
  error& with_bucket(std::string_view bucket);
  error& with_object(std::string_view object);
  error& with_generation(std::int64_t generation);
  error& with_reason(std::string_view reason);
  error& with_request_id(std::string_view id);
  error& with_attempts(int attempts);
  error& with_outcome_unknown(bool unknown);
  error& with_retryable(bool retryable);
  error& with_bucket_missing(bool missing);
  error& with_retry_after(std::chrono::milliseconds wait);

  /// One line for a log: code, verb, gs://bucket/object#generation (or s3://), HTTP status, reason,
  /// message, attempts, request id. Control characters of names are escaped.
  std::string to_string() const;

 private:
  struct rep;
  rep& own();
  rep* rep_;
};

/// Thrown by result<T>::value(), and by nothing else in the library.
class exception : public std::runtime_error {
 public:
  explicit exception(dataflux::error e) : std::runtime_error(e.to_string()), error_(std::move(e)) {}
  const dataflux::error& error() const noexcept { return error_; }

 private:
  dataflux::error error_;
};

namespace detail {
/// Throws it as an exception. Out of line: users may compile with -fno-exceptions.
[[noreturn]] void raise(const error& e);
}  // namespace detail

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/impl/error.ipp>
#endif
