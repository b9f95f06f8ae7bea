#pragma once

#include <dataflux/folder/detail/folder_download.hpp>

#include <algorithm>
#include <utility>

/// Some hands share one getter. Each hand goes in a circle: ask for a batch (next), write its
/// objects on a thread for files (write), tell what became of them on the strand (written). A hand
/// ends when the getter has nothing more, or has failed: then it gives the copy up
/// (folder_copy::give_up). The last hand destroys the getter on a thread for files, since that
/// waits for reads under way, and tells the owner.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// The hands of a stream, and how much each takes at once. Their bytes are no part of the cap.
inline constexpr int hands_of_stream = 4;
inline constexpr std::size_t items_at_once = 16;
inline constexpr std::uint64_t bytes_at_once = std::uint64_t{16} << 20U;

struct small_stream::batch {
  std::vector<got_item> items{};
  std::vector<std::optional<error>> failures{};
};

inline std::size_t share_of_hand(const std::vector<folder_download::placed_object>& objects) {
  std::uint64_t largest = 1;
  for (const auto& one : objects) largest = std::max(largest, one.size);
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(bytes_at_once / largest, 1, items_at_once));
}

inline std::vector<get_request> requests_for(
    const std::vector<folder_download::placed_object>& objects) {
  std::vector<get_request> requests;
  requests.reserve(objects.size());
  for (const auto& one : objects) {
    get_request& wanted = requests.emplace_back();
    wanted.object = one.object;
    wanted.generation = one.generation;
    wanted.object_size = one.size;
    wanted.crc32c = one.crc32c;
  }
  return requests;
}

DATAFLUX_INLINE small_stream::small_stream(folder_download& owner,
                                           std::vector<placed_object> objects)
    : owner_(owner),
      objects_(std::move(objects)),
      at_once_(share_of_hand(objects_)),
      items_(std::in_place, owner.context(),
             get_many_request{.bucket = owner.request().bucket,
                              .order = get_order::as_ready,
                              .limits = owner.limits()},
             requests_for(objects_)),
      hands_(hands_of_stream) {}

DATAFLUX_INLINE void small_stream::start() {
  for (int i = 0; i < hands_of_stream; ++i) next();
}

DATAFLUX_INLINE void small_stream::next() {
  items_->start_next_batch(
      at_once_, owner_.back<std::vector<got_item>>(
                    [self = shared_from_this()](auto got) { self->arrived(std::move(got)); }));
}

DATAFLUX_INLINE void small_stream::arrived(result<std::vector<got_item>> got) {
  if (!got) owner_.give_up(got.error());  // cancelled, or out of time: all that is left of it
  if (!got || got->empty()) return hand_ended();
  const auto some = std::make_shared<batch>();
  some->items = std::move(*got);
  owner_.on_file_thread([self = shared_from_this(), some] { self->write(*some); },
                        [self = shared_from_this(), some] { self->written(*some); });
}

DATAFLUX_INLINE void small_stream::write(batch& one) {
  for (got_item& item : one.items) {
    placed_object& object = objects_[static_cast<std::size_t>(item.index)];
    auto failure = std::move(item.failure);
    if (!failure) {
      auto stored = write_whole_file(*object.where, object.name, item.bytes);
      if (!stored) failure = std::move(stored).error();
    }
    object.where.reset();  // the last of a folder's files closes it
    item.memory = {};
    one.failures.push_back(std::move(failure));
  }
}

DATAFLUX_INLINE void small_stream::written(const batch& one) {
  for (std::size_t i = 0; i < one.items.size(); ++i) {
    const placed_object& object = objects_[static_cast<std::size_t>(one.items[i].index)];
    if (one.failures[i]) {
      owner_.tell_failure(object.object, object.shown, *one.failures[i]);
      continue;
    }
    owner_.moved(object.size);
    owner_.told(object, one.items[i].verified);
  }
  next();
}

DATAFLUX_INLINE void small_stream::hand_ended() {
  if (--hands_ > 0) return;
  // Waits for what is under way, if it was stopped.
  owner_.on_file_thread([self = shared_from_this()] { self->items_.reset(); },
                        [this, self = shared_from_this()] { owner_.stream_ended(); });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
