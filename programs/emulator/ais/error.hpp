#pragma once

#include <emulator/service_error.hpp>

#include <string>

namespace emulator::ais {

/// `code` is AIStore's, such as "ErrNotFound".
service_error error(int status, const std::string& code, const std::string& message);

/// The JSON document that the native calls are refused with.
http_reply error_reply(const service_error& refused, std::string_view method,
                       std::string_view path);

}  // namespace emulator::ais
