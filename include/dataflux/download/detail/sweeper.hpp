#pragma once

#include <dataflux/download/sweep_report.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: one sweep. On the store's executor; kept alive by its requests.
class sweeper final : public std::enable_shared_from_this<sweeper> {
 public:
  sweeper(object_store& store, std::string bucket, const sweep_options& options,
          object_store::completion<sweep_report> done);
  void start();

 private:
  void list();
  void listed(result<list_page> page);
  void judge(const object_row& row, const object_extras& extras, timestamp now);
  void pump();
  void remove(std::size_t index);
  void removed(std::size_t index, const result<void>& outcome);
  void end();
  call_limits limits() const;

  object_store& store_;
  scheduler& home_;
  const std::string bucket_;
  const sweep_options options_;
  object_store::completion<sweep_report> done_;
  time_point deadline_{never};
  sweep_report report_{};
  std::string page_token_{};
  std::size_t next_{0};  ///< of report_.objects: to be looked at for removal
  std::size_t in_flight_{0};
  bool last_page_{false};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/sweeper.ipp>
#endif
