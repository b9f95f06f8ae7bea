#pragma once

#include <dataflux/transfer/detail/page_walk.hpp>
#include <dataflux/transfer/detail/remover.hpp>
#include <dataflux/transfer/remove_objects.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One remove_objects(). What goes comes from a listing, or from the caller's rows or
/// names; of either a page at most is in the queue.
class objects_removal final : public remover {
 public:
  using completion = object_store::completion<removed_objects>;

  objects_removal(object_store& store, remove_objects_request request, completion done);

 private:
  void begin() override { drained(); }
  DATAFLUX_INLINE void drained() override;
  DATAFLUX_INLINE void removed(const removal& what, const result<void>& outcome) override;
  DATAFLUX_INLINE void end() override;

  /// Before the queue is empty.
  void look_ahead();
  void list();
  void take(result<list_page> page);
  void add_given();
  void tell();

  remove_objects_request request_;
  completion done_;
  std::optional<page_walk> walk_{};  ///< of the prefix
  bool listing_{false};
  std::size_t next_{0};  ///< of the rows or the names
  removed_objects report_{};
  std::vector<ended_removal> ended_{};  ///< to be told
  time_point told_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/remove_objects.ipp>
#endif
