#include <emulator/bucket_store.hpp>
#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>

namespace emulator {

void check_bucket_name(std::string_view bucket) {
  const bool characters = std::ranges::all_of(bucket, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
  if (bucket.size() < 3 || bucket.size() > 222 || !characters) {
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

const bucket_store::bucket_entry& bucket_store::entry(std::string_view bucket) const {
  const auto at = buckets_.find(bucket);
  if (at == buckets_.end()) throw no_such_bucket();
  return at->second;
}

/// The service's generations are the microseconds of the write; equal ones are pushed apart.
std::int64_t bucket_store::next_generation() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  last_generation_ = std::max<std::int64_t>(us, last_generation_ + 1);
  return last_generation_;
}

bool bucket_store::create_bucket(std::string_view bucket) {
  check_bucket_name(bucket);
  const std::unique_lock lock{mutex_};
  const bucket_entry fresh{.created = std::chrono::system_clock::now(), .objects = {}};
  return buckets_.emplace(std::string{bucket}, fresh).second;
}

void bucket_store::require_bucket(std::string_view bucket) const {
  const std::shared_lock lock{mutex_};
  entry(bucket);
}

stored_object::time_point bucket_store::bucket_created(std::string_view bucket) const {
  const std::shared_lock lock{mutex_};
  return entry(bucket).created;
}

object_ptr bucket_store::get(std::string_view bucket, std::string_view name,
                             const preconditions& when) const {
  const std::shared_lock lock{mutex_};
  const object_map& objects = entry(bucket).objects;
  const auto at = objects.find(name);
  if (at == objects.end() || (when.generation && *when.generation != at->second->generation)) {
    throw no_such_object(bucket, name);
  }
  when.check_read(*at->second);
  return at->second;
}

object_ptr bucket_store::put(std::string_view bucket, new_object object,
                             const preconditions& when) {
  check_object_name(object.name);
  auto fresh = std::make_shared<stored_object>();
  fresh->bucket = bucket;
  fresh->name = std::move(object.name);
  fresh->metadata = std::move(object.metadata);
  fresh->data = std::move(object.data);
  fresh->has_md5 = object.has_md5;

  const std::unique_lock lock{mutex_};
  entry(bucket);
  object_map& objects = buckets_.find(bucket)->second.objects;
  const auto at = objects.find(fresh->name);
  when.check_write(at == objects.end() ? nullptr : at->second.get());
  fresh->generation = next_generation();
  fresh->created = stored_object::time_point{std::chrono::microseconds{fresh->generation}};
  objects.insert_or_assign(fresh->name, fresh);
  return fresh;
}

void bucket_store::remove(std::string_view bucket, std::string_view name,
                          const preconditions& when) {
  const std::unique_lock lock{mutex_};
  entry(bucket);
  object_map& objects = buckets_.find(bucket)->second.objects;
  const auto at = objects.find(name);
  if (at == objects.end() || (when.generation && *when.generation != at->second->generation)) {
    throw no_such_object(bucket, name);
  }
  when.check_write(at->second.get());
  objects.erase(at);
}

listing_page bucket_store::list(std::string_view bucket, const listing_request& request) const {
  const std::shared_lock lock{mutex_};
  return emulator::list(entry(bucket).objects, request);
}

void bucket_store::seed(std::string_view bucket, new_object object,
                        stored_object::time_point created) {
  auto fresh = std::make_shared<stored_object>();
  fresh->bucket = bucket;
  fresh->name = std::move(object.name);
  fresh->metadata = std::move(object.metadata);
  fresh->data = std::move(object.data);
  fresh->created = created;
  const std::unique_lock lock{mutex_};
  entry(bucket);
  fresh->generation = next_generation();
  buckets_.find(bucket)->second.objects.insert_or_assign(fresh->name, fresh);
}

}  // namespace emulator
