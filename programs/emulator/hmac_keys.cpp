#include <emulator/digest.hpp>
#include <emulator/hmac_keys.hpp>
#include <emulator/json_reply.hpp>

#include <algorithm>
#include <random>

namespace emulator {
namespace {

service_error no_key() { return {404, "notFound", "NotFound", "Access ID not found in project"}; }

/// A key's secret has 40 characters of base64.
std::string random_bytes(std::size_t count) {
  std::random_device source;
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += static_cast<char>(source() & 0xff);
  return out;
}

/// The id of a service account's key has 61 characters.
std::string fresh_access_id() {
  static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string out = "GOOG1E";
  for (const char c : random_bytes(55)) out += letters[static_cast<unsigned char>(c) & 31];
  return out;
}

}  // namespace

std::string hmac_keys::etag(const entry& key) {
  return base64_encode("hmac " + std::to_string(key.revision));
}

const hmac_keys::entry& hmac_keys::find(const call& asked) const {
  const auto at = keys_.find(asked.item);
  if (at == keys_.end() || at->second.project != asked.project) {
    throw no_key();
  }
  return at->second;
}

void hmac_keys::write(json_writer& out, const call& asked, std::string_view base,
                      std::string_view access_id, const entry& key, const field_mask& wanted) {
  const auto member = [&](std::string_view name, std::string_view value) {
    if (wanted.has(name)) out.member(name, value);
  };
  const std::string id{access_id};
  out.begin_object();
  member("kind", "storage#hmacKeyMetadata");
  member("id", asked.project + "/" + id);
  member("selfLink",
         std::string{base} + "/storage/v1/projects/" + asked.project + "/hmacKeys/" + id);
  member("accessId", id);
  member("projectId", asked.project);
  member("serviceAccountEmail", key.account);
  member("state", key.state);
  member("timeCreated", rfc3339(key.created));
  member("updated", rfc3339(key.updated));
  member("etag", etag(key));
  out.end_object();
}

http_reply hmac_keys::create(const call& asked, const http_request& request) {
  const std::string_view account = asked.query.get("serviceAccountEmail");
  if (account.empty()) throw required_parameter("serviceAccountEmail");
  const auto now = std::chrono::system_clock::now();
  const entry fresh{.secret = base64_encode(random_bytes(30)),
                    .project = asked.project,
                    .account = std::string{account},
                    .created = now,
                    .updated = now};
  const std::string id = fresh_access_id();
  {
    const std::lock_guard lock{mutex_};
    keys_.emplace(id, fresh);
  }
  json_writer out{asked.pretty()};
  out.begin_object();
  out.member("kind", "storage#hmacKey");
  out.key("metadata");
  write(out, asked, request.base(), id, fresh, {});
  out.member("secret", fresh.secret);
  out.end_object();
  return json_reply(out.take());
}

http_reply hmac_keys::get(const call& asked, const http_request& request) const {
  const std::lock_guard lock{mutex_};
  json_writer out{asked.pretty()};
  write(out, asked, request.base(), asked.item, find(asked), wanted_fields(asked));
  return json_reply(out.take());
}

http_reply hmac_keys::list(const call& asked, const http_request& request) const {
  const std::string_view account = asked.query.get("serviceAccountEmail");
  const std::string_view after = asked.query.get("pageToken");
  const bool deleted = asked.query.flag("showDeletedKeys");
  const std::int64_t most =
      std::clamp<std::int64_t>(parse_integer(asked.query.get("maxResults")).value_or(250), 1, 250);
  const field_mask wanted = wanted_fields(asked);
  const field_mask* inside = wanted.find("items");
  const std::string base = request.base();
  const std::lock_guard lock{mutex_};
  std::vector<keys::const_iterator> page;
  for (auto at = keys_.upper_bound(after); at != keys_.end(); ++at) {
    const entry& key = at->second;
    const bool asked_for = key.project == asked.project &&
                           (account.empty() || key.account == account) &&
                           (deleted || key.state != "DELETED");
    if (asked_for) page.push_back(at);
  }
  const bool more = static_cast<std::int64_t>(page.size()) > most;
  if (more) page.resize(static_cast<std::size_t>(most));
  json_writer out{asked.pretty()};
  out.begin_object();
  if (wanted.has("kind")) out.member("kind", "storage#hmacKeysMetadata");
  if (more && wanted.has("nextPageToken")) out.member("nextPageToken", page.back()->first);
  if (inside != nullptr && !page.empty()) {
    out.key("items");
    out.begin_array();
    for (const auto& at : page) write(out, asked, base, at->first, at->second, *inside);
    out.end_array();
  }
  out.end_object();
  return json_reply(out.take());
}

http_reply hmac_keys::update(const call& asked, const http_request& request) {
  const json_value document = body_document(request);
  const std::string state = document.text("state").value_or("");
  if (state != "ACTIVE" && state != "INACTIVE") throw invalid_argument("Invalid state of a key");
  const std::lock_guard lock{mutex_};
  entry changed = find(asked);
  const auto given = document.text("etag");
  if (given && *given != etag(changed)) throw condition_not_met();
  if (changed.state == "DELETED") throw no_key();
  changed.state = state;
  changed.updated = std::chrono::system_clock::now();
  ++changed.revision;
  keys_.insert_or_assign(asked.item, changed);
  json_writer out{asked.pretty()};
  write(out, asked, request.base(), asked.item, changed, wanted_fields(asked));
  return json_reply(out.take());
}

http_reply hmac_keys::remove(const call& asked) {
  const std::lock_guard lock{mutex_};
  entry changed = find(asked);
  if (changed.state == "DELETED") throw no_key();
  if (changed.state != "INACTIVE") {
    throw invalid_argument("Cannot delete a key in the state " + changed.state +
                           ": it must be INACTIVE");
  }
  changed.state = "DELETED";
  changed.updated = std::chrono::system_clock::now();
  ++changed.revision;
  keys_.insert_or_assign(asked.item, changed);
  http_reply reply;
  reply.status = 204;
  return reply;
}

http_reply hmac_keys::service_account(const call& asked) const {
  json_writer out{asked.pretty()};
  out.begin_object();
  out.member("kind", "storage#serviceAccount");
  out.member("email_address", "service-1@gs-project-accounts.iam.gserviceaccount.com");
  out.end_object();
  return json_reply(out.take());
}

std::optional<std::string> hmac_keys::secret_of(std::string_view access_id) const {
  const std::lock_guard lock{mutex_};
  const auto at = keys_.find(access_id);
  if (at == keys_.end()) return std::nullopt;
  if (at->second.state != "ACTIVE") {
    throw service_error{403, "forbidden", "InvalidSecurity",
                        "The provided security credentials are not valid."};
  }
  return at->second.secret;
}

}  // namespace emulator
