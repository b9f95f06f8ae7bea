#pragma once

#include <dataflux/folder/detail/listed_names.hpp>
#include <dataflux/folder/detail/walked_names.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What `delete_extra` removes, after the copy. Source and target are gone through once
/// more, both in order of names, so that nothing has to be remembered: whatever only the target has
/// is extra. When a part of the source cannot be read now it ends there. On the strand.
class extra_removal {
 public:
  enum class target : std::uint8_t { objects, files };

  /// `owner` keeps this, and is told when there is more to do.
  extra_removal(folder_copy& owner, target in, folder_ptr root)
      : owner_(owner), in_(in), files_(owner, std::move(root)), objects_(owner) {}

  /// Goes on as far as names are there and requests may be begun. True: all has been gone through.
  bool turn();

 private:
  bool next();
  bool skip_what_is_no_file();
  void only_file();
  void only_object(const object_row& row, std::string_view rest);
  void flush_files();

  folder_copy& owner_;
  const target in_;
  walked_names files_;
  listed_names objects_;
  std::vector<walked_file> extra_files_{};
  std::size_t removing_{0};  ///< requests and steps
  bool over_{false};
  bool met_source_{false};  ///< the source has a name still
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/extra_removal.ipp>
#endif
