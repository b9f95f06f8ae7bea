#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One commit: are the members there, the manifest, the last object; and what is to be
/// done when one of them fails. A commit over a set then removes what it has replaced.
class set_commit final : public call_coordinator<set_commit, committed_set> {
 public:
  /// The manifest is that of a valid commit, its members in order of names. The bytes of `last` are
  /// borrowed until the completion. `save` has no id where the set is to be new.
  set_commit(object_store& store, std::string bucket, std::string folder, save_over save,
             set_manifest manifest, last_object last, call_limits limits, completion done);
  void start() { coordinator::start(bucket_); }
  void begin();

  void fail(error why);

 private:
  bool over() const noexcept { return !save_.id.empty(); }
  std::string members_folder() const;
  result<void> check_last(const object_columns& rows) const;
  bool is_another(const std::optional<set_mark>& there) const noexcept;
  result<void> check_bytes(const object_row& replaced) const;
  void take_rows(object_columns rows);
  void list_uploads();
  void look_again(error why);
  error overtaken(bool replaced, const std::optional<set_mark>& by) const;
  void write_manifest();
  void take_manifest(result<object_metadata> made);
  void write_last();
  void stat(error why);
  void verify(error why, const result<object_metadata>& found);
  bool is_whole(const object_metadata& last, const error& why) const;
  void remove_damaged(error why, std::int64_t generation);
  void remove_manifest(error why);
  void succeed(object_metadata last);
  void remove_replaced(committed_set made);

  const std::string bucket_;
  const std::string folder_;
  const save_over save_;
  set_manifest manifest_;
  last_object last_;
  std::string manifest_name_{};  ///< below the folder
  std::string text_{};           ///< of the manifest
  std::int64_t manifest_generation_{0};
  object_columns rows_{};  ///< of before the commit, if it goes over a set; so are uploads_
  result<std::vector<listed_upload>> uploads_{std::vector<listed_upload>{}};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/set_commit.ipp>
#endif
