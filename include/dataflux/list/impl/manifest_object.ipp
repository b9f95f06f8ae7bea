#pragma once

#include <dataflux/collecting_sink.hpp>
#include <dataflux/exec/continuation.hpp>
#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/manifest_writer.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// One manifest on its way into a store. Every step is on one executor of the store, so that
/// nothing here is touched by two threads; each step that waits keeps the upload alive.
class manifest_upload : public std::enable_shared_from_this<manifest_upload> {
 public:
  manifest_upload(object_store& store, const manifest_target& target,
                  const manifest_description& description, const object_columns& rows,
                  object_store::completion<object_metadata> done)
      : store_(store),
        home_(store.executor()),
        target_(target),
        encoder_(description, rows),
        done_(std::move(done)),
        deadline_(target.limits.timeout == duration{0}
                      ? never
                      : deadline_after(home_.now(), target.limits.timeout)) {
    constexpr std::size_t usual_part = std::size_t{8} << 20U;
    const std::size_t wanted = target.part_size == 0 ? usual_part : target.part_size;
    part_size_ = std::max(wanted, static_cast<std::size_t>(store.traits().min_part_size));
  }

  void start() {
    home_.post([self = shared_from_this()] { self->begin(); });
  }

 private:
  static constexpr std::size_t most_in_flight = 4;
  using bytes_ptr = std::shared_ptr<std::string>;

  void begin();
  bytes_ptr make_part();
  void insert();
  void initiate();
  void send_parts();
  void send_part(bytes_ptr bytes);
  void complete();
  void abort();
  void fail(error why) {
    if (!failure_) failure_ = std::move(why);
  }
  call_limits limits_now() const;

  /// A completion that goes on at home, with the upload as its first argument.
  template <class T, class Step>
  object_store::completion<T> then(Step step) {
    return continue_on<T>(home_, shared_from_this(), std::move(step));
  }

  object_store& store_;
  scheduler& home_;
  manifest_target target_;
  manifest_encoder encoder_;
  object_store::completion<object_metadata> done_;
  time_point deadline_;
  std::size_t part_size_{0};
  bytes_ptr first_{};
  multipart_upload upload_{};
  std::vector<uploaded_part> parts_{};
  std::uint32_t last_number_{0};
  std::size_t in_flight_{0};
  std::optional<error> failure_{};
};

DATAFLUX_INLINE call_limits manifest_upload::limits_now() const {
  call_limits limits{.stop = target_.limits.stop};
  if (deadline_ != never) {
    limits.timeout = std::max(duration{1}, deadline_ - home_.now());
  }
  return limits;
}

/// The next bytes, part_size_ of them or somewhat more, fewer at the end; null for a failure.
DATAFLUX_INLINE manifest_upload::bytes_ptr manifest_upload::make_part() {
  try {
    auto bytes = std::make_shared<std::string>();
    while (bytes->size() < part_size_ && !encoder_.done()) {
      if (auto good = encoder_.append_to(*bytes); !good)
        return fail(std::move(good).error()), nullptr;
    }
    return bytes;
  } catch (const std::bad_alloc&) {
    return fail(error{errc::resource_exhausted, "no memory for a part of the manifest"}), nullptr;
  }
}

DATAFLUX_INLINE void manifest_upload::begin() {
  first_ = make_part();
  if (first_ == nullptr) return done_(*std::move(failure_));
  if (encoder_.done() && first_->size() <= part_size_) return insert();
  initiate();
}

DATAFLUX_INLINE void manifest_upload::insert() {
  store_.start(insert_request{.bucket = target_.bucket,
                              .object = target_.object,
                              .data = as_bytes(*first_),
                              .limits = limits_now()},
               then<object_metadata>([](manifest_upload& self, result<object_metadata> made) {
                 self.done_(std::move(made));
               }));
}

