#include <emulator/bucket_api.hpp>
#include <emulator/bucket_json.hpp>
#include <emulator/json_reply.hpp>

#include <algorithm>
#include <array>

namespace emulator {
namespace {

http_reply bucket_reply(const call& asked, const http_request& request, const bucket_facts& bucket,
                        projection otherwise = projection::no_acl) {
  const field_mask wanted = wanted_fields(asked);
  require_bucket_fields(wanted);
  json_writer out{asked.pretty()};
  write_bucket(out, bucket, wanted, request.base(), wanted_projection(asked, otherwise));
  return json_reply(out.take());
}

/// The least of what is asked for and of what the service or a fault allows; a page has one at
/// least.
std::size_t page_size(const call& asked) {
  std::size_t most = 1000;
  if (const auto value = parse_integer(asked.query.get("maxResults")); value && *value > 0) {
    most = std::min(most, static_cast<std::size_t>(*value));
  }
  if (asked.page_limit) most = std::min<std::size_t>(most, *asked.page_limit);
  return std::max<std::size_t>(most, 1);
}

/// The lists that the query names, in place of those that are there.
void change_predefined(bucket_settings& settings, const query_parameters& query) {
  const auto list = [&](std::string_view name, access_of kind, access_list_ptr& held) {
    if (query.get(name).empty()) return;
    if (settings.uniform_access) throw uniform_access();
    held = predefined_access(kind, query.get(name));
    if (settings.public_access_prevented && is_public(*held)) throw public_access();
  };
  list("predefinedAcl", access_of::bucket, settings.access);
  list("predefinedDefaultObjectAcl", access_of::default_object, settings.default_access);
}

/// Empty is one: Google's own clients send it so to test servers, and those accept it.
void require_project(const call& asked) {
  if (!asked.query.has("project")) throw required_parameter("project");
}

bool says_access(const json_value& document) {
  return document.find("acl") != nullptr || document.find("defaultObjectAcl") != nullptr;
}

}  // namespace

http_reply bucket_api::get(const call& asked, const http_request& request) const {
  const bucket_facts bucket = store_.facts(asked.bucket);
  if (asked.xml) {
    http_reply reply;
    reply.set("Content-Type", "application/xml; charset=UTF-8");
    return reply;
  }
  const auto when = preconditions::of_query(asked.query, request);
  if (when.if_metageneration_match && *when.if_metageneration_match != bucket.metageneration) {
    throw condition_not_met();
  }
  if (when.if_metageneration_not_match &&
      *when.if_metageneration_not_match == bucket.metageneration) {
    throw not_modified();
  }
  return bucket_reply(asked, request, bucket);
}

http_reply bucket_api::list(const call& asked, const http_request& request) const {
  static constexpr std::array<std::string_view, 4> known{"kind", "items", "nextPageToken",
                                                         "unreachable"};
  require_project(asked);
  const field_mask wanted = wanted_fields(asked);
  wanted.require_known(known);
  const field_mask* item_fields = wanted.find("items");
  if (item_fields != nullptr) require_bucket_fields(*item_fields);
  const projection shown = wanted_projection(asked);
  std::vector<bucket_facts> page = store_.buckets();
  const std::string_view after = asked.query.get("pageToken");
  const std::string_view prefix = asked.query.get("prefix");
  std::erase_if(page, [&](const bucket_facts& bucket) {
    return bucket.name <= after || !bucket.name.starts_with(prefix);
  });
  const std::size_t most = page_size(asked);
  const bool more = page.size() > most;
  if (more) page.resize(most);

  json_writer out{asked.pretty()};
  out.begin_object();
  if (wanted.has("kind")) out.member("kind", "storage#buckets");
  if (more && wanted.has("nextPageToken")) out.member("nextPageToken", page.back().name);
  if (!page.empty() && item_fields != nullptr) {
    out.key("items");
    out.begin_array();
    for (const bucket_facts& bucket : page) {
      write_bucket(out, bucket, *item_fields, request.base(), shown);
    }
    out.end_array();
  }
  if (!asked.unreachable.empty() && wanted.has("unreachable")) {
    out.key("unreachable");
    out.begin_array();
    for (const std::string& name : asked.unreachable) out.string(name);
    out.end_array();
  }
  out.end_object();
  return json_reply(out.take());
}

http_reply bucket_api::insert(const call& asked, const http_request& request) const {
  require_project(asked);
  const json_value document = body_document(request);
  const auto name = document.text("name");
  if (!name) throw required_parameter("name");
  bucket_settings settings;
  settings.location = document.text("location").value_or(settings.location);
  std::ranges::transform(settings.location, settings.location.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  settings.object_retention = asked.query.flag("enableObjectRetention");
  if (const json_value* placement = document.find("customPlacementConfig")) {
    if (!placement->is_null()) settings.kept.emplace("customPlacementConfig", *placement);
  }
  change_settings(settings, document, false);
  change_predefined(settings, asked.query);
  const json_value* hierarchical = document.find("hierarchicalNamespace");
  if (hierarchical != nullptr && hierarchical->flag("enabled").value_or(false)) {
    if (!settings.uniform_access) {
      throw invalid_argument(
          "Hierarchical namespace buckets must use uniform bucket-level access.");
    }
    settings.kind = bucket_settings::layout::hierarchical;
  }
  if (settings.storage_class == "RAPID") settings.kind = bucket_settings::layout::zonal;
  if (!store_.create_bucket(*name, settings)) {
    throw service_error{409, "conflict", "BucketAlreadyOwnedByYou",
                        "Your previous request to create the named bucket succeeded and you "
                        "already own it."};
  }
  const bool full = says_access(document);
  return bucket_reply(asked, request, store_.facts(*name),
                      full ? projection::full : projection::no_acl);
}

http_reply bucket_api::remove(const call& asked, const http_request& request) const {
  store_.remove_bucket(asked.bucket, preconditions::of_query(asked.query, request));
  http_reply reply;
  reply.status = 204;
  return reply;
}

http_reply bucket_api::patch(const call& asked, const http_request& request, bool whole) const {
  const json_value document = body_document(request);
  const auto when = preconditions::of_query(asked.query, request);
  const bucket_facts changed = store_.configure(asked.bucket, when, [&](bucket_settings& settings) {
    change_settings(settings, document, whole);
    change_predefined(settings, asked.query);
  });
  return bucket_reply(asked, request, changed, projection::full);
}

http_reply bucket_api::lock_retention(const call& asked, const http_request& request) const {
  const auto when = preconditions::of_query(asked.query, request);
  if (!when.if_metageneration_match) throw required_parameter("ifMetagenerationMatch");
  const bucket_facts changed = store_.configure(asked.bucket, when, [](bucket_settings& settings) {
    if (!settings.retention) {
      throw invalid_argument("The bucket has no retention policy that could be locked.");
    }
    settings.retention_locked = true;
  });
  return bucket_reply(asked, request, changed);
}

http_reply bucket_api::layout(const call& asked) const {
  const bucket_facts bucket = store_.facts(asked.bucket);
  const bool flat = bucket.settings.kind == bucket_settings::layout::flat;
  json_writer out{asked.pretty()};
  out.begin_object();
  out.member("kind", "storage#storageLayout");
  out.member("bucket", asked.bucket);
  out.member("location", bucket.settings.location);
  out.member("locationType", location_type(bucket.settings));
  out.key("hierarchicalNamespace");
  out.begin_object();
  out.key("enabled");
  out.boolean(!flat);
  out.end_object();
  out.end_object();
  return json_reply(out.take());
}

}  // namespace emulator
