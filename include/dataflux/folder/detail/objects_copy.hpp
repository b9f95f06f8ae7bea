#pragma once

#include <dataflux/folder/copy_objects.hpp>
#include <dataflux/folder/detail/folder_copy.hpp>
#include <dataflux/folder/detail/listed_names.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One copy_objects(). The source's listing, in order of names, meets that of the target where it
/// has to be known what is there. On the strand.
class objects_copy final : public folder_copy {
 public:
  objects_copy(const transfer_context& context, copy_objects_request request, completion done);

  /// Errors: invalid_argument.
  static result<void> check(const copy_objects_request& request);

 private:
  struct one_object {
    std::string source{};
    std::string target{};
    std::uint64_t size{0};
    std::int64_t generation{0};
    std::optional<std::uint32_t> crc32c{};
    /// What the target's listing has; 0 = nothing.
    std::int64_t replaces{0};
  };

  DATAFLUX_INLINE void open() override;
  DATAFLUX_INLINE bool turn() override;
  DATAFLUX_INLINE bool remove_extra() override;

  fast_list_request listing_of(const std::string& bucket, const std::string& prefix) const;
  bool meets_target() const noexcept { return asked_.only_changed || asked_.delete_extra; }
  bool next();
  bool meet(std::string_view target);
  void end_target();
  void note_extra();
  void take(const one_object& one, bool same);
  void begin(const one_object& one);
  void begin_rename(const one_object& one);
  void begin_copy(const one_object& one);
  void copied(const one_object& one, const result<object_metadata>& made);
  void remove_source(const one_object& one);
  void done_with(const one_object& one, copy_outcome how);
  preconditions conditions_of(const one_object& one) const;
  bool renames() const noexcept;

  const copy_objects_request asked_;
  std::optional<listed_names> source_{};
  std::optional<listed_names> there_{};
  std::deque<one_object> extra_{};
  std::size_t copying_{0};
  bool over_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/objects_copy.ipp>
#endif
