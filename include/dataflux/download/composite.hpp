#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/reserved_prefixes.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Composites: objects that exist for one read. Many small objects are concatenated by the service,
/// read as one, sliced, and the composite is removed. What is asked of a caller, and the pure part:
/// which objects go together, what the composite is called and how it is known again.
namespace dataflux::inline DATAFLUX_ABI {

/// get_many_options::compose. Where it pays: a group costs one class A operation and as many class
/// B ones as it has slices, in place of one class B operation for each object, and two round trips
/// more (protocol.md 3.4). Class A costs some twelve times class B, so that groups of fewer than 14
/// cost more than they save, and a full one of 32 less than half. It is no faster than plain reads
/// where those have their connections; it writes to the bucket, needs permission to create and
/// delete objects, and what is removed is billed on in buckets with soft delete.
///
/// While a group is read its composite lies below composed_objects_prefix and is an object like any
/// other: fast_list() leaves it out of its result (list_filter_options::skip_composed), other
/// listings of the whole bucket show it.
struct compose_options {
  /// Most bytes of one composite. An eighth of the context's memory cap where that is less.
  std::uint64_t max_bytes{32ULL << 20U};
  /// Fewest objects that are worth a composite; at least 2. The most is what the store takes, 32.
  std::size_t min_objects{14};
  /// How long a composite may be of use to whoever made it: after that sweep_composites() takes it
  /// for litter.
  duration lifetime{std::chrono::hours(1)};
  /// Is told by on_log() when composing is given up, and when a composite could not be removed.
  /// Outlives the stream.
  observer* watcher{nullptr};
};

/// Objects that become one, gathered one by one in the order in which they are asked for. Counts an
/// object before it is taken in, so that neither limit is ever passed; of one that is empty, or
/// alone too large, nothing is composed.
class composite_group {
 public:
  composite_group(std::uint64_t max_bytes, std::size_t max_objects) noexcept
      : max_bytes_(max_bytes), max_objects_(max_objects) {}

  /// False, and nothing is changed, when the object does not fit; the next group begins with it.
  bool add(std::uint64_t size) noexcept {
    if (size == 0 || objects_ == max_objects_ || size > max_bytes_ - bytes_) return false;
    ++objects_;
    bytes_ += size;
    return true;
  }
  std::size_t objects() const noexcept { return objects_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t max_bytes_;
  std::size_t max_objects_;
  std::size_t objects_{0};
  std::uint64_t bytes_{0};
};

/// composed_objects_prefix and 128 random bits in hexadecimal: spread over the key space, and never
/// twice the same.
std::string composite_name(std::uint64_t high, std::uint64_t low);
bool is_composite_name(std::string_view name) noexcept;

/// Who made a composite, and until when it may be in use, by the maker's clock. That clock may be
/// wrong: only the span between the two times is relied upon.
struct composite_label {
  std::string creator{};  ///< "dataflux/" and the version
  timestamp created{};
  timestamp expires{};
};

/// Now, for that long.
composite_label make_composite_label(timestamp now, duration lifetime);

/// The label as custom metadata: dataflux-creator, dataflux-created, dataflux-expires (RFC 3339).
std::vector<std::pair<std::string, std::string>> to_metadata(const composite_label& label);
/// Reads it back; nothing if a member is missing or malformed, another creator is named, or it
/// expires before it is created: then the object is none of ours.
std::optional<composite_label> parse_composite_label(
    std::span<const std::pair<std::string, std::string>> metadata);

/// Whether a composite is litter at `now`. It was created at `created`; both are by the service's
/// clock, and the label says how long it was to be of use. `older_than`: an age in place of that.
bool composite_expired(const composite_label& label, timestamp created, timestamp now,
                       std::optional<duration> older_than = std::nullopt) noexcept;

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/composite.ipp>
#endif
