#pragma once

#include <emulator/listing.hpp>
#include <emulator/preconditions.hpp>

#include <shared_mutex>
#include <string>
#include <string_view>

namespace emulator {

/// All buckets and their live objects. Thread safe; every write is one step, its preconditions
/// included. Digests are never computed under the lock.
class bucket_store {
 public:
  struct new_object {
    std::string name{};
    object_metadata metadata{};
    content data{};
    bool has_md5{true};
  };

  /// False when it is there already.
  bool create_bucket(std::string_view bucket);
  /// Throws no_such_bucket, as all below.
  void require_bucket(std::string_view bucket) const;
  stored_object::time_point bucket_created(std::string_view bucket) const;

  /// The live object. Throws no_such_object when it, or the generation asked for, is not there, and
  /// what preconditions::check_read throws.
  object_ptr get(std::string_view bucket, std::string_view name, const preconditions& when) const;
  /// Replaces any live object of that name; gives the new one.
  object_ptr put(std::string_view bucket, new_object object, const preconditions& when);
  void remove(std::string_view bucket, std::string_view name, const preconditions& when);
  listing_page list(std::string_view bucket, const listing_request& request) const;

  /// Adds an object with the time given, for seeding.
  void seed(std::string_view bucket, new_object object, stored_object::time_point created);

 private:
  struct bucket_entry {
    stored_object::time_point created{};
    object_map objects{};
  };
  const bucket_entry& entry(std::string_view bucket) const;
  std::int64_t next_generation();

  mutable std::shared_mutex mutex_{};
  std::map<std::string, bucket_entry, std::less<>> buckets_{};
  std::int64_t last_generation_{0};
};

/// Throws service_error 400 when a name breaks the service's rules (protocol.md 0.1).
void check_bucket_name(std::string_view bucket);
void check_object_name(std::string_view name);

}  // namespace emulator
