#include <emulator/bucket_store.hpp>
#include <emulator/object_json.hpp>
#include <emulator/object_rules.hpp>
#include <emulator/s3/object_facts.hpp>
#include <emulator/service_error.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>

/// Objects; what concerns buckets alone is in store_buckets.cpp.
namespace emulator {
namespace {

std::shared_ptr<stored_object> object_of(std::string_view bucket,
                                         bucket_store::new_object& described) {
  auto out = std::make_shared<stored_object>();
  out->bucket = bucket;
  out->name = std::move(described.name);
  out->metadata = std::move(described.metadata);
  out->data = std::move(described.data);
  out->has_md5 = described.has_md5;
  out->component_count = described.component_count;
  out->customer_key = std::move(described.customer_key);
  out->s3_facts = std::move(described.s3_facts);
  return out;
}

}  // namespace

/// The service's generations are the microseconds of the write; equal ones are pushed apart.
std::int64_t bucket_store::next_generation() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  last_generation_ = std::max<std::int64_t>(us, last_generation_ + 1);
  return last_generation_;
}

const object_ptr* bucket_store::find(const bucket_entry& in, std::string_view name,
                                     const preconditions& when) {
  if (when.soft_deleted) {
    const auto gone = in.soft_deleted.find(name);
    if (gone == in.soft_deleted.end()) return nullptr;
    const auto at = gone->second.find(when.generation.value_or(0));
    const bool there =
        at != gone->second.end() && std::chrono::system_clock::now() < at->second->soft->until;
    return there ? &at->second : nullptr;
  }
  const auto live = in.live.find(name);
  const bool is_live = live != in.live.end();
  if (is_live && (!when.generation || *when.generation == live->second->generation)) {
    return &live->second;
  }
  if (!when.generation) return nullptr;
  const auto others = in.noncurrent.find(name);
  if (others == in.noncurrent.end()) return nullptr;
  const auto at = others->second.find(*when.generation);
  return at == others->second.end() ? nullptr : &at->second;
}

object_ptr bucket_store::get(std::string_view bucket, std::string_view name,
                             const preconditions& when) const {
  const std::shared_lock lock{mutex_};
  const object_ptr* held = find(entry(bucket), name, when);
  if (held == nullptr) throw no_such_object(bucket, name);
  when.check_read(**held);
  return *held;
}

/// Puts an object in its place, live or not, instead of what had the same generation.
void bucket_store::settle(bucket_entry& in, const object_ptr& object) {
  if (object->soft) {
    in.soft_deleted[object->name].insert_or_assign(object->generation, object);
  } else if (object->deleted) {
    in.noncurrent[object->name].insert_or_assign(object->generation, object);
  } else {
    in.live.insert_or_assign(object->name, object);
  }
}

void bucket_store::erase(bucket_entry& in, const object_ptr& object) {
  if (!object->deleted && !object->soft) {
    in.live.erase(object->name);
    return;
  }
  generation_map& from = object->soft ? in.soft_deleted : in.noncurrent;
  const auto others = from.find(object->name);
  others->second.erase(object->generation);
  if (others->second.empty()) from.erase(others);
}

/// A generation that only changes is one event, so that its bytes are referred to all the time.
void bucket_store::tell(const object_ptr& saved, const object_ptr& removed) {
  if (journal_ == nullptr) return;
  if (removed) journal_->removed(*removed, saved.get());
  if (saved) journal_->saved(*saved);
}

/// The live object leaves its place; a bucket with versions keeps it.
void bucket_store::retire(bucket_entry& in, object_map::iterator live) {
  const object_ptr leaving = live->second;
  const bool keeps = in.facts.settings.versioning || s3::is_versioned(*leaving);
  if (!keeps) return put_away(in, leaving);
  in.live.erase(live);
  auto noncurrent = std::make_shared<stored_object>(*leaving);
  noncurrent->deleted = std::chrono::system_clock::now();
  const object_ptr kept = noncurrent;
  settle(in, kept);
  tell(kept, leaving);
}

/// A generation is deleted for good; a bucket with soft delete keeps it for a time.
void bucket_store::put_away(bucket_entry& in, const object_ptr& object) {
  const object_ptr leaving = object;
  erase(in, leaving);
  const std::chrono::seconds time = in.facts.settings.soft_delete;
  if (time.count() == 0 || leaving->soft) return tell(nullptr, leaving);
  const auto now = std::chrono::system_clock::now();
  auto soft = std::make_shared<stored_object>(*leaving);
  soft->soft = {.at = now, .until = now + time};
  const object_ptr kept = soft;
  settle(in, kept);
  tell(kept, leaving);
}

void bucket_store::require_replaceable(const bucket_entry& in, std::string_view name) {
  const auto at = in.live.find(name);
  if (at == in.live.end()) return;
  if (in.facts.settings.no_delete) throw forbidden("storage.objects.delete", name);
  require_unguarded(*at->second, in.facts.settings.versioning);
}

void bucket_store::require_replaceable(std::string_view bucket, std::string_view name) const {
  const std::shared_lock lock{mutex_};
  require_replaceable(entry(bucket), name);
}

