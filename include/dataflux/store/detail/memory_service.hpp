#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/synthetic_objects.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// An error as the service's reply gives it.
error refused(errc code, int status, std::string_view reason, std::string message);

/// What does not hold, if anything. On reads a failed *_not_match is 304 (protocol.md 1.2).
std::optional<error> unmet(const preconditions& c, const object_metadata* live, bool reading);

/// The bytes of one stored object, shared and never changed: pieces one behind the other, in memory
/// or computed. The parts of an upload, and the sources of a composed object, are not copied.
class memory_body {
 public:
  using piece = std::variant<std::shared_ptr<const std::vector<std::byte>>, synthetic_bytes>;

  memory_body() = default;
  explicit memory_body(synthetic_bytes bytes) { append(bytes); }
  explicit memory_body(bytes_view data) { append(copy_of(data)); }
  static piece copy_of(bytes_view data);

  void append(const piece& next);
  void append(const memory_body& other);
  std::uint64_t size() const noexcept { return ends_.empty() ? 0 : ends_.back(); }
  /// `offset + out.size()` must not exceed size().
  void copy(std::uint64_t offset, bytes_span out) const noexcept;

 private:
  std::vector<piece> pieces_{};
  std::vector<std::uint64_t> ends_{};  ///< offset behind each piece
};

struct stored_object {
  object_metadata metadata;
  memory_body body;
  bool held{false};
};

/// The service, once a request has arrived: buckets, objects and uploads, without
/// time or network. Requests have been validated. Errors carry status, reason and message.
class memory_service {
 public:
  using stored = std::shared_ptr<const stored_object>;

  explicit memory_service(store_traits traits) noexcept : traits_(traits) {}

  void create_bucket(std::string_view name, std::shared_ptr<const name_source> objects);
  std::int64_t put(std::string_view bucket, std::string_view object, memory_body body,
                   std::uint32_t crc32c);
  void set_rules(std::string_view bucket, const memory_bucket_rules& rules);
  void hold(std::string_view bucket, std::string_view object, bool held);
  /// The time stamp of new objects.
  void set_time(time_point now) noexcept { now_ = now; }
  std::size_t open_uploads() const noexcept { return uploads_.size(); }

  result<list_page> list(const list_page_request& r) const;
  result<object_metadata> stat(const stat_request& r) const;
  result<stored> open(const read_request& r) const;
  result<object_metadata> insert(const insert_request& r);
  result<void> remove(const remove_request& r);
  result<std::vector<kept_object>> remove_many(const remove_many_request& r);
  result<object_metadata> compose(const compose_request& r);
  result<object_metadata> move(const move_request& r);
  result<object_metadata> rewrite(const rewrite_request& r);
  result<bucket_metadata> bucket_facts(const bucket_request& r) const;
  result<multipart_upload> initiate(const multipart_initiate_request& r);
  result<uploaded_part> upload_part(const upload_part_request& r);
  result<object_metadata> complete(const multipart_complete_request& r);
  result<void> abort(const multipart_abort_request& r);
  result<part_page> list_parts(const list_parts_request& r) const;
  result<upload_page> list_uploads(const list_uploads_request& r) const;

 private:
  struct bucket {
    std::map<std::string, stored, std::less<>> objects{};
    /// Instead of `objects`, for a read-only bucket.
    std::shared_ptr<const name_source> source{};
    memory_bucket_rules rules{};
    /// By name and generation; no name with none.
    std::map<std::string, std::map<std::int64_t, stored>, std::less<>> noncurrent{};
  };
  struct part {
    uploaded_part facts{};
    timestamp modified{};
    memory_body::piece data{};
  };
  struct upload {
    object_metadata wanted{};
    timestamp initiated{};
    std::map<std::uint32_t, part> parts{};
  };

  result<const bucket*> find_bucket(std::string_view name) const;
  result<bucket*> writable(std::string_view name);
  result<const upload*> find_upload(const std::string& id, std::string_view bucket,
                                    std::string_view object) const;
  timestamp wall_clock() const noexcept;
  /// The live one, or with a generation that one, noncurrent or not; null when there is none.
  static stored find(const bucket& in, std::string_view bucket_name, std::string_view object,
                     std::int64_t generation = 0);
  /// Why an object can be neither removed nor replaced now, if so. None is null.
  std::optional<error> guarded(const bucket& in, const stored& object) const;
  /// Conditions, then whether what is there may be replaced.
  std::optional<error> unwritable(const bucket& in, std::string_view bucket_name,
                                  std::string_view object, const preconditions& conditions) const;
  /// The live object leaves its place.
  static void retire(bucket& in, std::string_view object);
  result<stored> get(std::string_view bucket, std::string_view object, std::int64_t generation,
                     const preconditions& conditions) const;
  /// The same of what another object is made of: its error names it.
  result<stored> get_source(std::string_view bucket, std::string_view object,
                            std::int64_t generation) const;
  const object_metadata& store(bucket& in, object_metadata metadata, memory_body body);

  store_traits traits_;
  time_point now_{};
  std::int64_t last_generation_{0};
  std::uint64_t last_upload_{0};
  std::uint64_t last_part_{0};
  std::map<std::string, bucket, std::less<>> buckets_{};
  std::map<std::string, upload, std::less<>> uploads_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/memory_store_bucket.ipp>
#include <dataflux/store/impl/memory_store_list.ipp>
#include <dataflux/store/impl/memory_store_multipart.ipp>
#include <dataflux/store/impl/memory_store_service.ipp>
#endif
