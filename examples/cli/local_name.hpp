#pragma once

#include <string_view>
#include <vector>

/// Which object names can be file names below a folder. Names in a bucket are any UTF-8 and belong
/// to whoever may write there; a file name decides what is overwritten here. So a name is taken as
/// it is or refused: never cleaned up, since two names could then become one file.
namespace cli {

/// Why `name`, taken relative to a folder, is no path of a file in it; empty when it is one.
/// Refused: nothing at all; an empty component ("/x", "a//b", "x/"); "." and ".."; a zero byte; a
/// component of more than 255 bytes. Any other byte is taken, tabs and escape sequences too, since
/// files with them go up: one rule both ways. Pure.
std::string_view why_no_file(std::string_view name) noexcept;

/// The components between the '/' of a name that why_no_file() lets through.
std::vector<std::string_view> components(std::string_view name);

}  // namespace cli
