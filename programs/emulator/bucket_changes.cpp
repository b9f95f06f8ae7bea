#include <emulator/bucket_json.hpp>
#include <emulator/service_error.hpp>

#include <algorithm>
#include <array>

/// What a writer says of a bucket, read.
namespace emulator {
namespace {

service_error invalid_member(std::string_view name) {
  return invalid_argument("Invalid value for " + std::string{name});
}

/// `section.name` when the document has it; null is false.
std::optional<bool> flag_of(const json_value& document, std::string_view section,
                            std::string_view name) {
  const json_value* outer = document.find(section);
  if (outer == nullptr) return std::nullopt;
  if (outer->is_null()) return false;
  if (!std::holds_alternative<json_value::object>(outer->value)) throw invalid_member(section);
  const json_value* inner = outer->find(name);
  if (inner == nullptr) return std::nullopt;
  if (inner->is_null()) return false;
  const auto* held = std::get_if<bool>(&inner->value);
  if (held == nullptr) throw invalid_member(section);
  return *held;
}

void change_labels(bucket_settings& settings, const json_value& document) {
  const json_value* labels = document.find("labels");
  if (labels == nullptr) return;
  if (labels->is_null()) return settings.labels.clear();
  const auto* lines = std::get_if<json_value::object>(&labels->value);
  if (lines == nullptr) throw invalid_member("labels");
  for (const auto& [key, value] : *lines) {
    if (const auto* text = std::get_if<std::string>(&value.value)) {
      settings.labels.insert_or_assign(key, *text);
    } else {
      settings.labels.erase(key);
    }
  }
}

/// null removes the policy.
void change_retention(bucket_settings& settings, const json_value& document) {
  const json_value* policy = document.find("retentionPolicy");
  if (policy == nullptr) return;
  settings.retention.reset();
  if (policy->is_null()) return;
  const auto period = policy->integer("retentionPeriod");
  if (!period || *period <= 0 || *period >= 3'155'760'000) {
    throw invalid_argument("Retention period must be greater than 0 and less than 100 years.");
  }
  settings.retention = std::chrono::seconds(*period);
}

/// 0 switches it off, else a week to 90 days on the service; here any time, for tests.
void change_soft_delete(bucket_settings& settings, const json_value& document) {
  const json_value* policy = document.find("softDeletePolicy");
  if (policy == nullptr) return;
  const std::int64_t time = policy->integer("retentionDurationSeconds").value_or(0);
  if (time < 0 || time > 7'776'000) throw invalid_argument("Invalid soft delete retention");
  settings.soft_delete = std::chrono::seconds(time);
}

void change_iam_configuration(bucket_settings& settings, const json_value& document) {
  const json_value* given = document.find("iamConfiguration");
  if (given == nullptr) return;
  const auto now = std::chrono::system_clock::now();
  std::optional<bool> uniform;
  for (const std::string_view name : {"bucketPolicyOnly", "uniformBucketLevelAccess"}) {
    if (const auto set = flag_of(*given, name, "enabled")) uniform = set;
  }
  if (given->is_null()) uniform = false;
  if (uniform && *uniform != settings.uniform_access) {
    if (settings.uniform_locked && *settings.uniform_locked < now) {
      throw invalid_argument("Uniform bucket-level access cannot be disabled any more.");
    }
    settings.uniform_access = *uniform;
    settings.uniform_locked.reset();
    if (*uniform) settings.uniform_locked = now + std::chrono::hours(24 * 90);
  }
  const json_value* prevention = given->find("publicAccessPrevention");
  if (given->is_null() || (prevention != nullptr && prevention->is_null())) {
    settings.public_access_prevented = false;
  } else if (prevention != nullptr) {
    const std::string text = given->text("publicAccessPrevention").value_or("");
    if (text != "enforced" && text != "inherited" && text != "unspecified") {
      throw invalid_member("publicAccessPrevention");
    }
    settings.public_access_prevented = text == "enforced";
  }
}

/// What is kept in the form in which it was said.
struct kept_member {
  std::string_view name;
  enum class form { object, array, text } is;
};
constexpr std::array<kept_member, 8> kept_members{{{"autoclass", kept_member::form::object},
                                                   {"cors", kept_member::form::array},
                                                   {"encryption", kept_member::form::object},
                                                   {"ipFilter", kept_member::form::object},
                                                   {"lifecycle", kept_member::form::object},
                                                   {"logging", kept_member::form::object},
                                                   {"rpo", kept_member::form::text},
                                                   {"website", kept_member::form::object}}};

bool has_form(const json_value& value, kept_member::form form) {
  switch (form) {
    case kept_member::form::object:
      return std::holds_alternative<json_value::object>(value.value);
    case kept_member::form::array:
      return std::holds_alternative<json_value::array>(value.value);
    case kept_member::form::text:
      return std::holds_alternative<std::string>(value.value);
  }
  return false;
}

bool says_nothing(const json_value& value) {
  if (const auto* items = std::get_if<json_value::array>(&value.value)) return items->empty();
  const auto* members = std::get_if<json_value::object>(&value.value);
  return members != nullptr && std::ranges::all_of(*members, [](const auto& member) {
           return says_nothing(member.second);
         });
}

void check_lifecycle(const json_value& lifecycle) {
  const json_value* rules = lifecycle.find("rule");
  const auto* items = rules == nullptr ? nullptr : std::get_if<json_value::array>(&rules->value);
  if (items == nullptr) throw invalid_member("lifecycle");
  for (const json_value& rule : *items) {
    const json_value* action = rule.find("action");
    const json_value* condition = rule.find("condition");
    const std::string type = action == nullptr ? "" : action->text("type").value_or("");
    const bool known =
        type == "Delete" || type == "SetStorageClass" || type == "AbortIncompleteMultipartUpload";
    if (!known || (type == "SetStorageClass" && !action->text("storageClass"))) {
      throw invalid_argument("Invalid lifecycle rule: invalid action");
    }
    if (condition == nullptr || says_nothing(*condition)) {
      throw invalid_argument("Invalid lifecycle rule: a condition is needed");
    }
  }
}

/// Times and defaults that the service sets.
void complete_autoclass(json_value& autoclass, const json_value* before) {
  auto& members = std::get<json_value::object>(autoclass.value);
  const bool enabled = autoclass.flag("enabled").value_or(false);
  if (!enabled) {
    members.erase("terminalStorageClass");
    return;
  }
  const json_value now{rfc3339(std::chrono::system_clock::now())};
  const bool was = before != nullptr && before->flag("enabled").value_or(false);
  if (!was) members["toggleTime"] = now;
  if (!autoclass.text("terminalStorageClass")) {
    members["terminalStorageClass"] = {std::string{"NEARLINE"}};
  }
  const auto terminal = autoclass.text("terminalStorageClass");
  if (terminal != "NEARLINE" && terminal != "ARCHIVE") throw invalid_member("autoclass");
  const auto earlier = before == nullptr ? std::nullopt : before->text("terminalStorageClass");
  if (!was || terminal != earlier) members["terminalStorageClassUpdateTime"] = now;
}

void change_kept(bucket_settings& settings, const json_value& document) {
  for (const kept_member& each : kept_members) {
    const json_value* given = document.find(each.name);
    if (given == nullptr) continue;
    const auto at = settings.kept.find(each.name);
    const json_value before = at == settings.kept.end() ? json_value{} : at->second;
    if (at != settings.kept.end() && given->is_null()) settings.kept.erase(at);
    if (given->is_null()) continue;
    if (!has_form(*given, each.is)) throw invalid_member(each.name);
    json_value changed = before;
    merge_patch(changed, *given);
    const auto* text = std::get_if<std::string>(&changed.value);
    if (text != nullptr && *text != "DEFAULT" && *text != "ASYNC_TURBO") {
      throw invalid_member(each.name);
    }
    if (says_nothing(changed)) {
      settings.kept.erase(std::string{each.name});
      continue;
    }
    if (each.name == "lifecycle") check_lifecycle(changed);
    if (each.name == "autoclass") complete_autoclass(changed, before.is_null() ? nullptr : &before);
    settings.kept.insert_or_assign(std::string{each.name}, std::move(changed));
  }
}

void change_access(bucket_settings& settings, const json_value& document) {
  const auto list = [&](std::string_view name, access_of kind, access_list_ptr& held) {
    const json_value* given = document.find(name);
    if (given == nullptr) return;
    if (given->is_null()) return held.reset();
    const auto* items = std::get_if<json_value::array>(&given->value);
    if (settings.uniform_access && items != nullptr && !items->empty()) throw uniform_access();
    held = read_access_list(kind, *given);
  };
  list("acl", access_of::bucket, settings.access);
  list("defaultObjectAcl", access_of::default_object, settings.default_access);
}

/// What PUT takes away where its document does not say it again.
bucket_settings emptied(const bucket_settings& settings) {
  bucket_settings out;
  out.kind = settings.kind;
  out.location = settings.location;
  out.storage_class = settings.storage_class;
  out.read_only = settings.read_only;
  out.no_delete = settings.no_delete;
  out.object_retention = settings.object_retention;
  out.retention_effective = settings.retention_effective;
  out.retention_locked = settings.retention_locked;
  out.access = settings.access;
  out.default_access = settings.default_access;
  if (const auto at = settings.kept.find("customPlacementConfig"); at != settings.kept.end()) {
    out.kept.insert(*at);
  }
  return out;
}

}  // namespace

void change_settings(bucket_settings& settings, const json_value& document, bool whole) {
  bucket_settings now = whole ? emptied(settings) : settings;
  now.versioning = flag_of(document, "versioning", "enabled").value_or(now.versioning);
  now.requester_pays = flag_of(document, "billing", "requesterPays").value_or(now.requester_pays);
  now.storage_class = document.text("storageClass").value_or(now.storage_class);
  if (document.find("defaultEventBasedHold") != nullptr) {
    now.default_event_based_hold = document.flag("defaultEventBasedHold").value_or(false);
  }
  change_retention(now, document);
  change_soft_delete(now, document);
  change_labels(now, document);
  change_iam_configuration(now, document);
  change_kept(now, document);
  change_access(now, document);
  if (settings.retention_locked && (!now.retention || *now.retention < *settings.retention)) {
    throw service_error{403, "forbidden", "AccessDenied",
                        "Cannot remove or reduce a retention policy that is locked."};
  }
  const bool opened = (now.access && is_public(*now.access) && now.access != settings.access) ||
                      (now.default_access && is_public(*now.default_access) &&
                       now.default_access != settings.default_access);
  if (now.public_access_prevented && opened) throw public_access();
  settings = std::move(now);
}

}  // namespace emulator
