#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/detail/download_file_job.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>

#include <algorithm>
#include <utility>

///     stat -> plan -> open -> verify -> read -> next <-> write -> close -> end
///
/// stat is left out where the request says everything. open, verify, write and close are steps on a
/// thread for files; the others run on the strand. A step names the next one and posts it
/// (on_file_thread, on_strand): one of them runs at a time, so that there is no lock. verify takes
/// some slices a step, and finds out which ones an earlier call has left. next asks the getter for
/// a batch of slices, and write puts them into the part file.
///
/// Every end goes through close, once there is a file: the part file gets its name, is kept for a
/// later call, or goes. A failure is noted where it occurs and told by end, which completes once. A
/// stop and the deadline end the getter, and are noticed between two steps of verify.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// In one step on a thread for files: few, since they are no part of the cap while they are
/// written.
inline constexpr std::size_t slices_a_step = 2;

DATAFLUX_INLINE download_file_job::download_file_job(const transfer_context& context,
                                                     download_file_request request, completion done)
    : call_coordinator(context.store(), context.strand(), request.limits, std::move(done)),
      context_(context),
      request_(std::move(request)),
      object_crc32c_(request_.crc32c) {}

DATAFLUX_INLINE void download_file_job::begin() {
  one_more();  // until end(), whichever thread it is on
  if (!request_.range.valid()) {
    return refuse(errc::invalid_argument, range_error(request_.range).message());
  }
  if (!request_.object_size || !request_.crc32c || request_.generation == 0) return stat();
  object_metadata object;
  object.size = *request_.object_size;
  object.generation = request_.generation;
  object.crc32c = request_.crc32c;
  plan(object);
}

DATAFLUX_INLINE void download_file_job::stat() {
  store().start_stat(
      {.bucket = request_.bucket,
       .object = request_.object,
       .generation = request_.generation,
       .fields = metadata_fields::basic,
       .limits = limits()},
      then<object_metadata>([](download_file_job& self, const result<object_metadata>& object) {
        if (object) return self.plan(*object);
        self.failure_ = self.named(object.error());
        self.end();
      }));
}

