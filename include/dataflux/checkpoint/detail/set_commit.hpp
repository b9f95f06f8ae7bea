#pragma once

#include <dataflux/checkpoint/checkpoint_set_request.hpp>
#include <dataflux/checkpoint/detail/set_errand.hpp>
#include <dataflux/checkpoint/detail/set_manifest.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: one commit: are the members there, the manifest, the last object; and what is to be
/// done when one of them fails.
class set_commit final : public set_errand {
 public:
  using completion = object_store::completion<committed_set>;
  /// The manifest is that of a valid commit, its members in order of names. The bytes of `last` are
  /// borrowed until the completion.
  set_commit(object_store& store, std::string bucket, std::string folder, set_manifest manifest,
             last_object last, call_limits limits, completion done);

 private:
  void begin() override;
  void refused(error why) override { fail(std::move(why)); }
  result<void> check(const object_columns& rows) const;
  void write_manifest();
  void take_manifest(result<object_metadata> made);
  void write_last();
  void look(error why);
  void judge(error why, const result<object_metadata>& found);
  void remove_manifest(error why);
  void succeed(object_metadata last);
  void fail(error why);

  const std::string folder_;
  const set_manifest manifest_;
  const last_object last_;
  completion done_;
  std::string manifest_name_{};  ///< below the folder
  std::string text_{};           ///< of the manifest
  std::int64_t manifest_generation_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/set_commit.ipp>
#endif
