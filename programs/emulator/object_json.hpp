#pragma once

#include <emulator/field_mask.hpp>
#include <emulator/json_value.hpp>
#include <emulator/json_writer.hpp>
#include <emulator/stored_object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace emulator {

/// Whether `acl` and `owner` are among the members.
enum class projection { no_acl, full };

/// Writes the Object resource (protocol.md 1.2), only the members that `wanted` names; digests are
/// computed only when wanted. `base` is scheme and authority, for the links. `key` is what
/// customer_key_of() gives: an object's digests are shown to its key's owner only.
void write_object(json_writer& out, const stored_object& object, const field_mask& wanted,
                  std::string_view base, projection shown = projection::no_acl,
                  std::string_view key = {});

/// Throws service_error 400 when `wanted` names something that is no member of an Object.
void require_object_fields(const field_mask& wanted);

/// What the metadata part of an upload, or the body that begins a resumable one, says.
struct declared_object {
  std::string name{};
  object_metadata metadata{};
  std::optional<std::string> crc32c{};
  std::optional<std::string> md5{};
};
/// Throws service_error 400 on a value of the wrong type.
declared_object read_declared_object(const json_value& document);

/// Applies a JSON merge patch: members given replace, null removes, those left out stay. Members
/// that only the service sets are ignored, as it does. Throws as above.
void patch_metadata(object_metadata& metadata, const json_value& document);

/// The contexts of a resource that write_object wrote, with their times; null when it has none.
std::shared_ptr<const object_contexts> contexts_of(const json_value& resource);

/// Throws service_error 400 for a retention that is not in the future, and 403 for a change that a
/// retention forbids (protocol.md 1.12).
void check_retention(const std::optional<object_retention>& before,
                     const std::optional<object_retention>& after, bool override_unlocked);

}  // namespace emulator
