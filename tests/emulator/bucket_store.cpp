#include <emulator/bucket_store.hpp>
#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>

namespace emulator {

void check_bucket_name(std::string_view bucket) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const bool characters = std::ranges::all_of(
      bucket, [&plain](char c) { return plain(c) || c == '-' || c == '_' || c == '.'; });
  if (bucket.size() < 3 || bucket.size() > 222 || !characters || !plain(bucket.front()) ||
      !plain(bucket.back())) {
    throw bad_request("InvalidBucketName", "Invalid bucket name: '" + std::string{bucket} + "'");
  }
}

void check_object_name(std::string_view name) {
  const bool well_formed = valid_utf8(name) && name.find_first_of("\r\n") == std::string_view::npos;
  const bool reserved =
      name == "." || name == ".." || name.starts_with(".well-known/acme-challenge/");
  if (name.empty() || name.size() > 1024 || !well_formed || reserved) {
    throw bad_request("InvalidObjectName", "Invalid object name");
  }
}

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
  return out;
}

void check_metageneration(const preconditions& when, std::int64_t now) {
  if (when.if_metageneration_match && *when.if_metageneration_match != now) {
    throw condition_not_met();
  }
  if (when.if_metageneration_not_match && *when.if_metageneration_not_match == now) {
    throw condition_not_met();
  }
}

}  // namespace

// ---- buckets ----

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
  return buckets_.try_emplace(std::string{bucket}, bucket_entry{.facts = fresh}).second;
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
}

void bucket_store::require_bucket(std::string_view bucket) const {
  const std::shared_lock lock{mutex_};
  entry(bucket);
}

bucket_facts bucket_store::facts(std::string_view bucket) const {
  const std::shared_lock lock{mutex_};
  return entry(bucket).facts;
}

bucket_facts bucket_store::configure(std::string_view bucket, const preconditions& when,
                                     const std::function<void(bucket_settings&)>& change) {
  const std::unique_lock lock{mutex_};
  bucket_facts& held = entry(bucket).facts;
  check_metageneration(when, held.metageneration);
  bucket_settings changed = held.settings;
  change(changed);
  held.settings = std::move(changed);
  if (held.settings.restricts()) restricted_.store(true, std::memory_order_release);
  held.updated = std::chrono::system_clock::now();
  ++held.metageneration;
  return held;
}

std::vector<bucket_facts> bucket_store::buckets() const {
  const std::shared_lock lock{mutex_};
  std::vector<bucket_facts> out;
  for (const auto& [name, held] : buckets_) out.push_back(held.facts);
  return out;
}

// ---- objects ----

/// The service's generations are the microseconds of the write; equal ones are pushed apart.
std::int64_t bucket_store::next_generation() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  last_generation_ = std::max<std::int64_t>(us, last_generation_ + 1);
  return last_generation_;
}

const object_ptr* bucket_store::find(const bucket_entry& in, std::string_view name,
                                     const preconditions& when) {
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

/// The live object leaves its place; a bucket with versions keeps it.
void bucket_store::retire(bucket_entry& in, object_map::iterator live) {
  if (in.facts.settings.versioning) {
    auto kept = std::make_shared<stored_object>(*live->second);
    kept->deleted = std::chrono::system_clock::now();
    in.noncurrent[live->first].emplace(kept->generation, kept);
  }
  in.live.erase(live);
}

object_ptr bucket_store::insert(bucket_entry& into, std::shared_ptr<stored_object> fresh) {
  fresh->generation = next_generation();
  fresh->created = stored_object::time_point{std::chrono::microseconds{fresh->generation}};
  fresh->updated = fresh->created;
  const auto at = into.live.find(fresh->name);
  if (at != into.live.end()) {
    if (into.facts.settings.no_delete) {
      throw forbidden("storage.objects.delete", fresh->name);
    }
    retire(into, at);
  }
  into.live.emplace(fresh->name, fresh);
  return fresh;
}

object_ptr bucket_store::put(std::string_view bucket, new_object object,
                             const preconditions& when) {
  check_object_name(object.name);
  auto fresh = object_of(bucket, object);
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
  ++fresh->metageneration;
  fresh->updated = std::chrono::system_clock::now();
  if (fresh->deleted) {
    held.noncurrent.find(name)->second.insert_or_assign(fresh->generation, fresh);
  } else {
    held.live.insert_or_assign(fresh->name, fresh);
  }
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
  if (object->deleted) {
    const auto others = held.noncurrent.find(name);
    others->second.erase(object->generation);
    if (others->second.empty()) held.noncurrent.erase(others);
  } else if (when.generation) {
    held.live.erase(object->name);
  } else {
    retire(held, held.live.find(name));
  }
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
  auto fresh = std::make_shared<stored_object>(*at->second);
  fresh->name = std::move(to);
  fresh->metageneration = 1;
  object_ptr out = insert(held, std::move(fresh));
  retire(held, held.live.find(from));
  return out;
}

listing_page bucket_store::list(std::string_view bucket, const listing_request& request) const {
  const std::shared_lock lock{mutex_};
  const bucket_entry& held = entry(bucket);
  return emulator::list(held.live, held.noncurrent, request);
}

void bucket_store::seed(std::string_view bucket, new_object object,
                        stored_object::time_point created) {
  auto fresh = object_of(bucket, object);
  fresh->created = created;
  fresh->updated = created;
  const std::unique_lock lock{mutex_};
  bucket_entry& held = entry(bucket);
  fresh->generation = next_generation();
  held.live.insert_or_assign(fresh->name, fresh);
}

}  // namespace emulator