DATAFLUX_INLINE void download_file_job::plan(const object_metadata& object) {
  const byte_range& range = request_.range;
  const std::uint64_t size = object.size;
  if (request_.object_size.value_or(size) != size) {
    return refuse(errc::out_of_range, "the object has " + std::to_string(size) + " bytes, not " +
                                          std::to_string(*request_.object_size));
  }
  const auto [offset, length] = range.in(size);
  if (offset > size) {
    return refuse(errc::out_of_range, "the range begins at " + std::to_string(offset) +
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
  if (!object_crc32c_ && length == size) other_ = object.other_checksum;
  on_file_thread(&download_file_job::open);
}

DATAFLUX_INLINE void download_file_job::open() {
  file_.emplace(request_.path, request_.folder, content_);
  const auto opened = request_.resume ? file_->open_with_journal() : file_->create();
  if (!opened) {
    failure_ = opened.error();
    return close();
  }
  checksums_.resize(content_.slices());
  if (other_) sums_.resize(content_.slices());
  verify();
}

/// Checks what an earlier call has left, some slices a step.
DATAFLUX_INLINE void download_file_job::verify() {
  if (stopped()) return close();
  const std::size_t all = content_.slices();
  const std::size_t last =
      request_.resume ? std::min(all, examined_ + slices_a_step) : std::size_t{0};
  for (; examined_ < last; ++examined_) {
    codec::whole_checksum sum{.kind = other_ ? other_->kind : codec::checksum_kind{}};
    const auto found = file_->verified(examined_, other_ ? &sum : nullptr);
    if (!found) {
      wanted_.push_back(static_cast<std::uint32_t>(examined_));
      continue;
    }
    checksums_[examined_] = *found;
    if (other_) sums_[examined_] = sum.value;
    ++there_;
    got_.resumed += content_.length_of(examined_);
    if (request_.progress) request_.progress(content_.length_of(examined_));
  }
  if (request_.resume && examined_ < all) return on_file_thread(&download_file_job::verify);
  for (; examined_ < all; ++examined_) wanted_.push_back(static_cast<std::uint32_t>(examined_));
  if (wanted_.empty()) return close();
  on_strand(&download_file_job::read);
}

DATAFLUX_INLINE void download_file_job::read() {
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
  slices_.emplace(context_,
                  get_many_request{.bucket = content_.bucket,
                                   .order = get_order::as_ready,
                                   .on_error = get_on_error::stop,
                                   .limits = limits()},
                  get_source(std::move(source)));
  next();
}

DATAFLUX_INLINE void download_file_job::next() {
  slices_->start_next_batch(
      slices_a_step, [self = shared_from_this()](result<std::vector<got_item>> batch) {
        self->make_step([&](download_file_job& here) { here.arrived(std::move(batch)); });
      });
}

DATAFLUX_INLINE void download_file_job::arrived(result<std::vector<got_item>> batch) {
  if (!batch) {
    const bool gone = batch.error().code() == errc::not_found && request_.generation == 0;
    failure_ = named(
        gone
            ? error(errc::aborted, "the object was replaced while it was read").with_retryable(true)
            : batch.error());
    return on_file_thread(&download_file_job::close);
  }
  batch_ = std::move(*batch);
  on_file_thread(batch_.empty() ? &download_file_job::close : &download_file_job::write);
}

DATAFLUX_INLINE void download_file_job::write() {
  for (got_item& item : batch_) {
    const std::size_t i = wanted_[static_cast<std::size_t>(item.index)];
    const auto written = file_->write(i, item.bytes, item.crc32c);
    if (!written) {
      failure_ = written.error();
      return close();
    }
    checksums_[i] = item.crc32c;
    if (other_) sums_[i] = codec::extend_sum(other_->kind, 0, item.bytes);
    ++there_;
    compared_ = item.verified && content_.slices() == 1;
    item.memory = {};
    if (request_.progress) request_.progress(content_.length_of(i));
  }
  batch_.clear();
  on_strand(&download_file_job::next);
}

/// All slices with the object's checksum, if it has one and they are all of it.
DATAFLUX_INLINE std::optional<error> download_file_job::compare() {
  crc32c_accumulator all;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < checksums_.size(); ++i) {
    const std::uint64_t length = content_.length_of(i);
    all.append({checksums_[i], length});
    if (other_) sum = codec::combine_sums(other_->kind, sum, sums_[i], length);
  }
  got_.crc32c = all.crc();
  const bool whole = content_.length == content_.object_size;
  const bool has_sum = object_crc32c_ || other_;
  got_.verified = whole && (has_sum || compared_ || content_.length == 0);
  if (!whole || !has_sum) return std::nullopt;
  if (other_ ? other_->value == sum : *object_crc32c_ == all.crc()) return std::nullopt;
  there_ = 0;  // which slice is wrong cannot be told
  context_.state()->engine.forget_object(request_.bucket, request_.object, content_.generation);
  return named(
      {errc::data_loss, "the bytes received do not match the object's " +
                            std::string(other_ ? codec::to_string(other_->kind) : "CRC32C")});
}

/// The last step: the file gets its name, or goes.
DATAFLUX_INLINE void download_file_job::close() {
  batch_.clear();
  if (!failure_) failure_ = compare();
  if (!failure_) {
    got_.bytes = content_.length;
    got_.object_size = content_.object_size;
    got_.generation = content_.generation;
    if (const auto named = file_->publish(request_.flush); !named) failure_ = named.error();
    published_ = !failure_;
  }
  if (failure_ && request_.resume && there_ > 0) file_->keep();
  file_.reset();
  slices_.reset();
  on_strand(&download_file_job::end);
}

DATAFLUX_INLINE void download_file_job::end() {
  if (failure_) return complete(*failure_);
  complete(got_);
}

DATAFLUX_INLINE void download_file_job::on_file_thread(void (download_file_job::*step)()) {
  const auto begun = try_file_step([self = shared_from_this(), step] {
    within_memory([&] { (*self.*step)(); }, [&] { self->stop_short(); });
  });
  if (begun) return;
  if (!failure_) failure_ = begun.error();
  stop_short();  // no thread is to be had: the little that is left is done here
}

/// Ends it where it is: a step on a thread for files was short of memory.
DATAFLUX_INLINE void download_file_job::stop_short() noexcept {
  run_short(short_of_memory());
  const bool closes = file_ && within_memory([this] { close(); });
  if (closes) return;
  file_.reset();
  slices_.reset();
  come_back([this] { on_strand(&download_file_job::end); });
}

/// No failure where the file has its name.
DATAFLUX_INLINE void download_file_job::run_short(const error& why) noexcept {
  if (!failure_ && !published_) failure_ = why;
}

DATAFLUX_INLINE void download_file_job::fall_short(const error& why) {
  run_short(why);
  if (std::exchange(closing_, true)) return end();  // once is enough
  file_ ? on_file_thread(&download_file_job::close) : end();
}

DATAFLUX_INLINE void download_file_job::on_strand(void (download_file_job::*step)()) {
  post_step([step](download_file_job& self) { (self.*step)(); });
}

DATAFLUX_INLINE bool download_file_job::stopped() {
  if (caller_stop().stop_requested()) {
    failure_ = named({errc::cancelled, "the download was cancelled"});
  } else if (clock().passed()) {
    failure_ = named({errc::deadline_exceeded, "the download's time limit passed"});
  }
  return failure_.has_value();
}

DATAFLUX_INLINE error download_file_job::named(error why) const {
  if (!why.object().empty()) return why;
  why.with_bucket(request_.bucket)
      .with_object(request_.object)
      .with_generation(request_.generation);
  return why;
}

/// Before there is a file.
DATAFLUX_INLINE void download_file_job::refuse(errc code, const std::string& what) {
  failure_ = named({code, what});
  end();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
