#pragma once

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/member_record.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

struct checkpoint_set_info {
  /// With its slash, such as "run/step-10/".
  std::string prefix{};
  /// Below the prefix.
  std::string last{};
  /// When the last object was created, by the service's clock.
  std::optional<timestamp> committed{};
  std::uint64_t members{0};
  std::uint64_t bytes{0};  ///< of members
};

struct damaged_checkpoint_set {
  checkpoint_set_info set{};
  /// What is missing, or has changed since the commit.
  error why;
};

namespace detail {
class latest_set;
struct open_set;
}  // namespace detail

/// A complete set as it was when it was opened: its last object and its manifest were there and
/// whole, and every member had the size and CRC32C that the manifest tells. From then on the
/// generations that were found are meant, in records and reads.
///
/// Lifetime: a handle: copies share. The context's store outlives all of them.
///
/// Threads: all members from any thread.
class checkpoint_set_reader {
 public:
  explicit checkpoint_set_reader(std::shared_ptr<const detail::open_set> set) noexcept
      : set_(std::move(set)) {}

  const checkpoint_set_info& info() const noexcept;
  /// Where its members lie, with its slash: the set's folder, or that of a save over it.
  const std::string& members_folder() const noexcept;
  /// In order of names. Valid as long as some copy of this.
  const std::vector<member_record>& members() const noexcept;
  /// Null if the set has no member of this name. O(log members).
  const member_record* find(std::string_view name) const noexcept;
  /// Newer sets that latest_checkpoint_set() found damaged, the newest first. Empty for a set that
  /// was opened by its name. Valid as long as some copy of this.
  const std::vector<damaged_checkpoint_set>& passed_over() const noexcept;

  /// A member, or the last object: as it was when the set was opened, whatever is there under its
  /// name now, and each range that is read compared by the checksums of its record. Of `how`
  /// bucket, object, generation, crc32c and parts are the set's, whatever they say. Errors:
  /// not_found for a name of neither; those of checkpoint_reader.
  result<checkpoint_reader> open(std::string_view name, checkpoint_read_request how = {}) const;
  operation<checkpoint_reader> submit_open(std::string_view name,
                                           checkpoint_read_request how = {}) const;
  void start_open(std::string_view name, checkpoint_read_request how,
                  object_store::completion<checkpoint_reader> done) const;

 private:
  friend class detail::latest_set;

  std::shared_ptr<const detail::open_set> set_;
};

}  // namespace dataflux::inline DATAFLUX_ABI
