#include <emulator/json_reply.hpp>
#include <emulator/listing.hpp>
#include <emulator/operations.hpp>
#include <emulator/service_error.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace emulator {
namespace {

/// A bound on a time, checked for its form when it is given.
std::optional<stored_object::time_point> bound(const json_value& document, std::string_view name) {
  const auto text = document.text(name);
  if (!text) return std::nullopt;
  const auto time = parse_time(*text);
  if (!time) throw invalid_argument("Invalid value for field '" + std::string{name} + "'");
  return time;
}

bool within(const json_value& document, std::string_view after, std::string_view before,
            stored_object::time_point time) {
  const auto from = bound(document, after);
  const auto until = bound(document, before);
  return (!from || time > *from) && (!until || time < *until);
}

/// All soft-deleted generations of a bucket, oldest first for each name.
std::vector<object_ptr> soft_deleted(const bucket_store& store, std::string_view bucket) {
  std::vector<object_ptr> out;
  listing_request request;
  request.soft_deleted = true;
  do {
    const listing_page page = store.list(bucket, request);
    out.insert(out.end(), page.items.begin(), page.items.end());
    request.page_token = page.next_page_token;
  } while (!request.page_token.empty());
  return out;
}

}  // namespace

http_reply operations::bulk_restore(const call& asked, const http_request& request) {
  if (store_.facts(asked.bucket).settings.soft_delete.count() == 0) {
    throw service_error{400, "SoftDeletePolicyRequired", "InvalidArgument",
                        "bucket soft delete policy must be set."};
  }
  operation fresh{.bucket = asked.bucket, .asked = body_document(request)};
  fresh.begun = std::chrono::system_clock::now();
  for (const char* name :
       {"softDeletedAfterTime", "softDeletedBeforeTime", "createdAfterTime", "createdBeforeTime"}) {
    bound(fresh.asked, name);
  }
  const std::lock_guard lock{mutex_};
  const std::string id = "AEmuOperation" + std::to_string(next_++);
  return reply(asked, id, all_.emplace(id, std::move(fresh)).first->second);
}

http_reply operations::get(const call& asked) {
  const std::lock_guard lock{mutex_};
  const auto at = all_.find(asked.item);
  if (at == all_.end() || at->second.bucket != asked.bucket) {
    throw service_error{404, "notFound", "NotFound",
                        "The specified long-running operation does not exist."};
  }
  operation& what = at->second;
  if (what.looked_at && !what.done) carry_out(what);
  what.looked_at = true;
  return reply(asked, at->first, what);
}

bool operations::wanted(const operation& what, const stored_object& object) const {
  if (!within(what.asked, "softDeletedAfterTime", "softDeletedBeforeTime", object.soft->at) ||
      !within(what.asked, "createdAfterTime", "createdBeforeTime", object.created)) {
    return false;
  }
  const json_value* const globs = what.asked.find("matchGlobs");
  const auto* const all = globs ? std::get_if<json_value::array>(&globs->value) : nullptr;
  if (all == nullptr || all->empty()) return true;
  return std::ranges::any_of(*all, [&](const json_value& glob) {
    const auto* const text = std::get_if<std::string>(&glob.value);
    return text != nullptr && matches_glob(*text, object.name);
  });
}

/// Of each name the last generation that is wanted; all others are skipped.
void operations::carry_out(operation& what) {
  const bool overwrites = what.asked.flag("allowOverwrite").value_or(false);
  std::map<std::string, object_ptr> last;
  std::int64_t seen = 0;
  for (const object_ptr& object : soft_deleted(store_, what.bucket)) {
    ++seen;
    if (wanted(what, *object)) last[object->name] = object;
  }
  what.skipped = seen - static_cast<std::int64_t>(last.size());
  for (const auto& [name, object] : last) {
    preconditions when;
    if (!overwrites) when.if_generation_match = 0;
    try {
      store_.restore_deleted(what.bucket, name, object->generation, when);
      ++what.succeeded;
    } catch (const service_error& refused) {
      // A live object that may not be overwritten is one of the skipped.
      ++(refused.status == 412 ? what.skipped : what.failed);
    }
  }
  what.ended = std::chrono::system_clock::now();
  what.done = true;
}

http_reply operations::reply(const call& asked, const std::string& id,
                             const operation& what) const {
  json_writer out{asked.pretty()};
  out.begin_object();
  out.member("kind", "storage#operation");
  out.member("name", "projects/_/buckets/" + what.bucket + "/operations/" + id);
  out.key("done");
  out.boolean(what.done);
  const std::string types = "type.googleapis.com/google.storage.control.v2.";
  if (what.done) {
    out.key("response");
    out.begin_object();
    out.member("@type", types + "BulkRestoreObjectsResponse");
    out.end_object();
  }
  out.key("metadata");
  out.begin_object();
  out.member("@type", types + "BulkRestoreObjectsMetadata");
  out.key("commonMetadata");
  out.begin_object();
  out.member("createTime", rfc3339(what.begun));
  if (what.done) out.member("endTime", rfc3339(what.ended));
  out.member("type", "bulk-restore-objects");
  out.key("requestedCancellation");
  out.boolean(false);
  out.key("progressPercent");
  out.number(-1);
  out.end_object();
  out.member("succeededCount", std::to_string(what.succeeded));
  out.member("skippedCount", std::to_string(what.skipped));
  out.member("failedCount", std::to_string(what.failed));
  out.end_object();
  out.end_object();
  return json_reply(out.take());
}

}  // namespace emulator
