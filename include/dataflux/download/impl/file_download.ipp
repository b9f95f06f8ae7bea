#pragma once

#include <dataflux/download/detail/file_download.hpp>
#include <dataflux/exec/blocking_worker.hpp>
#include <dataflux/exec/continuation.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// In one step on a thread for files: few, since they are no part of the cap while they are
/// written.
inline constexpr std::size_t slices_a_step = 2;

DATAFLUX_INLINE file_download::file_download(const transfer_context& context,
                                             download_file_request request, completion done)
    : context_(context),
      request_(std::move(request)),
      done_(std::move(done)),
      deadline_(request_.limits.deadline_from(context_.home().now())),
      object_crc32c_(request_.crc32c) {}

DATAFLUX_INLINE void file_download::start() {
  if (!request_.range.valid()) {
    return fail(errc::invalid_argument, "the range is empty, or ends too far");
  }
  if (!request_.object_size || !request_.crc32c || request_.generation == 0) return look();
  object_metadata object;
  object.size = *request_.object_size;
  object.generation = request_.generation;
  object.crc32c = request_.crc32c;
  plan(object);
}

DATAFLUX_INLINE void file_download::look() {
  context_.store().start_stat(
      {.bucket = request_.bucket,
       .object = request_.object,
       .generation = request_.generation,
       .limits = limits()},
      continue_on<object_metadata>(context_.home(), shared_from_this(),
                                   [](file_download& self, const result<object_metadata>& object) {
                                     if (object) return self.plan(*object);
                                     self.failure_ = self.named(object.error());
                                     self.end();
                                   }));
}

DATAFLUX_INLINE void file_download::plan(const object_metadata& object) {
  const byte_range& range = request_.range;
  const std::uint64_t size = object.size;
  if (request_.object_size.value_or(size) != size) {
    return fail(errc::out_of_range, "the object has " + std::to_string(size) + " bytes, not " +
                                        std::to_string(*request_.object_size));
  }
  const auto [offset, length] = range.in(size);
  if (offset > size) {
    return fail(errc::out_of_range, "the range begins at " + std::to_string(offset) +
                                        ", the object has " + std::to_string(size) + " bytes");
  }
  // A slice may not be more than the cap, and some should be under way at once.
  const std::uint64_t room = context_.options().memory_cap / 4;
  content_ = {.bucket = request_.bucket,
              .object = request_.object,
              .generation = object.generation,
              .object_size = size,
              .offset = offset,
              .length = length,
              .slice = std::max<std::uint64_t>(std::min(context_.options().slice, room), 1)};
  if (!object_crc32c_) object_crc32c_ = object.crc32c;
  on_file_thread(&file_download::open);
}

DATAFLUX_INLINE void file_download::open() {
  file_.emplace(request_.path, request_.folder, content_);
  const auto opened = request_.resume ? file_->open_with_journal() : file_->create();
  if (!opened) {
    failure_ = opened.error();
    return close();
  }
  checksums_.resize(content_.slices());
  verify();
}

/// Looks what an earlier call has left, some slices a step.
DATAFLUX_INLINE void file_download::verify() {
  if (stopped()) return close();
  const std::size_t all = content_.slices();
  const std::size_t last =
      request_.resume ? std::min(all, looked_at_ + slices_a_step) : std::size_t{0};
  for (; looked_at_ < last; ++looked_at_) {
    const auto found = file_->verified(looked_at_);
    if (!found) {
      wanted_.push_back(static_cast<std::uint32_t>(looked_at_));
      continue;
    }
    checksums_[looked_at_] = *found;
    ++there_;
    got_.resumed += content_.length_of(looked_at_);
    if (request_.progress) request_.progress(content_.length_of(looked_at_));
  }
  if (request_.resume && looked_at_ < all) return on_file_thread(&file_download::verify);
  for (; looked_at_ < all; ++looked_at_) wanted_.push_back(static_cast<std::uint32_t>(looked_at_));
  if (wanted_.empty()) return close();
  on_home(&file_download::read);
}

