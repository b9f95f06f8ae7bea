#pragma once

#include <emulator/message.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// A refusal by the service, thrown by the verbs and rendered once, by the API that was called
/// (protocol.md 1.10: JSON documents, plain text on media downloads, XML documents).
struct service_error : std::runtime_error {
  service_error(int http_status, std::string json_reason, std::string xml_error_code,
                const std::string& message)
      : std::runtime_error(message),
        status(http_status),
        reason(std::move(json_reason)),
        xml_code(std::move(xml_error_code)) {}

  int status;
  std::string reason;         ///< "notFound", for JSON
  std::string xml_code;       ///< "NoSuchKey", for XML
  std::string xml_message{};  ///< the XML API's own words; empty: the same as what()
  std::string location{};     ///< header or parameter at fault, for JSON
  std::string location_type{};
  std::uint64_t object_size{0};        ///< with 416: for Content-Range
  std::vector<header_line> members{};  ///< more children of S3's document
  std::vector<header_line> headers{};  ///< more headers of S3's reply
};

service_error no_such_bucket();
service_error no_such_object(std::string_view bucket, std::string_view name);
service_error no_such_upload();
service_error condition_not_met();
service_error not_modified();
service_error range_not_satisfiable(std::uint64_t object_size);
/// 400 with reason "invalid" / "required" and XML code "InvalidArgument".
service_error invalid_argument(const std::string& message);
service_error required_parameter(const std::string& name);
/// 400 of the XML API with a code of its own.
service_error bad_request(std::string xml_code, const std::string& message);
/// 403 for lack of that permission.
service_error forbidden(std::string_view permission, std::string_view object);
/// 403 for what nobody may delete or replace, whatever the permissions.
service_error under_hold(std::string_view bucket, std::string_view name, std::string_view kind);
service_error retention_not_met(std::string_view bucket, std::string_view name,
                                std::string_view until);
/// 400, and not 501 as would be at hand: Google's clients for Go repeat every 5xx for ever.
service_error not_modelled(const std::string& what);
service_error unauthorized(bool token_sent);
/// 400: access control lists do not exist where access is uniform.
service_error uniform_access();
/// 412: the bucket must not become public.
service_error public_access();

/// Which API was called, hence how an error looks.
enum class error_form { json, text, xml, s3, ais };
http_reply render(const service_error& error, error_form form);

/// `<Error>` as the XML API writes it.
std::string xml_error_document(std::string_view code, std::string_view message,
                               std::string_view details);
std::string xml_escape(std::string_view text);

}  // namespace emulator