DATAFLUX_INLINE void manifest_upload::initiate() {
  store_.start(
      multipart_initiate_request{
          .bucket = target_.bucket, .object = target_.object, .limits = limits_now()},
      then<multipart_upload>([](manifest_upload& self, result<multipart_upload> made) {
        if (!made) return self.done_(std::move(made).error());
        self.upload_ = *std::move(made);
        self.send_part(std::exchange(self.first_, nullptr));
        self.send_parts();
      }));
}

DATAFLUX_INLINE void manifest_upload::send_parts() {
  while (!failure_ && in_flight_ < most_in_flight && !encoder_.done()) {
    if (bytes_ptr bytes = make_part()) send_part(std::move(bytes));
  }
  if (in_flight_ != 0) return;
  if (failure_) return abort();
  complete();
}

DATAFLUX_INLINE void manifest_upload::send_part(bytes_ptr bytes) {
  ++in_flight_;
  upload_part_request request{.bucket = target_.bucket,
                              .object = target_.object,
                              .upload_id = upload_.upload_id,
                              .part_number = ++last_number_,
                              .data = as_bytes(*bytes),
                              .limits = limits_now()};
  auto step = [bytes = std::move(bytes)](manifest_upload& self,
                                         result<uploaded_part> part) mutable {
    bytes.reset();
    --self.in_flight_;
    if (part) {
      self.parts_.push_back(*std::move(part));
    } else {
      self.fail(std::move(part).error());
    }
    self.send_parts();
  };
  store_.start(request, then<uploaded_part>(std::move(step)));
}

DATAFLUX_INLINE void manifest_upload::complete() {
  std::sort(parts_.begin(), parts_.end(), [](const uploaded_part& a, const uploaded_part& b) {
    return a.part_number < b.part_number;
  });
  store_.start(multipart_complete_request{.bucket = target_.bucket,
                                          .object = target_.object,
                                          .upload_id = upload_.upload_id,
                                          .parts = std::move(parts_),
                                          .mark = upload_.mark,
                                          .limits = limits_now()},
               then<object_metadata>([](manifest_upload& self, result<object_metadata> made) {
                 if (made) return self.done_(std::move(made));
                 self.fail(std::move(made).error());
                 self.abort();
               }));
}

/// Not under the caller's limits: they may be what failed it. Its own outcome changes nothing.
DATAFLUX_INLINE void manifest_upload::abort() {
  store_.start(multipart_abort_request{.bucket = target_.bucket,
                                       .object = target_.object,
                                       .upload_id = upload_.upload_id,
                                       .limits = {.timeout = std::chrono::minutes{1}}},
               then<void>([](manifest_upload& self, const result<void>&) {
                 self.done_(*std::move(self.failure_));
               }));
}

}  // namespace detail

DATAFLUX_INLINE void start_save_manifest(object_store& store, const manifest_target& target,
                                         const manifest_description& description,
                                         const object_columns& rows,
                                         object_store::completion<object_metadata> done) {
  if (auto good = store.usable(target.bucket, target.object); !good) {
    return done(std::move(good).error());
  }
  std::make_shared<detail::manifest_upload>(store, target, description, rows, std::move(done))
      ->start();
}

DATAFLUX_INLINE void start_load_manifest(object_store& store, const read_request& request,
                                         object_store::completion<manifest> done) {
  // The sink becomes the manifest's memory; a pool of its own keeps none of it afterwards.
  auto memory = std::make_shared<collecting_sink>(buffer_pool{0});
  memory->reset(std::numeric_limits<std::size_t>::max(), collecting_sink::excess::refuse);
  byte_sink& sink = *memory;
  store.start(request, sink,
              [memory = std::move(memory), done = std::move(done),
               name = "gs://" + request.bucket + "/" +
                      request.object](result<read_summary> outcome) mutable {
                if (!outcome) return done(std::move(outcome).error());
                const bytes_view bytes = memory->bytes();
                auto opened = manifest::over(bytes, std::move(memory), std::move(name));
                done(std::move(opened));
              });
}

}  // namespace dataflux::inline DATAFLUX_ABI
