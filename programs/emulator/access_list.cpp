#include <emulator/access_list.hpp>
#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <array>

namespace emulator {
namespace {

constexpr std::string_view editors = "project-editors-1";
constexpr std::string_view viewers = "project-viewers-1";

struct predefined {
  std::string_view name;
  std::string_view xml_name;
  bool of_buckets;
  bool of_objects;
};
constexpr std::array<predefined, 7> names{
    {{"authenticatedRead", "authenticated-read", true, true},
     {"private", "private", true, true},
     {"projectPrivate", "project-private", true, true},
     {"publicRead", "public-read", true, true},
     {"publicReadWrite", "public-read-write", true, false},
     {"bucketOwnerFullControl", "bucket-owner-full-control", false, true},
     {"bucketOwnerRead", "bucket-owner-read", false, true}}};

access_entry entry(std::string_view entity, std::string_view role) {
  return {.entity = std::string{entity}, .role = std::string{role}};
}

access_list list_of(access_of kind, std::string_view name) {
  access_list out;
  // Who writes an object owns it; a default list is written down without its later owners.
  if (kind == access_of::object) out.push_back(entry(caller_entity, "OWNER"));
  if (kind == access_of::bucket) out.push_back(entry(project_owners, "OWNER"));
  if (name == "projectPrivate") {
    if (kind != access_of::bucket) out.push_back(entry(project_owners, "OWNER"));
    out.push_back(entry(editors, "OWNER"));
    out.push_back(entry(viewers, "READER"));
  } else if (name == "bucketOwnerFullControl") {
    out.push_back(entry(project_owners, "OWNER"));
  } else if (name == "bucketOwnerRead") {
    out.push_back(entry(project_owners, "READER"));
  } else if (name == "authenticatedRead") {
    out.push_back(entry("allAuthenticatedUsers", "READER"));
  } else if (name == "publicRead") {
    out.push_back(entry("allUsers", "READER"));
  } else if (name == "publicReadWrite") {
    out.push_back(entry("allUsers", "WRITER"));
  }
  return out;
}

/// An entity is a word of its own, or begins by one of these.
bool well_formed(std::string_view entity) {
  static constexpr std::array<std::string_view, 6> kinds{
      "user-", "group-", "domain-", "project-owners-", "project-editors-", "project-viewers-"};
  if (entity == "allUsers" || entity == "allAuthenticatedUsers") return true;
  return std::ranges::any_of(kinds, [entity](std::string_view kind) {
    return entity.size() > kind.size() && entity.starts_with(kind);
  });
}

/// The member that says in other words who the entity is.
void write_identity(json_writer& out, std::string_view entity, const field_mask& wanted) {
  const auto rest = [entity](std::string_view kind) { return entity.substr(kind.size()); };
  const bool user = entity.starts_with("user-") || entity.starts_with("group-");
  if (user && entity.find('@') != std::string_view::npos && wanted.has("email")) {
    out.member("email", entity.substr(entity.find('-') + 1));
  } else if (entity.starts_with("domain-") && wanted.has("domain")) {
    out.member("domain", rest("domain-"));
  } else if (entity.starts_with("project-") && wanted.has("projectTeam")) {
    const std::string_view team = rest("project-");
    const std::size_t dash = std::min(team.find('-'), team.size());
    out.key("projectTeam");
    out.begin_object();
    out.member("projectNumber", team.substr(std::min(dash + 1, team.size())));
    out.member("team", team.substr(0, dash));
    out.end_object();
  }
}

}  // namespace

access_list_ptr predefined_access(access_of kind, std::string_view name) {
  const auto at = std::ranges::find_if(names, [name, kind](const predefined& each) {
    const bool fits = kind == access_of::bucket ? each.of_buckets : each.of_objects;
    return fits && (each.name == name || each.xml_name == name);
  });
  if (at == names.end()) {
    throw invalid_argument("Invalid value for predefinedAcl: '" + std::string{name} + "'");
  }
  return std::make_shared<const access_list>(list_of(kind, at->name));
}

const access_list& access_or_default(access_of kind, const access_list_ptr& held) {
  static const access_list of_bucket = list_of(access_of::bucket, "projectPrivate");
  static const access_list of_new = list_of(access_of::default_object, "projectPrivate");
  static const access_list of_object = list_of(access_of::object, "projectPrivate");
  if (held) return *held;
  return kind == access_of::bucket           ? of_bucket
         : kind == access_of::default_object ? of_new
                                             : of_object;
}

access_entry read_access_entry(access_of kind, const json_value& document) {
  access_entry out{.entity = document.text("entity").value_or(""),
                   .role = document.text("role").value_or("")};
  if (!well_formed(out.entity)) throw invalid_argument("Invalid entity: '" + out.entity + "'");
  const bool known = out.role == "READER" || out.role == "OWNER" ||
                     (kind == access_of::bucket && out.role == "WRITER");
  if (!known) throw invalid_argument("Invalid role: '" + out.role + "'");
  return out;
}

access_list_ptr read_access_list(access_of kind, const json_value& given) {
  const auto* items = std::get_if<json_value::array>(&given.value);
  if (items == nullptr) throw invalid_argument("An access control list must be an array");
  if (items->size() > 100) throw invalid_argument("More than 100 entries of access control");
  access_list out;
  // Nobody can take an object away from its owner.
  if (kind == access_of::object) out.push_back(entry(caller_entity, "OWNER"));
  for (const json_value& item : *items) {
    access_entry fresh = read_access_entry(kind, item);
    if (kind == access_of::object && fresh.entity == caller_entity) continue;
    std::erase_if(out, [&fresh](const access_entry& e) { return e.entity == fresh.entity; });
    out.push_back(std::move(fresh));
  }
  return std::make_shared<const access_list>(std::move(out));
}

bool is_public(const access_list& list) noexcept {
  return std::ranges::any_of(list, [](const access_entry& e) {
    return e.entity == "allUsers" || e.entity == "allAuthenticatedUsers";
  });
}

void write_access_entry(json_writer& out, const access_place& at, const access_entry& entry,
                        const field_mask& wanted) {
  const auto member = [&](std::string_view name, std::string_view value) {
    if (wanted.has(name)) out.member(name, value);
  };
  const bool of_bucket = at.kind == access_of::bucket;
  const std::string bucket{at.bucket};
  const std::string generation = std::to_string(at.generation);
  out.begin_object();
  member("kind", of_bucket ? "storage#bucketAccessControl" : "storage#objectAccessControl");
  if (at.kind != access_of::default_object) {
    const std::string object{at.object};
    const std::string below = of_bucket ? "" : "/o/" + percent_encode(at.object);
    const std::string number = of_bucket ? "" : "?generation=" + generation;
    member("id", bucket + "/" + (of_bucket ? "" : object + "/" + generation + "/") + entry.entity);
    member("selfLink", std::string{at.base} + "/storage/v1/b/" + bucket + below + "/acl/" +
                           percent_encode(entry.entity) + number);
    member("bucket", bucket);
    if (!of_bucket) {
      member("object", object);
      member("generation", generation);
    }
  }
  member("entity", entry.entity);
  member("role", entry.role);
  write_identity(out, entry.entity, wanted);
  member("etag", at.etag);
  out.end_object();
}

void write_access_list(json_writer& out, const access_place& at, const access_list& list,
                       const field_mask& wanted) {
  out.begin_array();
  for (const access_entry& entry : list) write_access_entry(out, at, entry, wanted);
  out.end_array();
}

}  // namespace emulator
