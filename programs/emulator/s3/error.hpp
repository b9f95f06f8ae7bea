#pragma once

#include <emulator/service_error.hpp>

#include <string>
#include <string_view>

/// S3's refusals.
namespace emulator::s3 {

service_error error(int status, const std::string& code, const std::string& message);

service_error no_such_key();
service_error no_such_version();
service_error access_denied(const std::string& message = "Access Denied");
service_error malformed_xml();
service_error not_implemented(const std::string& what);
/// 405; for a delete marker that is asked for by its version.
service_error method_not_allowed();

/// The names and texts of S3 where a layer below has refused in Google's.
service_error in_own_words(const service_error& refused);

/// `<Error>` with all its members but the ids; 304 has no body.
http_reply error_reply(const service_error& refused);

/// Adds the ids of the request, to an error document, too.
void sign_off(http_reply& reply, const std::string& request_id);

}  // namespace emulator::s3
