#pragma once

#include <emulator/route.hpp>
#include <emulator/s3/options.hpp>

namespace emulator::ais {

/// What a request asks of AIStore: natively below /v1, or in S3's form below /s3, always path
/// style. Native calls have the verbs of objects, and objects.getBatch.
call route(const http_request& request, const s3::options& how);

/// Whether a redirect has led the request here: it is for the target, not for the gateway.
bool is_redirected(const call& asked);

/// Where the gateway sends a request: the same address with its marks, decoded in part, as AIStore
/// does.
std::string redirect_of(const http_request& request, std::uint64_t stamp);

}  // namespace emulator::ais
