#pragma once

#include <dataflux/transfer/detail/remover.hpp>

#include <chrono>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE timestamp listed_at(const list_page& page) {
  if (page.served) return *page.served + std::chrono::seconds(1);
  return std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now());
}

DATAFLUX_INLINE void remover::send() {
  while (!queue_.empty() && requests_ < most_ && !failed()) {
    removal what = std::move(queue_.front());
    queue_.pop_front();
    begin_one(std::move(what));
  }
  const bool all = queue_.empty() && looking_up_ == 0;
  if (!gathered_.empty() && !failed() && requests_ < most_ &&
      (all || gathered_.size() == together_)) {
    remove_gathered();
  }
}

DATAFLUX_INLINE void remover::begin_one(removal what) {
  const bool gathers = together_ > 1 && what.upload_id.empty() && !what.alone;
  if (gathers && !what.etag.empty()) return gather(std::move(what));
  ++requests_;
  const bool looks = gathers || what.look_up || (!conditional_ && what.upload_id.empty());
  looks ? look_up(std::move(what)) : remove(std::move(what));
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
  const stat_request request{.bucket = bucket_,
                             .object = what.name,
                             .fields = metadata_fields::basic | metadata_fields::etag,
                             .limits = limits()};
  ++looking_up_;
  auto found = [what = std::move(what)](remover& self,
                                        const result<object_metadata>& there) mutable {
    --self.looking_up_;
    self.looked_up(std::move(what), there);
    self.send();
  };
  store().start(request, then<object_metadata>(std::move(found)));
}

DATAFLUX_INLINE void remover::looked_up(removal what, const result<object_metadata>& there) {
  if (!there) {
    const bool gone = !what.look_up && there.error().code() == errc::not_found;
    return take(what, gone ? result<void>() : there.error());
  }
  // A listing without generations tells 0.
  const bool named = !what.look_up && (conditional_ || what.generation != 0);
  if (named && what.generation != there->generation) {
    error why(errc::failed_precondition, "another generation has replaced it, which stays");
    name_store(why);
    return take(what, std::move(why.with_bucket(bucket_).with_object(what.name)));
  }
  what.generation = there->generation;
  what.size = there->size;
  what.etag = there->etag;
  if (together_ < 2 || what.alone || what.etag.empty()) return remove(std::move(what));
  --requests_;
  gather(std::move(what));
}

DATAFLUX_INLINE void remover::gather(removal what) {
  gathered_.push_back(std::move(what));
  if (gathered_.size() == together_) remove_gathered();
}

DATAFLUX_INLINE void remover::remove_gathered() {
  std::vector<removal> sent = std::exchange(gathered_, {});
  remove_many_request request{.bucket = bucket_, .limits = limits()};
  for (const removal& each : sent) request.objects.push_back({each.name, each.etag});
  ++requests_;
  auto done = [sent = std::move(sent)](remover& self,
                                       result<std::vector<kept_object>> kept) mutable {
    --self.requests_;
    self.take_gathered(std::move(sent), std::move(kept));
    self.send();
  };
  store().start(request, then<std::vector<kept_object>>(std::move(done)));
}

/// What the request could not carry, or the server does not know, goes one by one.
DATAFLUX_INLINE void remover::take_gathered(std::vector<removal> sent,
                                            result<std::vector<kept_object>> kept) {
  const bool refused = !kept && kept.error().code() == errc::unimplemented;
  std::vector<result<void>> outcomes(sent.size(), kept ? result<void>{} : kept.error());
  for (kept_object& each : kept ? *kept : std::vector<kept_object>{}) {
    outcomes.at(each.index) = std::move(each.why);
  }
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (refused) {
      sent[i].alone = true;
      add(std::move(sent[i]));
      continue;
    }
    const bool gone = !outcomes[i] && outcomes[i].error().code() == errc::not_found &&
                      !outcomes[i].error().bucket_missing();
    ++requests_;
    take(sent[i], gone ? result<void>{} : std::move(outcomes[i]));
  }
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
  if (!conditional_) {
    // It was compared.
  } else if (what.for_good && what.generation != 0) {
    request.generation = what.generation;
  } else {
    // It becomes a noncurrent version where the bucket keeps those. A request without a generation
    // would remove whatever is there.
    request.conditions.if_generation_match = what.generation;
  }
  store().start(request, std::move(done));
}

DATAFLUX_INLINE void remover::take(const removal& what, result<void> outcome) {
  --requests_;
  const errc code = outcome ? errc::ok : outcome.error().code();
  if (code == errc::cancelled || code == errc::deadline_exceeded) {
    fail(std::move(outcome).error());
  } else {
    removed(what, outcome);
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
