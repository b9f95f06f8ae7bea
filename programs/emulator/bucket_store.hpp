#pragma once

#include <emulator/json_value.hpp>
#include <emulator/listing.hpp>
#include <emulator/preconditions.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// What a bucket is and what it lets be done.
struct bucket_settings {
  enum class layout { flat, hierarchical, zonal };
  layout kind{layout::flat};
  std::string location{"US"};
  std::string storage_class{"STANDARD"};
  std::map<std::string, std::string, std::less<>> labels{};
  bool versioning{false};
  bool had_versioning{false};  ///< as S3 has it: versioning is suspended, where it is off
  bool object_lock{false};     ///< S3's: versions may be locked
  bool requester_pays{false};
  bool read_only{false};  ///< writes are refused with 403
  bool no_delete{false};  ///< deletes and overwrites are refused with 403
  /// Age below which an object may be neither deleted nor replaced (protocol.md 1.2).
  std::optional<std::chrono::seconds> retention{};
  std::optional<stored_object::time_point> retention_effective{};  ///< since when it is as it is
  bool retention_locked{false};                                    ///< it can be lengthened only
  bool default_event_based_hold{false};  ///< of objects that are written without one
  bool object_retention{false};          ///< objects may have a retention of their own
  /// Access is the bucket's alone, and access control lists are refused.
  bool uniform_access{false};
  std::optional<stored_object::time_point> uniform_locked{};  ///< from then on for good
  bool public_access_prevented{false};
  access_list_ptr access{};          ///< null: projectPrivate
  access_list_ptr default_access{};  ///< of objects that are written without one; null as above
  /// What is kept and shown and changes nothing here but the key of new objects: lifecycle, cors,
  /// website, logging, encryption, autoclass, rpo and their like, by the name of the member.
  json_value::object kept{};
  /// For how long what was deleted for good can be restored; 0: not at all, which is ours, where
  /// the service's default is a week.
  std::chrono::seconds soft_delete{0};

  bool restricts() const noexcept { return requester_pays || read_only || no_delete; }
};

/// An IAM policy (protocol.md 1.11), kept and shown; calls are not judged by it.
struct bucket_policy {
  std::int64_t version{1};
  json_value bindings{};     ///< an array
  std::int64_t revision{0};  ///< counts the changes; its etag
};

/// A bucket without its objects.
struct bucket_facts {
  std::string name{};
  bucket_settings settings{};
  stored_object::time_point created{};
  stored_object::time_point updated{};
  std::int64_t metageneration{1};
  std::optional<bucket_policy> policy{};  ///< nothing: as the bucket was made
  std::map<std::int64_t, json_value> notifications{};
  std::int64_t last_notification{0};
};

/// Told of every change while it is made, in its order; what must outlast the program is kept so.
class store_journal {
 public:
  virtual ~store_journal() = default;
  /// The same bytes, kept; called before the change that they belong to.
  virtual content keep(const content& bytes) = 0;
  /// A generation of an object is there, or has changed.
  virtual void saved(const stored_object& object) = 0;
  /// With `successor`, the same bytes are saved() next.
  virtual void removed(const stored_object& object, const stored_object* successor) = 0;
  virtual void bucket_saved(const bucket_facts& bucket) = 0;
  virtual void bucket_removed(std::string_view bucket) = 0;
};

/// All buckets and their objects. Thread safe; every write is one step, its preconditions included.
/// Digests are never computed under the lock.
class bucket_store {
 public:
  struct new_object {
    std::string name{};
    object_metadata metadata{};
    content data{};
    bool has_md5{true};
    std::int32_t component_count{0};
    std::string customer_key{};  ///< see stored_object
    std::shared_ptr<const s3::object_facts> s3_facts{};
  };
  /// Whose rules the names of objects must keep; S3's are checked by its face.
  enum class naming { google, s3 };

  explicit bucket_store(naming names = naming::google) : names_(names) {}

  /// False when it is there already.
  bool create_bucket(std::string_view bucket, const bucket_settings& settings = {});
  /// Throws 409 while it holds an object, live or noncurrent.
  void remove_bucket(std::string_view bucket, const preconditions& when);
  /// Throws no_such_bucket, as all below.
  void require_bucket(std::string_view bucket) const;
  bucket_facts facts(std::string_view bucket) const;
  /// Where the bucket is; empty optional when there is no such bucket.
  std::optional<std::string> location(std::string_view bucket) const;
  bucket_facts configure(std::string_view bucket, const preconditions& when,
                         const std::function<void(bucket_settings&)>& change);
  /// Changes what has no metageneration: the policy and notifications.
  bucket_facts edit(std::string_view bucket, const std::function<void(bucket_facts&)>& change);
  /// Whether the bucket is there and knows no access control lists.
  bool uniform(std::string_view bucket) const;
  std::vector<bucket_facts> buckets() const;
  /// False while no bucket was ever made to refuse anything: one atomic load.
  bool restricted() const noexcept { return restricted_.load(std::memory_order_acquire); }

