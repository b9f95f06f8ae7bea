#include <emulator/access.hpp>
#include <emulator/access_api.hpp>
#include <emulator/digest.hpp>
#include <emulator/json_reply.hpp>

#include <algorithm>
#include <array>
#include <memory>

namespace emulator {
namespace {

const access_entry& entry_of(const access_list& list, std::string_view entity) {
  const auto at = std::ranges::find(list, entity, &access_entry::entity);
  if (at == list.end()) {
    throw service_error{404, "notFound", "NotFound",
                        "There is no access control entry of " + std::string{entity}};
  }
  return *at;
}

http_reply entry_reply(const call& asked, const http_request& request, access_of kind,
                       std::int64_t generation, const std::string& etag,
                       const access_entry& entry) {
  const std::string base = request.base();
  json_writer out{asked.pretty()};
  write_access_entry(out,
                     {.kind = kind,
                      .bucket = asked.bucket,
                      .object = asked.object,
                      .generation = generation,
                      .base = base,
                      .etag = etag},
                     entry, wanted_fields(asked));
  return json_reply(out.take());
}

std::string bucket_etag(const bucket_facts& bucket) {
  return base64_encode("b" + std::to_string(bucket.metageneration));
}

/// Throws 412 where the change would make public what must not be.
void check_public(const bucket_settings& settings, const access_list& before,
                  const access_list& after) {
  if (settings.public_access_prevented && is_public(after) && !is_public(before)) {
    throw public_access();
  }
}

}  // namespace

access_api::held_list access_api::read(const call& asked, const http_request& request,
                                       access_of kind) const {
  const bucket_facts bucket = store_.facts(asked.bucket);
  if (bucket.settings.uniform_access) throw uniform_access();
  if (kind == access_of::object) {
    const auto when = preconditions::of_query(asked.query, request);
    const object_ptr object = store_.get(asked.bucket, asked.object, when);
    return {access_or_default(kind, object->metadata.access), object->generation, object->etag()};
  }
  const bool of_bucket = kind == access_of::bucket;
  const auto& held = of_bucket ? bucket.settings.access : bucket.settings.default_access;
  return {access_or_default(kind, held), 0, bucket_etag(bucket)};
}

access_api::held_list access_api::edit(const call& asked, const http_request& request,
                                       access_of kind,
                                       const std::function<void(access_list&)>& change) const {
  held_list out;
  const auto when = preconditions::of_query(asked.query, request);
  const auto apply = [&](const bucket_settings& settings, access_list_ptr& held) {
    out.list = access_or_default(kind, held);
    const access_list before = out.list;
    change(out.list);
    check_public(settings, before, out.list);
    held = std::make_shared<const access_list>(out.list);
  };
  if (kind == access_of::object) {
    const bucket_settings settings = store_.facts(asked.bucket).settings;
    if (settings.uniform_access) throw uniform_access();
    const object_ptr object =
        store_.change(asked.bucket, asked.object, when,
                      [&](object_metadata& metadata) { apply(settings, metadata.access); });
    out.generation = object->generation;
    out.etag = object->etag();
    return out;
  }
  const bucket_facts bucket = store_.configure(asked.bucket, when, [&](bucket_settings& settings) {
    if (settings.uniform_access) throw uniform_access();
    apply(settings, kind == access_of::bucket ? settings.access : settings.default_access);
  });
  out.etag = bucket_etag(bucket);
  return out;
}

http_reply access_api::list(const call& asked, const http_request& request, access_of kind) const {
  const held_list held = read(asked, request, kind);
  const field_mask wanted = wanted_fields(asked);
  const field_mask* inside = wanted.find("items");
  const std::string base = request.base();
  const bool of_bucket = kind == access_of::bucket;
  json_writer out{asked.pretty()};
  out.begin_object();
  if (wanted.has("kind")) {
    out.member("kind", of_bucket ? "storage#bucketAccessControls" : "storage#objectAccessControls");
  }
  if (inside != nullptr) {
    out.key("items");
    write_access_list(out,
                      {.kind = kind,
                       .bucket = asked.bucket,
                       .object = asked.object,
                       .generation = held.generation,
                       .base = base,
                       .etag = held.etag},
                      held.list, *inside);
  }
  out.end_object();
  return json_reply(out.take());
}

http_reply access_api::get(const call& asked, const http_request& request, access_of kind) const {
  const held_list held = read(asked, request, kind);
  return entry_reply(asked, request, kind, held.generation, held.etag,
                     entry_of(held.list, asked.item));
}

http_reply access_api::insert(const call& asked, const http_request& request,
                              access_of kind) const {
  const access_entry fresh = read_access_entry(kind, body_document(request));
  const held_list held = edit(asked, request, kind, [&fresh](access_list& list) {
    const auto at = std::ranges::find(list, fresh.entity, &access_entry::entity);
    if (at != list.end()) {
      at->role = fresh.role;
    } else {
      list.push_back(fresh);
    }
  });
  return entry_reply(asked, request, kind, held.generation, held.etag, fresh);
}

http_reply access_api::change(const call& asked, const http_request& request,
                              access_of kind) const {
  json_value document = body_document(request);
  std::get<json_value::object>(document.value).insert_or_assign("entity", json_value{asked.item});
  const access_entry fresh = read_access_entry(kind, document);
  const held_list held = edit(asked, request, kind, [&fresh](access_list& list) {
    entry_of(list, fresh.entity);
    std::ranges::find(list, fresh.entity, &access_entry::entity)->role = fresh.role;
  });
  return entry_reply(asked, request, kind, held.generation, held.etag, fresh);
}

http_reply access_api::remove(const call& asked, const http_request& request,
                              access_of kind) const {
  edit(asked, request, kind, [&](access_list& list) {
    entry_of(list, asked.item);
    std::erase_if(list, [&](const access_entry& e) { return e.entity == asked.item; });
  });
  http_reply reply;
  reply.status = 204;
  return reply;
}

// ---- IAM policies ----

namespace {

json_value json_text(std::string_view text) { return {std::string{text}}; }

/// The roles that a new bucket grants to its project (protocol.md 1.11).
json_value first_bindings(const bucket_settings& settings) {
  json_value::array out;
  const auto bind = [&out](std::string_view role, const std::vector<std::string_view>& members) {
    json_value::array whom;
    for (const std::string_view member : members) whom.push_back(json_text(member));
    out.push_back({json_value::object{{"role", json_text(role)}, {"members", {std::move(whom)}}}});
  };
  const std::vector<std::string_view> owners{"projectEditor:emulator-project",
                                             "projectOwner:emulator-project"};
  const std::vector<std::string_view> readers{"projectViewer:emulator-project"};
  bind("roles/storage.legacyBucketOwner", owners);
  bind("roles/storage.legacyBucketReader", readers);
  if (settings.uniform_access) {
    bind("roles/storage.legacyObjectOwner", owners);
    bind("roles/storage.legacyObjectReader", readers);
  }
  return {std::move(out)};
}

std::string policy_etag(const bucket_facts& bucket) {
  return base64_encode("policy " + std::to_string(bucket.policy ? bucket.policy->revision : 0));
}

void write_policy(json_writer& out, const bucket_facts& bucket) {
  const auto& held = bucket.policy;
  out.begin_object();
  out.member("kind", "storage#policy");
  out.member("resourceId", "projects/_/buckets/" + bucket.name);
  out.key("version");
  out.number(held ? held->version : 1);
  out.member("etag", policy_etag(bucket));
  out.key("bindings");
  write_json(out, held ? held->bindings : first_bindings(bucket.settings));
  out.end_object();
}

/// Throws 400 unless it is a binding; true when it names everybody.
bool check_binding(const json_value& binding) {
  const json_value* members = binding.find("members");
  const auto* whom = members == nullptr ? nullptr : std::get_if<json_value::array>(&members->value);
  const std::string role = binding.text("role").value_or("");
  const bool named = role.starts_with("roles/") || role.find("/roles/") != std::string::npos;
  if (whom == nullptr || !named) throw invalid_argument("Invalid binding of an IAM policy");
  bool everybody = false;
  for (const json_value& member : *whom) {
    const auto* text = std::get_if<std::string>(&member.value);
    if (text == nullptr) throw invalid_argument("Invalid member of an IAM policy");
    everybody = everybody || *text == "allUsers" || *text == "allAuthenticatedUsers";
  }
  return everybody;
}

void check_bindings(const json_value& bindings, std::int64_t version,
                    const bucket_settings& settings) {
  const auto* items = std::get_if<json_value::array>(&bindings.value);
  if (items == nullptr) throw invalid_argument("The bindings of an IAM policy must be an array");
  for (const json_value& binding : *items) {
    if (check_binding(binding) && settings.public_access_prevented) throw public_access();
    const json_value* condition = binding.find("condition");
    if (condition == nullptr || condition->is_null()) continue;
    if (!settings.uniform_access) {
      throw service_error{412, "conditionNotMet", "PreconditionFailed",
                          "To set IAM policies with conditions, enable uniform bucket-level "
                          "access on the bucket."};
    }
    if (version < 3) {
      throw invalid_argument("An IAM policy with conditions must be of at least 3 as its version.");
    }
  }
}

}  // namespace

http_reply access_api::get_policy(const call& asked) const {
  json_writer out{asked.pretty()};
  write_policy(out, store_.facts(asked.bucket));
  return json_reply(out.take());
}

http_reply access_api::set_policy(const call& asked, const http_request& request) const {
  const json_value document = body_document(request);
  const json_value* given = document.find("bindings");
  const bucket_facts bucket = store_.edit(asked.bucket, [&](bucket_facts& facts) {
    const auto etag = document.text("etag");
    if (etag && *etag != policy_etag(facts)) throw condition_not_met();
    bucket_policy fresh{.version = document.integer("version").value_or(1),
                        .bindings = given == nullptr ? json_value{json_value::array{}} : *given,
                        .revision = facts.policy ? facts.policy->revision + 1 : 1};
    fresh.version = std::max<std::int64_t>(fresh.version, 1);
    check_bindings(fresh.bindings, fresh.version, facts.settings);
    facts.policy = std::move(fresh);
  });
  json_writer out{asked.pretty()};
  write_policy(out, bucket);
  return json_reply(out.take());
}

http_reply access_api::test_permissions(const call& asked) const {
  const bucket_settings settings = store_.facts(asked.bucket).settings;
  json_writer out{asked.pretty()};
  out.begin_object();
  out.member("kind", "storage#testIamPermissionsResponse");
  std::vector<std::string_view> granted = asked.query.all("permissions");
  std::erase_if(granted, [&settings](std::string_view p) { return !permits(settings, p); });
  if (!granted.empty()) {
    out.key("permissions");
    out.begin_array();
    for (const std::string_view permission : granted) out.string(permission);
    out.end_array();
  }
  out.end_object();
  return json_reply(out.take());
}

}  // namespace emulator
