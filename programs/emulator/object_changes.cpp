#include <emulator/object_json.hpp>
#include <emulator/service_error.hpp>

#include <array>

namespace emulator {
namespace {

struct text_field {
  std::string_view name;
  std::string object_metadata::*member;
};
constexpr std::array<text_field, 8> text_fields{
    {{"contentType", &object_metadata::content_type},
     {"contentEncoding", &object_metadata::content_encoding},
     {"cacheControl", &object_metadata::cache_control},
     {"contentDisposition", &object_metadata::content_disposition},
     {"contentLanguage", &object_metadata::content_language},
     {"customTime", &object_metadata::custom_time},
     {"storageClass", &object_metadata::storage_class},
     {"kmsKeyName", &object_metadata::kms_key}}};

struct hold_field {
  std::string_view name;
  bool object_metadata::*member;
};
constexpr std::array<hold_field, 2> hold_fields{
    {{"temporaryHold", &object_metadata::temporary_hold},
     {"eventBasedHold", &object_metadata::event_based_hold}}};

void patch_custom(object_metadata& metadata, const json_value& given) {
  if (given.is_null()) return metadata.custom.clear();
  const auto* members = std::get_if<json_value::object>(&given.value);
  if (members == nullptr) throw invalid_argument("Invalid value for metadata");
  for (const auto& [key, value] : *members) {
    const auto* text = std::get_if<std::string>(&value.value);
    if (value.is_null()) {
      metadata.custom.erase(key);
    } else if (text != nullptr) {
      metadata.custom.insert_or_assign(key, *text);
    } else {
      throw invalid_argument("Invalid value for metadata");
    }
  }
}

/// It can be set and moved forward, never back and never taken away (protocol.md 1.2).
void check_custom_time(const std::string& before, const std::string& now) {
  if (now == before) return;
  const auto later = parse_timestamp(now);
  const auto earlier = parse_timestamp(before);
  if (!now.empty() && !later) throw invalid_argument("Invalid value for customTime");
  if (!before.empty() && (now.empty() || (earlier && *later < *earlier))) {
    throw invalid_argument("Custom time cannot be removed or set to an earlier time.");
  }
}

void patch_retention(object_metadata& metadata, const json_value& given) {
  if (given.is_null()) return metadata.retention.reset();
  const json_value* mode = given.find("mode");
  const json_value* until = given.find("retainUntilTime");
  const bool no_mode = mode == nullptr || mode->is_null();
  const bool no_time = until == nullptr || until->is_null();
  // Google's client for Python takes a retention away by two members of null.
  if (no_mode && no_time) {
    if (mode != nullptr || until != nullptr) metadata.retention.reset();
    return;
  }
  object_retention fresh = metadata.retention.value_or(object_retention{});
  if (!no_mode) {
    const std::string text = given.text("mode").value_or("");
    if (text != "Locked" && text != "Unlocked") throw invalid_argument("Invalid retention mode");
    fresh.locked = text == "Locked";
  }
  if (!no_time) {
    const auto time = parse_time(given.text("retainUntilTime").value_or(""));
    if (!time) throw invalid_argument("Invalid value for retainUntilTime");
    fresh.until = *time;
  }
  if ((no_mode || no_time) && !metadata.retention) {
    throw invalid_argument("A retention needs both mode and retainUntilTime");
  }
  metadata.retention = fresh;
}

void check_context(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool good = !text.empty() && text.size() <= 256 && plain(text.front()) &&
                    text.find_first_of("'\"\\/") == std::string_view::npos;
  if (!good) throw invalid_argument("Invalid object context: '" + std::string{text} + "'");
}

void check_contexts(const object_contexts& all) {
  std::size_t size = 0;
  for (const auto& [key, context] : all) {
    check_context(key);
    check_context(context.value);
    if (key.starts_with("goog")) throw invalid_argument("A context's key may not begin with goog");
    size += key.size() + context.value.size();
  }
  if (all.size() > 50) throw invalid_argument("The count of object contexts exceeds 50");
  if (size > 25'600) throw invalid_argument("Object contexts exceed 25 KiB");
}

void patch_contexts(object_metadata& metadata, const json_value& given) {
  const json_value* custom = given.find("custom");
  if (given.is_null() || (custom != nullptr && custom->is_null())) return metadata.contexts.reset();
  if (custom == nullptr) return;
  const auto* members = std::get_if<json_value::object>(&custom->value);
  if (members == nullptr) throw invalid_argument("Invalid value for contexts");
  object_contexts all = metadata.contexts ? *metadata.contexts : object_contexts{};
  const auto now = std::chrono::system_clock::now();
  for (const auto& [key, context] : *members) {
    if (context.is_null()) {
      all.erase(key);
      continue;
    }
    const auto text = context.text("value");
    if (!text) throw invalid_argument("Invalid value for contexts");
    object_context& at = all.try_emplace(key, object_context{.created = now}).first->second;
    if (at.value != *text) at.updated = now;
    at.value = *text;
  }
  check_contexts(all);
  metadata.contexts = all.empty() ? nullptr : std::make_shared<const object_contexts>(all);
}

void patch_access(object_metadata& metadata, const json_value& given) {
  if (given.is_null()) {
    metadata.access.reset();
  } else {
    metadata.access = read_access_list(access_of::object, given);
  }
}

struct section {
  std::string_view name;
  void (*patch)(object_metadata&, const json_value&);
};
constexpr std::array<section, 4> sections{{{"metadata", patch_custom},
                                           {"retention", patch_retention},
                                           {"contexts", patch_contexts},
                                           {"acl", patch_access}}};

}  // namespace

void patch_metadata(object_metadata& metadata, const json_value& document) {
  if (!std::holds_alternative<json_value::object>(document.value)) {
    throw invalid_argument("Parse Error: the metadata is not a JSON object");
  }
  const std::string custom_time = metadata.custom_time;
  for (const text_field& field : text_fields) {
    const json_value* given = document.find(field.name);
    if (given == nullptr) continue;
    const auto* text = std::get_if<std::string>(&given->value);
    if (text == nullptr && !given->is_null()) {
      throw invalid_argument("Invalid value for " + std::string{field.name});
    }
    metadata.*field.member = text == nullptr ? std::string{} : *text;
  }
  check_custom_time(custom_time, metadata.custom_time);
  for (const hold_field& field : hold_fields) {
    const json_value* given = document.find(field.name);
    if (given == nullptr) continue;
    const auto* set = std::get_if<bool>(&given->value);
    if (set == nullptr && !given->is_null()) {
      throw invalid_argument("Invalid value for " + std::string{field.name});
    }
    metadata.*field.member = set != nullptr && *set;
  }
  for (const section& each : sections) {
    const json_value* given = document.find(each.name);
    if (given == nullptr) continue;
    const bool list = each.name == "acl";
    if (!list && !given->is_null() && !std::holds_alternative<json_value::object>(given->value)) {
      throw invalid_argument("Invalid value for " + std::string{each.name});
    }
    each.patch(metadata, *given);
  }
}

std::shared_ptr<const object_contexts> contexts_of(const json_value& resource) {
  const json_value* contexts = resource.find("contexts");
  const json_value* custom = contexts == nullptr ? nullptr : contexts->find("custom");
  const auto* members =
      custom == nullptr ? nullptr : std::get_if<json_value::object>(&custom->value);
  if (members == nullptr) return nullptr;
  object_contexts all;
  for (const auto& [key, value] : *members) {
    const auto time = [&held = value](std::string_view name) {
      return parse_time(held.text(name).value_or("")).value_or(stored_object::time_point{});
    };
    all.emplace(key, object_context{.value = value.text("value").value_or(""),
                                    .created = time("createTime"),
                                    .updated = time("updateTime")});
  }
  return std::make_shared<const object_contexts>(std::move(all));
}

void check_retention(const std::optional<object_retention>& before,
                     const std::optional<object_retention>& after, bool override_unlocked) {
  if (after && (!before || before->until != after->until)) {
    const auto now = std::chrono::system_clock::now();
    if (after->until <= now || after->until > now + std::chrono::seconds(3'155'760'000)) {
      throw invalid_argument("retainUntilTime must be in the future, within 100 years");
    }
  }
  if (!before) return;
  const bool less = !after || after->until < before->until;
  if (before->locked && (less || !after->locked)) {
    throw service_error{403, "forbidden", "AccessDenied",
                        "The object's retention is locked: it can be lengthened only."};
  }
  const bool sealed = after && after->locked && !before->locked;
  if (!before->locked && (less || sealed) && !override_unlocked) {
    throw service_error{403, "forbidden", "AccessDenied",
                        "To shorten, remove or lock an object's retention, "
                        "overrideUnlockedRetention must be true."};
  }
}

declared_object read_declared_object(const json_value& document) {
  declared_object out;
  patch_metadata(out.metadata, document);
  out.name = document.text("name").value_or("");
  out.crc32c = document.text("crc32c");
  out.md5 = document.text("md5Hash");
  return out;
}

}  // namespace emulator
