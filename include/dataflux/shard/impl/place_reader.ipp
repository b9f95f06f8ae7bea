#pragma once

#include <dataflux/detail/file_error.hpp>
#include <dataflux/shard/detail/place_reader.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

inline constexpr std::size_t file_piece = std::size_t{1} << 20U;

DATAFLUX_INLINE get_request request_of(const byte_place& object) {
  get_request whole{.object = object.name, .generation = object.generation};
  if (object.generation != 0) whole.object_size = object.size;
  whole.crc32c = object.crc32c;
  return whole;
}

/// The object slice by slice; one whose size is not known at once.
inline get_source slices_of(const byte_place& object, std::uint64_t slice) {
  get_request whole = request_of(object);
  if (object.generation == 0) {
    return [whole = std::optional(std::move(whole))]() mutable {
      return std::exchange(whole, std::nullopt);
    };
  }
  return [whole = std::move(whole), size = object.size, slice,
          done = std::uint64_t{0}]() mutable -> std::optional<get_request> {
    if (done == size) return std::nullopt;
    auto next = whole;
    const std::uint64_t length = std::min(slice, size - done);
    next.range = byte_range::span(done, length);
    done += length;
    return next;
  };
}

DATAFLUX_INLINE error of_place(const byte_place& from, error why, std::string_view scheme) {
  if (from.bucket.empty()) {
    return std::move(why.with_message("'" + from.name + "': " + why.message()));
  }
  if (why.bucket().empty()) why.with_scheme(scheme).with_bucket(from.bucket);
  if (why.object().empty()) why.with_object(from.name);
  return why;
}

DATAFLUX_INLINE place_reader::place_reader(const transfer_context& context, const byte_place& from,
                                           std::stop_token stop)
    : context_(context), from_(from), scheme_(context.store().traits().scheme) {
  if (from.bucket.empty()) return;
  slices_.emplace(context,
                  get_many_request{.bucket = from.bucket, .limits = {.stop = std::move(stop)}},
                  slices_of(from, context.options().slice));
}

DATAFLUX_INLINE place_reader::~place_reader() {
  if (file_ > STDIN_FILENO) ::close(file_);
}

DATAFLUX_INLINE result<bytes_view> place_reader::next() {
  return slices_ ? next_of_object() : next_of_file();
}

DATAFLUX_INLINE result<bytes_view> place_reader::next_of_object() {
  auto item = slices_->next();
  if (!item) return std::move(item).error();
  item_ = *std::move(item);
  if (!item_) return bytes_view{};
  if (item_->failure) return *item_->failure;
  whole_.append({item_->crc32c, item_->bytes.size()});
  if (whole_.length() == from_.size && from_.crc32c && *from_.crc32c != whole_.crc()) {
    context_.state()->engine.forget_object(from_.bucket, from_.name, from_.generation);
    return of_place(from_, error(errc::data_loss, "the bytes differ from the object's CRC32C"),
                    scheme_);
  }
  return item_->bytes;
}

DATAFLUX_INLINE result<bytes_view> place_reader::next_of_file() {
  const auto failed = [this](const char* what) { return file_error(errno, what, from_.name); };
  if (file_ < 0) {
    file_ = from_.name == "-" ? STDIN_FILENO : ::open(from_.name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) return failed("open");
    memory_.resize(file_piece);
  }
  for (;;) {
    const auto got = ::read(file_, memory_.data(), memory_.size());
    if (got >= 0) return bytes_view{memory_.data(), static_cast<std::size_t>(got)};
    if (errno != EINTR) return failed("read");
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
