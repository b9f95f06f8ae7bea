#pragma once

#include <dataflux/s3/detail/reply_codes.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

inline constexpr auto throttled = http::reply_class::throttled;
inline constexpr auto transient = http::reply_class::transient;

inline constexpr std::string_view too_fast{
    "too many requests: the rate of a prefix grows over minutes"};
inline constexpr std::string_view check_keys{"check the keys, and that they are of this service"};
inline constexpr std::string_view check_session{
    "the keys have expired, or are not good yet: renew them"};
inline constexpr std::string_view damaged{
    "nothing was stored: the bytes changed on their way, or the checksum is not theirs"};
inline constexpr std::string_view set_region{"set `region` to the bucket's"};

inline constexpr reply_code known_reply_codes[] = {
    // Repeated, and slower.
    {"SlowDown", errc::resource_exhausted, throttled, too_fast},
    {"SlowDownRead", errc::resource_exhausted, throttled, too_fast},
    {"SlowDownWrite", errc::resource_exhausted, throttled, too_fast},
    {"ServiceUnavailable", errc::resource_exhausted, throttled, too_fast},
    {"RequestLimitExceeded", errc::resource_exhausted, throttled, too_fast},
    {"BandwidthLimitExceeded", errc::resource_exhausted, throttled, too_fast},
    {"TooManyRequestsException", errc::resource_exhausted, throttled, too_fast},
    {"KMS.ThrottlingException", errc::resource_exhausted, throttled, too_fast},
    // Repeated.
    {"InternalError", errc::unavailable, transient},
    {"InternalErrors", errc::unavailable, transient},
    {"RequestTimeout", errc::unavailable, transient},  // 400: the body came too slowly
    {"IncompleteBody", errc::unavailable, transient},
    {"OperationAborted", errc::aborted, transient},
    // By another signature.
    {"ExpiredToken", errc::unauthenticated, {}, check_session},
    {"ExpiredTokenException", errc::unauthenticated, {}, check_session},
    {"InvalidToken", errc::unauthenticated, {}, check_session},
    {"InvalidAccessKeyId", errc::unauthenticated, {}, check_keys},
    {"SignatureDoesNotMatch", errc::unauthenticated, {}, check_keys},
    {"InvalidSignatureException", errc::unauthenticated, {}, check_keys},
    {"AuthFailure", errc::unauthenticated, {}, check_keys},
    {"RequestTimeTooSkewed", errc::unauthenticated, {}, "set this machine's clock"},
    {"RequestExpired", errc::unauthenticated, {}, "set this machine's clock"},
    // By where the bucket is.
    {"PermanentRedirect", errc::failed_precondition, {}, set_region},
    {"TemporaryRedirect", errc::unavailable, {}, set_region},
    {"AuthorizationHeaderMalformed", errc::unauthenticated, {}, set_region},
    {"IllegalLocationConstraintException", errc::failed_precondition, {}, set_region},
    // By meaning.
    {"PreconditionFailed", errc::failed_precondition},
    {"ConditionalRequestConflict", errc::aborted},
    {"ConflictException", errc::aborted},
    {"InvalidRange", errc::out_of_range, {}, "the range begins beyond the end of the object"},
    {"NoSuchBucket",
     errc::not_found,
     {},
     "the bucket does not exist: check its name and the endpoint"},
    {"NoSuchKey", errc::not_found, {}, "the object does not exist"},
    {"NoSuchVersion", errc::not_found},
    {"NoSuchUpload", errc::not_found, {}, "the upload was completed or aborted, or never was"},
    // Final.
    {"AccessDenied", errc::permission_denied, {}, "the account may not do this here"},
    {"AllAccessDisabled", errc::permission_denied},
    {"InvalidObjectState",
     errc::failed_precondition,
     {},
     "the object is archived: restore it first"},
    {"BadDigest", errc::data_loss, {}, damaged},
    {"InvalidDigest", errc::data_loss, {}, damaged},
    {"XAmzContentSHA256Mismatch", errc::data_loss, {}, damaged},
    {"EntityTooLarge",
     errc::invalid_argument,
     {},
     "it is too large for one request: send it in parts, by `upload` or a writer"},
    {"EntityTooSmall", errc::invalid_argument, {}, "each part but the last has 5 MiB at least"},
    {"InvalidPart", errc::invalid_argument, {}, "a part is missing, or was replaced"},
    {"InvalidPartOrder", errc::invalid_argument},
    {"MalformedXML", errc::invalid_argument},
    {"KeyTooLongError", errc::invalid_argument},
    {"MethodNotAllowed", errc::failed_precondition},
    {"NotImplemented", errc::unimplemented, {}, "this server does not have it"},
    {"QuotaExceeded", errc::resource_exhausted, http::reply_class::final},
};

DATAFLUX_INLINE std::span<const reply_code> reply_codes() noexcept { return known_reply_codes; }

DATAFLUX_INLINE const reply_code* find_reply_code(std::string_view code) noexcept {
  if (code.starts_with("Throttling")) code = "RequestLimitExceeded";
  for (const reply_code& known : known_reply_codes) {
    if (known.code == code) return &known;
  }
  return nullptr;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
