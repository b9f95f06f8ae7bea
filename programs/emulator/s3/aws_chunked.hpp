#pragma once

#include <emulator/s3/signature.hpp>

#include <string>
#include <vector>

namespace emulator::s3 {

/// A body in `Content-Encoding: aws-chunked`, taken apart.
struct chunked_body {
  content data{};
  std::vector<header_line> trailer{};
};

/// Takes it apart, and compares the chunks' signatures where `who` says that they have some. Throws
/// service_error: 400 IncompleteBody and MalformedTrailerError, 403 SignatureDoesNotMatch.
chunked_body read_aws_chunked(const signed_request& who, const content& body);

}  // namespace emulator::s3
