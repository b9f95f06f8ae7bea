#include <emulator/bucket_store.hpp>
#include <emulator/s3/object_facts.hpp>

#include <chrono>
#include <mutex>

/// Versions as S3 has them. A marker is kept among what is not live.
namespace emulator {
namespace {

bool has_id(const stored_object& object, std::string_view id) {
  return s3::version_id_of(object) == id;
}

}  // namespace

object_ptr bucket_store::find_newest(const bucket_entry& in, std::string_view name) {
  const auto live = in.live.find(name);
  if (live != in.live.end()) return live->second;
  const auto others = in.noncurrent.find(name);
  return others == in.noncurrent.end() ? nullptr : others->second.rbegin()->second;
}

object_ptr bucket_store::find_version(const bucket_entry& in, std::string_view name,
                                      std::string_view id) {
  const auto live = in.live.find(name);
  if (live != in.live.end() && has_id(*live->second, id)) return live->second;
  const auto others = in.noncurrent.find(name);
  if (others == in.noncurrent.end()) return nullptr;
  for (const auto& [generation, object] : others->second) {
    if (has_id(*object, id)) return object;
  }
  return nullptr;
}

/// What is written without versioning replaces the version "null".
void bucket_store::remove_null_version(bucket_entry& in, std::string_view name) {
  const object_ptr old = find_version(in, name, "null");
  if (!old || !old->deleted) return;
  erase(in, old);
  tell(nullptr, old);
}

object_ptr bucket_store::newest(std::string_view bucket, std::string_view name) const {
  const std::shared_lock lock{mutex_};
  return find_newest(entry(bucket), name);
}

object_ptr bucket_store::version(std::string_view bucket, std::string_view name,
                                 std::string_view id) const {
  const std::shared_lock lock{mutex_};
  return find_version(entry(bucket), name, id);
}

std::vector<object_ptr> bucket_store::versions(std::string_view bucket,
                                               std::string_view prefix) const {
  const std::shared_lock lock{mutex_};
  const bucket_entry& held = entry(bucket);
  std::vector<object_ptr> out;
  auto live = held.live.lower_bound(prefix);
  auto others = held.noncurrent.lower_bound(prefix);
  const auto begins = [prefix](const auto& at, const auto& end) {
    return at != end && at->first.starts_with(prefix);
  };
  while (true) {
    const bool one = begins(live, held.live.end());
    const bool more = begins(others, held.noncurrent.end());
    if (!one && !more) return out;
    const bool live_first = one && (!more || live->first <= others->first);
    const bool same = one && more && live->first == others->first;
    if (live_first) out.push_back((live++)->second);
    if (live_first && !same) continue;
    for (auto at = others->second.rbegin(); at != others->second.rend(); ++at) {
      out.push_back(at->second);
    }
    ++others;
  }
}

object_ptr bucket_store::remove_current(std::string_view bucket, std::string_view name,
                                        const preconditions& when) {
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  const auto live = held.live.find(name);
  when.check_write(live == held.live.end() ? nullptr : live->second.get());
  if (live != held.live.end()) retire(held, live);
  const bucket_settings& settings = held.facts.settings;
  if (!settings.versioning && !settings.had_versioning) return nullptr;
  if (!settings.versioning) remove_null_version(held, name);
  s3::object_facts facts;
  facts.marker = true;
  facts.versioned = settings.versioning;
  auto marker = std::make_shared<stored_object>();
  marker->bucket = bucket;
  marker->name = name;
  marker->generation = next_generation();
  marker->created = stored_object::time_point{std::chrono::microseconds{marker->generation}};
  marker->updated = marker->created;
  marker->deleted = marker->created;
  marker->s3_facts = std::make_shared<const s3::object_facts>(std::move(facts));
  settle(held, marker);
  tell(marker);
  return marker;
}

object_ptr bucket_store::remove_version(std::string_view bucket, std::string_view name,
                                        std::string_view id,
                                        const std::function<void(const stored_object&)>& check) {
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  const object_ptr leaving = find_version(held, name, id);
  if (!leaving) return nullptr;
  check(*leaving);
  erase(held, leaving);
  tell(nullptr, leaving);
  const object_ptr newest = find_newest(held, name);
  if (newest && newest->deleted && !s3::is_marker(*newest)) {
    auto current = std::make_shared<stored_object>(*newest);
    current->deleted.reset();
    erase(held, newest);
    settle(held, current);
    tell(current, newest);
  }
  return leaving;
}

object_ptr bucket_store::change_facts(std::string_view bucket, std::string_view name,
                                      std::string_view id,
                                      const std::function<void(s3::object_facts&)>& change) {
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  const object_ptr before = find_version(held, name, id);
  if (!before) return nullptr;
  auto facts = std::make_shared<s3::object_facts>(s3::facts_of(*before));
  if (facts->etag.empty() && !facts->marker) facts->etag = s3::etag_of(*before);
  change(*facts);
  auto fresh = std::make_shared<stored_object>(*before);
  fresh->s3_facts = std::move(facts);
  settle(held, fresh);
  tell(fresh, before);
  return fresh;
}

}  // namespace emulator
