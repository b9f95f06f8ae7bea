#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/collecting_sink.hpp>
#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// One manifest on its way into a store: makes the pieces of an object_upload one after the other.
/// The limits are the upload's.
///
/// begin() opens the upload. Then reserve() asks for the memory of a piece, make() encodes it, and
/// send() takes it: several are under way, as many as have memory. The last piece goes to finish()
/// instead, which completes with the object. Where there is no memory, or the rows cannot be
/// encoded, the upload is failed first, and finish() brings its error. All of it is on the strand.
class manifest_upload final : public call_coordinator<manifest_upload, object_metadata> {
 public:
  manifest_upload(const transfer_context& context, const manifest_target& target,
                  const manifest_description& description, const object_columns& rows,
                  completion done)
      : call_coordinator(context.store(), context.strand(), {}, std::move(done)),
        context_(context),
        upload_(std::make_shared<object_upload>(
            context_, upload_request{.bucket = target.bucket,
                                     .object = target.object,
                                     .mode = commit_mode::direct,
                                     .part_size = part_of(context.store(), target),
                                     .limits = target.limits})),
        encoder_(description, rows) {}

  void begin() {
    upload_->open(upload_memory::source::by_itself,
                  then<void>([](manifest_upload& self, result<void> outcome) {
                    if (!outcome) return self.fail(std::move(outcome).error());
                    self.reserve();
                  }));
  }

  void fall_short(error why) {
    upload_->fail(std::move(why));
    finish(std::nullopt);
  }

  /// For one alone: its parts are all the memory there is.
  static transfer_context context_for(object_store& store, const manifest_target& target) {
    return transfer_context(store, {.upload_memory = most_in_flight * part_of(store, target)});
  }

 private:
  static constexpr std::uint64_t most_in_flight = 4;

  static std::uint64_t part_of(const object_store& store, const manifest_target& target) {
    constexpr std::uint64_t usual_part = std::uint64_t{8} << 20U;
    const std::uint64_t wanted = target.part_size == 0 ? usual_part : target.part_size;
    const std::uint64_t least = std::max(wanted, store.traits().min_part_size);
    return (least + part_quantum - 1) / part_quantum * part_quantum;
  }

  void reserve();
  std::optional<upload_piece> make(std::uint64_t size);
  void finish(std::optional<upload_piece> last);

  const transfer_context context_;
  const std::shared_ptr<object_upload> upload_;
  manifest_encoder encoder_;
  std::string made_{};  ///< and not sent yet
  std::uint64_t pieces_{0};
  bool finishing_{false};
};

/// Memory for the next piece, and then the piece.
DATAFLUX_INLINE void manifest_upload::reserve() {
  // Where the store takes no more parts it is the upload that says so.
  const std::uint64_t size = std::max<std::uint64_t>(upload_->plan().size_of(++pieces_), 1);
  upload_->reserve(size, then<void>([size](manifest_upload& self, const result<void>& granted) {
                     auto piece = granted ? self.make(size) : std::nullopt;
                     if (!piece || (self.made_.empty() && self.encoder_.done())) {
                       return self.finish(std::move(piece));
                     }
                     self.upload_->send(*std::move(piece));
                     self.reserve();
                   }));
}

/// The next `size` bytes, fewer at the end; nothing, and the upload has failed, where that cannot
/// be. More than a piece is encoded, so that the last one is known as such.
DATAFLUX_INLINE std::optional<upload_piece> manifest_upload::make(std::uint64_t size) {
  try {
    while (made_.size() <= size && !encoder_.done()) {
      if (auto good = encoder_.append_to(made_); !good) {
        upload_->fail(std::move(good).error());
        return std::nullopt;
      }
    }
    const auto bytes = std::make_shared<std::string>(made_, 0, static_cast<std::size_t>(size));
    made_.erase(0, bytes->size());
    const bytes_view view = as_bytes(*bytes);
    return upload_piece{view, crc32c(view), size, [bytes] {}};
  } catch (const std::bad_alloc&) {
    upload_->fail(error(errc::resource_exhausted, "no memory for a part of the manifest"));
    return std::nullopt;
  }
}

DATAFLUX_INLINE void manifest_upload::finish(std::optional<upload_piece> last) {
  if (std::exchange(finishing_, true)) return fail(short_of_memory());  // the first was lost
  upload_->finish(std::move(last), then<committed_object>([](manifest_upload& self, auto made) {
                    if (!made) return self.fail(std::move(made).error());
                    self.complete(std::move(made->object));
                  }));
}

}  // namespace detail

DATAFLUX_INLINE void start_save_manifest(object_store& store, const manifest_target& target,
                                         const manifest_description& description,
                                         const object_columns& rows,
                                         object_store::completion<object_metadata> done) {
  using detail::manifest_upload;
  std::make_shared<detail::manifest_upload>(detail::manifest_upload::context_for(store, target),
                                            target, description, rows, std::move(done))
      ->start(target.bucket, target.object);
}

DATAFLUX_INLINE void start_load_manifest(object_store& store, const read_request& request,
                                         object_store::completion<manifest> done) {
  // The sink becomes the manifest's memory; a pool of its own keeps none of it afterwards.
  auto memory = std::make_shared<detail::collecting_sink>(detail::buffer_pool{0});
  memory->reset(detail::longest_manifest, detail::collecting_sink::excess::refuse);
  byte_sink& sink = *memory;
  store.start(request, sink,
              [memory = std::move(memory), done = std::move(done),
               name = std::string(store.traits().scheme) + "://" + request.bucket + "/" +
                      request.object](result<read_summary> outcome) mutable {
                if (!outcome) return done(std::move(outcome).error());
                const bytes_view bytes = memory->bytes();
                auto opened = manifest::over(bytes, std::move(memory), std::move(name));
                done(std::move(opened));
              });
}

}  // namespace dataflux::inline DATAFLUX_ABI
