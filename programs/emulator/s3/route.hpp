#pragma once

#include <emulator/route.hpp>
#include <emulator/s3/options.hpp>

namespace emulator::s3 {

/// What a request asks for, by S3's rules: path style or virtual-hosted. A bucket's name is the
/// first segment of the path, or what stands before the domain in the host. Of a call that names no
/// object the verb is one of a bucket, and of one that does it never is.
call route(const http_request& request, const options& how);

/// The bucket that a host names; empty for none.
std::string bucket_of_host(std::string_view host, const options& how);

/// The source of a copy.
struct copy_source {
  std::string bucket{};
  std::string key{};
  std::string version{};  ///< empty: the current one
};
/// "/bucket/key?versionId=V", percent-encoded but for the slashes; the first one may be left out.
copy_source parse_copy_source(std::string_view text);

}  // namespace emulator::s3
