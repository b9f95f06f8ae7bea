#pragma once

#include <string_view>

namespace cli {

/// The content type that a file name's extension stands for, as other tools of the service set it
/// on upload; "application/octet-stream" for those that are not known. Case does not matter. Pure.
std::string_view content_type_of(std::string_view name) noexcept;

}  // namespace cli
