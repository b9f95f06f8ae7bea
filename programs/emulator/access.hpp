#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/route.hpp>

#include <string_view>

namespace emulator {

/// True when a bucket with those settings grants the permission, such as "storage.objects.get".
bool permits(const bucket_settings& settings, std::string_view permission);

/// Judges a call before it is carried out: throws 403 without the verb's permissions, and 400
/// UserProjectMissing on a requester-pays bucket when no project to bill is named. Buckets that do
/// not exist are left to the verb.
void check_access(const bucket_store& store, const call& asked, const http_request& request);

}  // namespace emulator
