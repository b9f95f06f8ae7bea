#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/stored_object.hpp>

#include <string_view>

/// What a bucket lets its objects be.
namespace emulator {

/// Throws service_error 400 when a name breaks the service's rules (protocol.md 0.1).
void check_bucket_name(std::string_view bucket);
void check_object_name(std::string_view name);

/// Works out for how long the bucket's policy retains the object.
void stamp(const bucket_settings& settings, stored_object& object);

/// Throws service_error unless the bucket lets an object have what its writer says of it. `before`
/// is what it had.
void require_allowed(const bucket_settings& settings, const object_metadata& metadata,
                     const object_metadata& before);

/// What a new object has of its bucket where its writer said nothing.
void fill_in(const bucket_settings& settings, object_metadata& metadata, bool customer_key);

/// Throws service_error 403 when a hold or a retention policy keeps it from being deleted, replaced
/// or made noncurrent, and when its own retention does, which lets it be made noncurrent.
void require_unguarded(const stored_object& object, bool made_noncurrent = false);

}  // namespace emulator
