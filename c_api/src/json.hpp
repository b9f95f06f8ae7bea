#pragma once

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/error.hpp>

#include <string>
#include <string_view>

namespace dataflux_c {

/// What is no UTF-8, such as a file's name may be, becomes U+FFFD: JSON is UTF-8.
std::string utf8_of(std::string_view text);

/// "status" and "text" of an error, into an object that is begun.
void write_error(dataflux::detail::codec::json_writer& w, const dataflux::error& why);

}  // namespace dataflux_c
