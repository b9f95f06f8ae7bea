#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/detail/limit_watch.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A completion and what watches the limits of its call.
template <class T>
struct limited_call {
  std::shared_ptr<limit_watch> watch{};
  object_store::completion<T> done{};
  void end(result<T> outcome) {
    if (auto first = std::exchange(watch, {})) first->end();
    if (auto call = std::exchange(done, {})) call(std::move(outcome));
  }
};

/// `done`, before which the limits of the call end the upload. Where memory is short `done` stays,
/// here and below.
template <class T>
object_store::completion<T> limited_by(const call_limits& limits,
                                       std::shared_ptr<object_upload> upload, scheduler& strand,
                                       object_store::completion<T>& done) {
  auto call = std::make_shared<limited_call<T>>();
  call->watch = limit_watch::begin(
      strand, limits, [upload = std::move(upload)](error why) { upload->fail(std::move(why)); });
  if (call->watch == nullptr) return std::move(done);
  call->done = std::move(done);
  return [call = std::move(call)](result<T> outcome) { call->end(std::move(outcome)); };
}

/// `done`, called before the outcome when the limits of the call pass.
inline object_store::completion<void> no_longer_than(const call_limits& limits,
                                                     std::shared_ptr<object_upload> upload,
                                                     scheduler& strand,
                                                     object_store::completion<void>& done) {
  auto call = std::make_shared<limited_call<void>>();
  call->watch = limit_watch::begin(
      strand, limits, [upload = std::move(upload), waits = std::weak_ptr(call)](error why) {
        upload->name_store(why);
        if (const auto there = waits.lock()) there->end(std::move(why));
      });
  call->done = std::move(done);
  return [call = std::move(call)](result<void> outcome) { call->end(std::move(outcome)); };
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
