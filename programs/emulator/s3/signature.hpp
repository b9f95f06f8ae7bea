#pragma once

#include <emulator/route.hpp>
#include <emulator/s3/access_keys.hpp>
#include <emulator/s3/options.hpp>
#include <emulator/v4.hpp>

#include <optional>
#include <string>

namespace emulator::s3 {

/// A request whose signature is good.
struct signed_request {
  bool anonymous{false};
  bool presigned{false};
  std::string access_key{};
  std::string date{};  ///< "20260301T120000Z"
  v4_credential credential{};
  std::string signing_key{};  ///< raw
  std::string signature{};    ///< hexadecimal: the seed of signed chunks
  std::string payload{};      ///< x-amz-content-sha256
};

/// Judges the signature of a request, in the header Authorization or in the query, with its date,
/// scope, token and what it must cover; `now` is the service's clock. The body is not looked at:
/// see body_of. Throws service_error in S3's words, in which a wrong signature is repeated with all
/// that was signed, as S3 does.
signed_request check_signature(const call& asked, const http_request& request,
                               const access_keys& keys, const options& how,
                               stored_object::time_point now, std::string_view service = "s3");

/// The body as it is meant: compared with the digest that was signed, or freed from its chunks,
/// whose signatures and trailer are checked. The headers of a trailer are added to `request`, which
/// then borrows from `trailer`.
content body_of(const signed_request& who, http_request& request, std::vector<header_line>& trailer,
                const options& how);

}  // namespace emulator::s3
