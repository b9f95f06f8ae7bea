#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/field_mask.hpp>
#include <emulator/json_value.hpp>
#include <emulator/json_writer.hpp>
#include <emulator/object_json.hpp>

#include <string_view>

namespace emulator {

/// Writes the Bucket resource (protocol.md 1.8), only the members that `wanted` names. `base` is
/// scheme and authority, for links.
void write_bucket(json_writer& out, const bucket_facts& bucket, const field_mask& wanted,
                  std::string_view base, projection shown);

/// "region", "multi-region" or "zone".
std::string_view location_type(const bucket_settings& settings);

/// Throws service_error 400 when `wanted` names something that is no member of a Bucket.
void require_bucket_fields(const field_mask& wanted);

/// Applies a JSON merge patch to what a writer may say of a bucket, whole sections replaced by PUT
/// (`whole`). Throws service_error 400 on a value of the wrong form, 403 against a locked policy.
void change_settings(bucket_settings& settings, const json_value& document, bool whole);

}  // namespace emulator
