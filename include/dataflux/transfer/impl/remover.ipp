#pragma once

#include <dataflux/transfer/detail/remover.hpp>

#include <chrono>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE timestamp listed_at(const list_page& page) {
  if (page.served) return *page.served + std::chrono::seconds(1);
  return std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now());
}

DATAFLUX_INLINE void remover::send() {
  while (!queue_.empty() && removing_ < most_ && !failed()) {
    removal what = std::move(queue_.front());
    queue_.pop_front();
    ++removing_;
    what.look_up ? look_up(std::move(what)) : remove(std::move(what));
  }
}

DATAFLUX_INLINE void remover::go_on() {
  if (over_) return;
  send();
  if (over_ || in_flight() > 0) return;
  failed() ? finish() : drained();
}

DATAFLUX_INLINE void remover::finish() {
  if (std::exchange(over_, true)) return;
  end();
}

DATAFLUX_INLINE void remover::look_up(removal what) {
  const stat_request request{
      .bucket = bucket_, .object = what.name, .fields = metadata_fields::basic, .limits = limits()};
  auto found = [what = std::move(what)](remover& self, result<object_metadata> there) mutable {
    if (there) {
      what.generation = there->generation;
      what.size = there->size;
      self.remove(std::move(what));
    } else {
      self.take(what, std::move(there).error());
    }
    self.send();
  };
  store().start(request, then<object_metadata>(std::move(found)));
}

DATAFLUX_INLINE void remover::remove(removal what) {
  if (dry_run_) return take(what, {});
  auto done = then<void>([what](remover& self, result<void> outcome) {
    const bool gone = !outcome && outcome.error().code() == errc::not_found;
    self.take(what, gone ? result<void>() : std::move(outcome));
    self.send();
  });
  if (!what.upload_id.empty()) {
    return store().start(multipart_abort_request{.bucket = bucket_,
                                                 .object = std::move(what.name),
                                                 .upload_id = std::move(what.upload_id),
                                                 .limits = limits()},
                         std::move(done));
  }
  remove_request request{.bucket = bucket_, .object = std::move(what.name), .limits = limits()};
  if (what.for_good && what.generation != 0) {
    request.generation = what.generation;
  } else {
    // It becomes a noncurrent version where the bucket keeps those. A request without a generation
    // would remove whatever is there.
    request.conditions.if_generation_match = what.generation;
  }
  store().start(request, std::move(done));
}

DATAFLUX_INLINE void remover::take(const removal& what, result<void> outcome) {
  --removing_;
  const errc code = outcome ? errc::ok : outcome.error().code();
  if (code == errc::cancelled || code == errc::deadline_exceeded) {
    fail(std::move(outcome).error());
  } else {
    removed(what, outcome);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