DATAFLUX_INLINE void file_download::read() {
  auto source = [all = wanted_, content = content_, crc32c = object_crc32c_,
                 next = std::size_t{0}]() mutable -> std::optional<get_request> {
    if (next == all.size()) return std::nullopt;
    const std::size_t i = all[next++];
    get_request r;
    r.object = content.object;
    r.generation = content.generation;
    r.range = byte_range::span(content.offset + content.begin_of(i), content.length_of(i));
    r.object_size = content.object_size;
    r.crc32c = crc32c;
    return r;
  };
  slices_.emplace(
      context_, content_.bucket, get_source(std::move(source)),
      get_many_options{
          .order = get_order::as_ready, .on_error = get_on_error::stop, .limits = limits()});
  next();
}

DATAFLUX_INLINE void file_download::next() {
  slices_->start_next_batch(slices_a_step,
                            [self = shared_from_this()](result<std::vector<got_item>> batch) {
                              self->arrived(std::move(batch));
                            });
}

DATAFLUX_INLINE void file_download::arrived(result<std::vector<got_item>> batch) {
  if (!batch) {
    const bool gone = batch.error().code() == errc::not_found && request_.generation == 0;
    failure_ = named(
        gone
            ? error(errc::aborted, "the object was replaced while it was read").with_retryable(true)
            : batch.error());
    return on_file_thread(&file_download::close);
  }
  batch_ = std::move(*batch);
  on_file_thread(batch_.empty() ? &file_download::close : &file_download::write);
}

DATAFLUX_INLINE void file_download::write() {
  for (got_item& item : batch_) {
    const std::size_t i = wanted_[static_cast<std::size_t>(item.index)];
    const auto written = file_->write(i, item.bytes, item.crc32c);
    if (!written) {
      failure_ = written.error();
      return close();
    }
    checksums_[i] = item.crc32c;
    ++there_;
    item.memory = {};
    if (request_.progress) request_.progress(content_.length_of(i));
  }
  batch_.clear();
  on_home(&file_download::next);
}

/// The last step: the file gets its name, or goes.
DATAFLUX_INLINE void file_download::close() {
  batch_.clear();
  codec::crc32c_accumulator all;
  for (std::size_t i = 0; i < checksums_.size(); ++i) {
    all.append({checksums_[i], content_.length_of(i)});
  }
  const bool whole = content_.length == content_.object_size;
  if (!failure_ && whole && object_crc32c_ && *object_crc32c_ != all.crc()) {
    failure_ = named({errc::data_loss, "the bytes received do not match the object's CRC32C"});
    there_ = 0;  // which slice is wrong cannot be told
  }
  if (!failure_) {
    got_.bytes = content_.length;
    got_.crc32c = all.crc();
    got_.object_size = content_.object_size;
    got_.generation = content_.generation;
    got_.verified = whole && object_crc32c_.has_value();
    if (const auto named = file_->publish(request_.flush); !named) failure_ = named.error();
  }
  if (failure_ && request_.resume && there_ > 0) file_->keep();
  file_.reset();
  slices_.reset();
  on_home(&file_download::end);
}

DATAFLUX_INLINE void file_download::end() {
  if (failure_) return std::exchange(done_, {})(std::move(*failure_));
  std::exchange(done_, {})(got_);
}

DATAFLUX_INLINE void file_download::on_file_thread(void (file_download::*step)()) {
  auto begun = run_file_step([self = shared_from_this(), step] { (*self.*step)(); });
  if (begun) return;
  if (!failure_) failure_ = begun.error();
  close();  // no thread is to be had: the little that is left is done here
}

DATAFLUX_INLINE void file_download::on_home(void (file_download::*step)()) {
  context_.home().post([self = shared_from_this(), step] { (*self.*step)(); });
}

DATAFLUX_INLINE bool file_download::stopped() {
  if (request_.limits.stop.stop_requested()) {
    failure_ = named({errc::cancelled, "the download was cancelled"});
  } else if (deadline_ != never && context_.home().now() >= deadline_) {
    failure_ = named({errc::deadline_exceeded, "the download's time limit passed"});
  }
  return failure_.has_value();
}

DATAFLUX_INLINE error file_download::named(error why) const {
  if (!why.object().empty()) return why;
  why.with_bucket(request_.bucket)
      .with_object(request_.object)
      .with_generation(request_.generation);
  return why;
}

/// Before there is a file.
DATAFLUX_INLINE void file_download::fail(errc code, const std::string& what) {
  failure_ = named({code, what});
  end();
}

DATAFLUX_INLINE call_limits file_download::limits() const {
  return request_.limits.until(deadline_, context_.home().now());
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