object_ptr bucket_store::insert(bucket_entry& into, std::shared_ptr<stored_object> fresh) {
  fresh->generation = next_generation();
  fresh->created = stored_object::time_point{std::chrono::microseconds{fresh->generation}};
  fresh->updated = fresh->created;
  const bucket_settings& settings = into.facts.settings;
  require_allowed(settings, fresh->metadata, {});
  check_retention({}, fresh->metadata.retention, false);
  require_replaceable(into, fresh->name);
  const auto at = into.live.find(fresh->name);
  if (at != into.live.end()) retire(into, at);
  if (fresh->s3_facts) {
    fresh->s3_facts = s3::with_version(*fresh->s3_facts, settings.versioning);
    if (!settings.versioning) remove_null_version(into, fresh->name);
  }
  fill_in(settings, fresh->metadata, !fresh->customer_key.empty());
  stamp(settings, *fresh);
  into.live.emplace(fresh->name, fresh);
  tell(fresh);
  return fresh;
}

object_ptr bucket_store::put(std::string_view bucket, new_object object,
                             const preconditions& when) {
  if (names_ == naming::google) check_object_name(object.name);
  auto fresh = object_of(bucket, object);
  // Written before the lock; for nothing when the conditions do not hold.
  if (journal_ != nullptr) fresh->data = journal_->keep(fresh->data);
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  const auto at = held.live.find(fresh->name);
  when.check_write(at == held.live.end() ? nullptr : at->second.get());
  return insert(held, std::move(fresh));
}

object_ptr bucket_store::change(std::string_view bucket, std::string_view name,
                                const preconditions& when,
                                const std::function<void(object_metadata&)>& change) {
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  const object_ptr* at = find(held, name, when);
  if (at == nullptr) throw no_such_object(bucket, name);
  when.check_write(at->get());
  auto fresh = std::make_shared<stored_object>(**at);
  change(fresh->metadata);
  require_allowed(held.facts.settings, fresh->metadata, (*at)->metadata);
  ++fresh->metageneration;
  fresh->updated = std::chrono::system_clock::now();
  const object_ptr before = *at;
  if (before->metadata.event_based_hold && !fresh->metadata.event_based_hold) {
    fresh->released = fresh->updated;
  }
  stamp(held.facts.settings, *fresh);
  settle(held, fresh);
  tell(fresh, before);
  return fresh;
}

void bucket_store::remove(std::string_view bucket, std::string_view name,
                          const preconditions& when) {
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  const object_ptr* found = find(held, name, when);
  if (found == nullptr) throw no_such_object(bucket, name);
  when.check_write(found->get());
  const object_ptr object = *found;
  const bool retires = !object->deleted && !when.generation;
  require_unguarded(*object, retires && held.facts.settings.versioning);
  if (retires) return retire(held, held.live.find(name));
  put_away(held, object);
}

void bucket_store::erase(std::string_view bucket, std::string_view name, std::int64_t generation) {
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  preconditions exactly;
  exactly.generation = generation;
  const object_ptr* found = find(held, name, exactly);
  if (found == nullptr) return;
  const object_ptr object = *found;
  require_unguarded(*object);
  erase(held, object);
  tell(nullptr, object);
}

object_ptr bucket_store::restore_deleted(std::string_view bucket, std::string_view name,
                                         std::int64_t generation, const preconditions& when) {
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  preconditions exactly;
  exactly.generation = generation;
  exactly.soft_deleted = true;
  const object_ptr* found = find(held, name, exactly);
  if (found == nullptr) throw no_such_object(bucket, name);
  const auto target = held.live.find(name);
  when.check_write(target == held.live.end() ? nullptr : target->second.get());
  auto fresh = std::make_shared<stored_object>(**found);
  fresh->soft.reset();
  fresh->deleted.reset();
  fresh->released.reset();
  fresh->metadata = fresh->metadata.copied();
  fresh->metageneration = 1;
  return insert(held, std::move(fresh));
}

object_ptr bucket_store::move(std::string_view bucket, std::string_view from, std::string to,
                              const preconditions& source, const preconditions& when) {
  check_object_name(to);
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  const auto at = held.live.find(from);
  if (at == held.live.end() ||
      (source.generation && *source.generation != at->second->generation)) {
    throw no_such_object(bucket, from);
  }
  source.check_write(at->second.get());
  if (from == to) throw invalid_argument("Source and destination of a move must differ");
  const auto target = held.live.find(to);
  when.check_write(target == held.live.end() ? nullptr : target->second.get());
  require_unguarded(*at->second);
  auto fresh = std::make_shared<stored_object>(*at->second);
  fresh->name = std::move(to);
  fresh->metadata = fresh->metadata.copied();
  fresh->released.reset();
  fresh->metageneration = 1;
  object_ptr out = insert(held, std::move(fresh));
  const auto leaving = held.live.find(from);
  if (held.facts.settings.versioning) {
    retire(held, leaving);
    return out;
  }
  const object_ptr gone = leaving->second;  // without soft delete (protocol.md 1.6)
  erase(held, gone);
  tell(nullptr, gone);
  return out;
}

listing_page bucket_store::list(std::string_view bucket, const listing_request& request) const {
  const std::shared_lock lock{mutex_};
  const bucket_entry& held = entry(bucket);
  if (!request.soft_deleted) return emulator::list(held.live, held.noncurrent, request);
  generation_map there;
  const auto now = std::chrono::system_clock::now();
  for (const auto& [name, generations] : held.soft_deleted) {
    for (const auto& [generation, object] : generations) {
      if (now < object->soft->until) there[name].emplace(generation, object);
    }
  }
  listing_request all = request;
  all.versions = true;
  return emulator::list({}, there, all);
}

void bucket_store::seed(std::string_view bucket, new_object object,
                        stored_object::time_point created) {
  auto fresh = object_of(bucket, object);
  fresh->created = created;
  fresh->updated = created;
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  fresh->generation = next_generation();
  fill_in(held.facts.settings, fresh->metadata, false);
  held.live.insert_or_assign(fresh->name, fresh);
}

}  // namespace emulator
