#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/result.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Does `act(self)`, which gives a result<void>, on a thread for files; then `next(self, why)` on
/// the strand of `self`, a coordinator, is told why it failed, or nothing. Who calls has said
/// one_more() before, and `next` says one_less(). Where there is no such thread it is done here.
///
/// What both capture is copied without an allocation. Short of memory `act` fails with
/// resource_exhausted, and `next` is lost as coordinator::come_back() says.
template <class Self, class Act, class Next>
void by_file_step(std::shared_ptr<Self> self, Act act, Next next) {
  const auto step = [self = std::move(self), act, next] {
    std::optional<error> why = short_of_memory();
    within_memory([&] {
      result<void> good = act(*self);
      why = good ? std::nullopt : std::optional(std::move(good).error());
    });
    self->come_back([&] {
      self->post_step(
          [why = std::move(why), next](Self& here) mutable { next(here, std::move(why)); });
    });
  };
  if (!try_file_step(step)) step();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
