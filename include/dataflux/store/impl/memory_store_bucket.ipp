#pragma once

#include <dataflux/store/detail/memory_service.hpp>

#include <chrono>
#include <utility>

/// Versions, retention and holds: which objects a bucket keeps, and which it does not let go.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void memory_service::set_rules(std::string_view name,
                                               const memory_bucket_rules& rules) {
  const auto found = buckets_.find(name);
  if (found != buckets_.end()) found->second.rules = rules;
}

DATAFLUX_INLINE void memory_service::hold(std::string_view name, std::string_view object,
                                          bool held) {
  const auto in = buckets_.find(name);
  if (in == buckets_.end()) return;
  const auto live = in->second.objects.find(object);
  if (live == in->second.objects.end()) return;
  stored_object changed = *live->second;
  changed.held = held;
  live->second = std::make_shared<const stored_object>(std::move(changed));
}

DATAFLUX_INLINE std::optional<error> memory_service::guarded(const bucket& in,
                                                             const stored& object) const {
  if (object == nullptr) return std::nullopt;
  if (object->held) {
    return refused(errc::permission_denied, 403, "objectUnderActiveHold",
                   "the object is under active hold and cannot be deleted, overwritten or archived "
                   "until hold is removed");
  }
  const auto& made = object->metadata.created;
  if (!made || wall_clock() - *made >= in.rules.retention) return std::nullopt;
  return refused(errc::permission_denied, 403, "retentionPolicyNotMet",
                 "the object is subject to the bucket's retention policy and cannot be deleted, "
                 "overwritten or archived yet");
}

DATAFLUX_INLINE std::optional<error> memory_service::unwritable(
    const bucket& in, std::string_view bucket_name, std::string_view object,
    const preconditions& conditions) const {
  const stored live = find(in, bucket_name, object);
  if (auto e = unmet(conditions, live ? &live->metadata : nullptr, false)) return e;
  return guarded(in, live);
}

DATAFLUX_INLINE void memory_service::retire(bucket& in, std::string_view object) {
  const auto live = in.objects.find(object);
  if (live == in.objects.end()) return;
  if (in.rules.versioning) {
    in.noncurrent[live->first].emplace(live->second->metadata.generation, live->second);
  }
  in.objects.erase(live);
}

DATAFLUX_INLINE result<bucket_metadata> memory_service::bucket_facts(
    const bucket_request& r) const {
  const auto in = find_bucket(r.bucket);
  if (!in) return in.error();
  const memory_bucket_rules& rules = (*in)->rules;
  if (!rules.may_be_asked) {
    return refused(errc::permission_denied, 403, "forbidden", "the bucket may not be looked at");
  }
  bucket_metadata facts;
  facts.name = r.bucket;
  facts.storage_class = "STANDARD";
  facts.metageneration = 1;
  facts.versioning = rules.versioning;
  facts.retention_seconds = std::chrono::ceil<std::chrono::seconds>(rules.retention).count();
  facts.default_event_based_hold = rules.default_event_based_hold;
  return facts;
}

DATAFLUX_INLINE result<std::vector<kept_object>> memory_service::remove_many(
    const remove_many_request& r) {
  if (traits_.max_removals < 2 || r.objects.size() > traits_.max_removals) {
    return error{errc::unimplemented, "this store removes one object by a request"};
  }
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  std::vector<kept_object> kept;
  for (std::size_t i = 0; i < r.objects.size(); ++i) {
    const removal_target& target = r.objects[i];
    const stored found = find(**in, r.bucket, target.object);
    if (found == nullptr) continue;
    auto refused = guarded(**in, found);
    if (!refused && !target.etag.empty() && target.etag != found->metadata.etag) {
      refused.emplace(errc::failed_precondition, "the object is in another state");
    }
    if (refused) {
      kept.push_back({i, std::move(refused->with_bucket(r.bucket).with_object(target.object))});
    } else {
      retire(**in, target.object);
    }
  }
  return kept;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
