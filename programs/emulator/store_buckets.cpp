#include <emulator/bucket_store.hpp>
#include <emulator/object_rules.hpp>
#include <emulator/service_error.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>

/// What bucket_store does to buckets, and what a journal gives back to it.
namespace emulator {
namespace {

void check_metageneration(const preconditions& when, std::int64_t now) {
  if (when.if_metageneration_match && *when.if_metageneration_match != now) {
    throw condition_not_met();
  }
  if (when.if_metageneration_not_match && *when.if_metageneration_not_match == now) {
    throw condition_not_met();
  }
}

}  // namespace

const bucket_store::bucket_entry& bucket_store::entry(std::string_view bucket) const {
  const auto at = buckets_.find(bucket);
  if (at == buckets_.end()) throw no_such_bucket();
  return at->second;
}

bucket_store::bucket_entry& bucket_store::entry(std::string_view bucket) {
  const auto at = buckets_.find(bucket);
  if (at == buckets_.end()) throw no_such_bucket();
  return at->second;
}

bool bucket_store::create_bucket(std::string_view bucket, const bucket_settings& settings) {
  check_bucket_name(bucket);
  const auto now = std::chrono::system_clock::now();
  const std::unique_lock lock{mutex_};
  if (settings.restricts()) restricted_.store(true, std::memory_order_release);
  const bucket_facts fresh{
      .name = std::string{bucket}, .settings = settings, .created = now, .updated = now};
  const bool made = buckets_.try_emplace(std::string{bucket}, bucket_entry{.facts = fresh}).second;
  if (made && journal_ != nullptr) journal_->bucket_saved(fresh);
  return made;
}

void bucket_store::remove_bucket(std::string_view bucket, const preconditions& when) {
  const std::unique_lock lock{mutex_};
  const bucket_entry& held = entry(bucket);
  check_metageneration(when, held.facts.metageneration);
  if (!held.live.empty() || !held.noncurrent.empty()) {
    throw service_error{409, "conflict", "BucketNotEmpty",
                        "The bucket you tried to delete is not empty."};
  }
  buckets_.erase(buckets_.find(bucket));
  if (journal_ != nullptr) journal_->bucket_removed(bucket);
}

void bucket_store::require_bucket(std::string_view bucket) const {
  const std::shared_lock lock{mutex_};
  entry(bucket);
}

bucket_facts bucket_store::facts(std::string_view bucket) const {
  const std::shared_lock lock{mutex_};
  return entry(bucket).facts;
}

std::optional<std::string> bucket_store::location(std::string_view bucket) const {
  const std::shared_lock lock{mutex_};
  const auto at = buckets_.find(bucket);
  if (at == buckets_.end()) return std::nullopt;
  return at->second.facts.settings.location;
}

bucket_facts bucket_store::configure(std::string_view bucket, const preconditions& when,
                                     const std::function<void(bucket_settings&)>& change) {
  const std::unique_lock lock{mutex_};
  bucket_entry& in = entry(bucket);
  bucket_facts& held = in.facts;
  check_metageneration(when, held.metageneration);
  bucket_settings changed = held.settings;
  change(changed);
  held.updated = std::chrono::system_clock::now();
  if (held.settings.versioning && !changed.versioning) changed.had_versioning = true;
  const bool other_retention = changed.retention != held.settings.retention;
  held.settings = std::move(changed);
  if (held.settings.restricts()) restricted_.store(true, std::memory_order_release);
  if (other_retention) {
    held.settings.retention_effective.reset();
    if (held.settings.retention) held.settings.retention_effective = held.updated;
    stamp_all(in);
  }
  ++held.metageneration;
  if (journal_ != nullptr) journal_->bucket_saved(held);
  return held;
}

bucket_facts bucket_store::edit(std::string_view bucket,
                                const std::function<void(bucket_facts&)>& change) {
  const std::unique_lock lock{mutex_};
  bucket_facts& held = entry(bucket).facts;
  bucket_facts changed = held;
  change(changed);
  held = std::move(changed);
  if (journal_ != nullptr) journal_->bucket_saved(held);
  return held;
}

bool bucket_store::uniform(std::string_view bucket) const {
  const std::shared_lock lock{mutex_};
  const auto at = buckets_.find(bucket);
  return at != buckets_.end() && at->second.facts.settings.uniform_access;
}

/// A policy counts for what is there already, too.
void bucket_store::stamp_all(bucket_entry& in) {
  const auto anew = [&in](object_ptr& object) {
    auto fresh = std::make_shared<stored_object>(*object);
    stamp(in.facts.settings, *fresh);
    object = std::move(fresh);
  };
  for (auto& [name, object] : in.live) anew(object);
  for (auto& [name, generations] : in.noncurrent) {
    for (auto& [generation, object] : generations) anew(object);
  }
}

std::vector<bucket_facts> bucket_store::buckets() const {
  const std::shared_lock lock{mutex_};
  std::vector<bucket_facts> out;
  for (const auto& [name, held] : buckets_) out.push_back(held.facts);
  return out;
}

// ---- what outlasts the program ----

void bucket_store::restore_bucket(const bucket_facts& bucket) {
  const std::unique_lock lock{mutex_};
  if (bucket.settings.restricts()) restricted_.store(true, std::memory_order_release);
  bucket_entry& in = buckets_[bucket.name];
  in.facts = bucket;
  stamp_all(in);
}

void bucket_store::restore(object_ptr object) {
  const std::unique_lock lock{mutex_};
  const auto at = buckets_.find(object->bucket);
  if (at == buckets_.end()) return;
  last_generation_ = std::max(last_generation_, object->generation);
  auto fresh = std::make_shared<stored_object>(*object);
  stamp(at->second.facts.settings, *fresh);
  settle(at->second, std::move(fresh));
}

void bucket_store::restore_without(std::string_view bucket) {
  const std::unique_lock lock{mutex_};
  const auto at = buckets_.find(bucket);
  if (at != buckets_.end()) buckets_.erase(at);
}

void bucket_store::restore_without(std::string_view bucket, std::string_view name,
                                   std::int64_t generation) {
  const std::unique_lock lock{mutex_};
  const auto at = buckets_.find(bucket);
  if (at == buckets_.end()) return;
  preconditions exactly;
  exactly.generation = generation;
  const object_ptr* found = find(at->second, name, exactly);
  exactly.soft_deleted = true;
  if (found == nullptr) found = find(at->second, name, exactly);
  if (found != nullptr) erase(at->second, object_ptr{*found});
}

void bucket_store::attach(store_journal& journal) {
  const std::unique_lock lock{mutex_};
  journal_ = &journal;
  for (const auto& [name, held] : buckets_) {
    journal.bucket_saved(held.facts);
    for (const auto& [object_name, object] : held.live) journal.saved(*object);
    for (const generation_map* others : {&held.noncurrent, &held.soft_deleted}) {
      for (const auto& [object_name, generations] : *others) {
        for (const auto& [generation, object] : generations) journal.saved(*object);
      }
    }
  }
}

}  // namespace emulator