  /// The live object, or the generation asked for. Throws no_such_object when it is not there, and
  /// what preconditions::check_read throws.
  object_ptr get(std::string_view bucket, std::string_view name, const preconditions& when) const;
  /// Replaces any live object of that name; gives the new one.
  object_ptr put(std::string_view bucket, new_object object, const preconditions& when);
  /// A new metageneration of the live object or of the generation asked for.
  object_ptr change(std::string_view bucket, std::string_view name, const preconditions& when,
                    const std::function<void(object_metadata&)>& change);
  /// With a generation: that one, for good.
  void remove(std::string_view bucket, std::string_view name, const preconditions& when);
  /// For good, and past soft delete, as a compose that deletes its sources does.
  void erase(std::string_view bucket, std::string_view name, std::int64_t generation);
  /// Makes a soft-deleted generation live again, as a new generation; what is live is replaced.
  object_ptr restore_deleted(std::string_view bucket, std::string_view name,
                             std::int64_t generation, const preconditions& when);
  /// Throws what a write of that name would, whatever its conditions.
  void require_replaceable(std::string_view bucket, std::string_view name) const;
  object_ptr move(std::string_view bucket, std::string_view from, std::string to,
                  const preconditions& source, const preconditions& when);
  listing_page list(std::string_view bucket, const listing_request& request) const;

  // ---- versions as S3 has them: with markers, and at most one of a name whose id is "null" ----
  /// The newest version of that name, which may be a marker; null where there is none.
  object_ptr newest(std::string_view bucket, std::string_view name) const;
  /// The version of that id, maybe a marker; null where there is none.
  object_ptr version(std::string_view bucket, std::string_view name, std::string_view id) const;
  /// All versions of names that begin so: by name, the newest first.
  std::vector<object_ptr> versions(std::string_view bucket, std::string_view prefix) const;
  /// Deletes what is current, if it is there; gives the marker that is current then, null without.
  object_ptr remove_current(std::string_view bucket, std::string_view name,
                            const preconditions& when);
  /// Deletes a version for good, and what is the newest then becomes current. `check` may refuse.
  /// Gives what is gone, null where there was none.
  object_ptr remove_version(std::string_view bucket, std::string_view name, std::string_view id,
                            const std::function<void(const stored_object&)>& check);
  /// Changes what S3 knows of a version, which stays the same one otherwise; null as above.
  object_ptr change_facts(std::string_view bucket, std::string_view name, std::string_view id,
                          const std::function<void(s3::object_facts&)>& change);

  /// What a journal said earlier, in its order. Objects of unknown buckets are left out.
  void restore_bucket(const bucket_facts& bucket);
  void restore(object_ptr object);
  void restore_without(std::string_view bucket);
  void restore_without(std::string_view bucket, std::string_view name, std::int64_t generation);
  /// Tells it of all that is there, then of every change. It must outlive this. Before any use by
  /// several threads.
  void attach(store_journal& journal);

  /// Adds an object with the time given, for seeding. It is not kept in a journal.
  void seed(std::string_view bucket, new_object object, stored_object::time_point created);

 private:
  struct bucket_entry {
    bucket_facts facts{};
    object_map live{};
    generation_map noncurrent{};
    generation_map soft_deleted{};
  };
  const bucket_entry& entry(std::string_view bucket) const;
  bucket_entry& entry(std::string_view bucket);
  static const object_ptr* find(const bucket_entry& in, std::string_view name,
                                const preconditions& when);
  static void settle(bucket_entry& in, const object_ptr& object);
  static void erase(bucket_entry& in, const object_ptr& object);
  static void require_replaceable(const bucket_entry& in, std::string_view name);
  static void stamp_all(bucket_entry& in);
  void tell(const object_ptr& saved, const object_ptr& removed = nullptr);
  object_ptr insert(bucket_entry& into, std::shared_ptr<stored_object> fresh);
  void retire(bucket_entry& in, object_map::iterator live);
  void put_away(bucket_entry& in, const object_ptr& object);
  static object_ptr find_newest(const bucket_entry& in, std::string_view name);
  static object_ptr find_version(const bucket_entry& in, std::string_view name,
                                 std::string_view id);
  void remove_null_version(bucket_entry& in, std::string_view name);
  std::int64_t next_generation();

  const naming names_;
  mutable std::shared_mutex mutex_{};
  std::map<std::string, bucket_entry, std::less<>> buckets_{};
  std::int64_t last_generation_{0};
  std::atomic<bool> restricted_{false};
  store_journal* journal_{nullptr};
};

}  // namespace emulator
