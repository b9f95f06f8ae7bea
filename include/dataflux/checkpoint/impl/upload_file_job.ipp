#pragma once

#include <dataflux/checkpoint/detail/upload_file_job.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>

#include <algorithm>
#include <new>
#include <utility>

///     open -> begin_upload -> opened -> advance ... -> check -> finish -> ended -> close -> end
///
/// Before begin_upload an upload that an earlier call has left is found by its journal, if
/// there is one (upload_file_job_resume.ipp).
///
/// A part is compared with what the journal knows of it, then had or wanted; a wanted part gets its
/// memory in order of parts, is read and is ready. deliver() gives parts to the upload in order,
/// all but the last. Then check() sees whether the file has changed meanwhile, and finish() sends
/// the last one. Steps that block run on threads for files and come back by posting: those of
/// several parts side by side, all else one at a time.
///
/// A failure fails the upload, which cleans up or, with a journal, keeps its parts. Nothing more is
/// begun then; finish() follows when no step is under way, and end() completes once.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// Parts that one call reads at a time: files are faster than networks, disks like a few.
inline constexpr std::size_t reads_at_once = 4;
/// In one step on a thread for files.
inline constexpr std::uint64_t bytes_a_step = 8ULL << 20U;
/// For what is only compared; no part of the memory for uploads.
inline constexpr std::size_t comparing_memory = std::size_t{256} << 10U;

DATAFLUX_INLINE upload_file_job::upload_file_job(const transfer_context& context,
                                                 upload_file_request request, completion done)
    : call_coordinator(context.store(), context.strand(), request.upload.limits, std::move(done)),
      context_(context),
      request_(std::move(request)) {}

DATAFLUX_INLINE void upload_file_job::begin() {
  one_more();  // until end(), whatever threads it is on
  on_file_thread([this] { open(); });
}

DATAFLUX_INLINE void upload_file_job::open() {
  auto good = failure_ ? result<void>(*failure_) : file_.open(request_.path, request_.folder);
  if (good && request_.resume) {
    journal_.emplace(upload_journal::subject{.bucket = request_.upload.bucket,
                                             .object = request_.upload.object,
                                             .size = file_.size(),
                                             .modified = file_.modified(),
                                             .inode = file_.inode(),
                                             .wishes = wishes()});
    good = journal_->open(request_.path, request_.folder, request_.journal_folder);
    if (!good) journal_.reset();
  }
  if (!good) {
    failure_ = std::move(good).error();
    return on_strand(&upload_file_job::end);
  }
  on_strand(&upload_file_job::look);
}

DATAFLUX_INLINE void upload_file_job::begin_upload() {
  upload_request upload = request_.upload;
  upload.size_hint = file_.size();
  upload.limits = limits();
  if (earlier_) upload.part_size = earlier_->part_size;
  upload_ = std::make_shared<object_upload>(context_, std::move(upload));
  upload_->on_part([self = weak_from_this()](const uploaded_part& part) {
    if (const auto call = self.lock()) call->note(part);
  });
  upload_->open(upload_memory::source::by_itself,
                [self = shared_from_this()](const result<void>& outcome) {
                  self->opened_ = outcome.has_value();
                  self->make_step([&](upload_file_job& here) { here.opened(outcome); });
                });
}

DATAFLUX_INLINE void upload_file_job::opened(const result<void>& outcome) {
  if (!outcome) return close_for(outcome.error());
  const std::size_t parts = count_of(upload_->plan().first_size());
  states_.assign(parts, part_state::wanted);
  count_ = parts;
  if (earlier_) {
    keep_journal_ = true;
    upload_->resume(earlier_->begun);
    upload_->keep_parts();
    for (const auto& [number, part] : earlier_->parts) states_[number - 1] = part_state::looking;
    return advance();
  }
  if (!journal_ || count_ < 2) return advance();
  upload_->on_begun([self = weak_from_this()](const begun_upload& begun) {
    const auto call = self.lock();
    if (call == nullptr) return;
    call->to_head_ = begun;
    call->journal_next();
  });
  ++busy_;
  on_file_thread([this] { make_room(); }, [](upload_file_job& self) { self.journal_made(); });
}

DATAFLUX_INLINE void upload_file_job::make_room() {
  journal_failure_ = std::nullopt;
  if (auto made = journal_->begin_anew(count_); !made) journal_failure_ = made.error();
  on_strand(&upload_file_job::journal_made);
}

DATAFLUX_INLINE void upload_file_job::advance() {
  if (failure_ || broken()) {
    if (busy_ == 0) finish();
    return;
  }
  for (; busy_ < reads_at_once && fetched_ < count_ && !broken(); ++fetched_) {
    if (states_[fetched_] == part_state::looking) break;
    if (states_[fetched_] == part_state::wanted) fetch(fetched_);
  }
  for (; busy_ < reads_at_once && looked_ < count_; ++looked_) {
    if (states_[looked_] == part_state::looking) read(looked_, true);
  }
  deliver();
}

DATAFLUX_INLINE void upload_file_job::fetch(std::size_t part) {
  ++busy_;
  taken_back_unless_kept asks([this] { --busy_; });
  upload_->reserve(size_of(part), [self = shared_from_this(), part](const result<void>& granted) {
    --self->busy_;
    self->make_step([&](upload_file_job& here) {
      if (granted) return here.read(part, false);
      here.on_strand(&upload_file_job::advance);
    });
  });
  asks.kept();
}

DATAFLUX_INLINE void upload_file_job::read(std::size_t part, bool compare) {
  auto one = std::make_shared<reading>();
  ++busy_;
  one->part = part;
  one->size = size_of(part);
  one->compare = compare;
  read_on(one);
}

DATAFLUX_INLINE void upload_file_job::read_on(const std::shared_ptr<reading>& one) {
  on_file_thread([this, one] { read_some(one); },
                 [](upload_file_job& self) {
                   --self.busy_;
                   self.advance();
                 });
}

DATAFLUX_INLINE void upload_file_job::read_some(const std::shared_ptr<reading>& one) {
  const auto whole = static_cast<std::size_t>(one->size);
  const std::uint64_t some = std::min(bytes_a_step, one->size - one->done);
  try {
    if (!one->memory && !broken()) {
      const auto& pool = context_.state()->uploads.buffers;
      one->memory = pool.acquire(one->compare ? comparing_memory : whole);
    }
  } catch (const std::bad_alloc&) {
    one->failure = error(errc::resource_exhausted, "there is no memory for a part");
  }
  if (!one->failure && !broken()) {
    const auto into = one->compare ? one->memory.span()
                                   : one->memory.span().subspan(static_cast<std::size_t>(one->done),
                                                                static_cast<std::size_t>(some));
    const std::uint64_t offset = one->part * upload_->plan().first_size() + one->done;
    const auto crc = file_.read(offset, some, into, one->crc);
    if (crc) {
      one->crc = *crc;
      one->done += some;
    } else {
      one->failure = crc.error();
    }
    if (crc && one->done < one->size) return read_on(one);
  }
  post_step([one](upload_file_job& self) { self.arrived(*one); });
}

DATAFLUX_INLINE void upload_file_job::arrived(reading& one) {
  --busy_;
  if (one.failure) fail(*std::move(one.failure));
  if (broken()) return advance();
  if (one.compare) {
    const auto& known = earlier_->parts.at(static_cast<std::uint32_t>(one.part + 1));
    states_[one.part] = known.crc32c == one.crc ? part_state::had : part_state::wanted;
  } else {
    states_[one.part] = part_state::ready;
    const bytes_view bytes{one.memory.data(), static_cast<std::size_t>(one.size)};
    ready_.emplace(one.part,
                   upload_piece{bytes, one.crc, one.size,
                                [owner = std::move(one.memory)]() mutable { owner = {}; }});
  }
  advance();
}

/// All but the last part, which waits until the file was checked once more.
DATAFLUX_INLINE void upload_file_job::deliver() {
  for (; sent_ + 1 < count_; ++sent_) {
    if (states_[sent_] == part_state::had) {
      take_up(sent_);
    } else if (states_[sent_] == part_state::ready) {
      upload_->send(std::move(ready_.extract(sent_).mapped()));
    } else {
      return;
    }
  }
  const bool last = count_ == 0 || states_[sent_] >= part_state::ready;
  if (!last || checking_) return;
  checking_ = true;
  on_file_thread([this] { check(); }, [](upload_file_job& self) { self.finish(); });
}

/// When all else has ended, and nothing begins beside it.
DATAFLUX_INLINE void upload_file_job::check() {
  auto same = file_.unchanged();
  post_step([same = std::move(same)](upload_file_job& self) {
    if (!same) self.fail(same.error());
    self.finish();
  });
}

DATAFLUX_INLINE void upload_file_job::finish() {
  if (std::exchange(finishing_, true)) return;
  taken_back_unless_kept finishes([this] { finishing_ = false; });
  std::optional<upload_piece> last;
  if (!failure_ && !broken() && sent_ < count_) {
    if (states_[sent_] == part_state::had) {
      take_up(sent_);
    } else {
      last = std::move(ready_.extract(sent_).mapped());
    }
  }
  ready_.clear();
  finishes.kept();
  upload_->finish(std::move(last), [self = shared_from_this()](result<committed_object> made) {
    self->ended(std::move(made));
  });
}

DATAFLUX_INLINE void upload_file_job::ended(result<committed_object> outcome) {
  within_memory([&] { describe_end(std::move(outcome)); });
  keep_journal_ = failure_ && upload_->begun();
  closing_ = true;
  journal_next();
}

DATAFLUX_INLINE void upload_file_job::describe_end(result<committed_object> outcome) {
  if (!outcome) {
    // An error of a file is that, with what the upload has to add.
    if (failure_) failure_->with_message(outcome.error().message());
    if (!failure_) failure_ = std::move(outcome).error();
  } else {
    got_.made = *std::move(outcome);
    made_ = true;
    failure_.reset();
    if (request_.progress && got_.made.object.size > reported_) {
      request_.progress(got_.made.object.size - reported_);
    }
    if (got_.made.mode != request_.upload.mode && got_.made.fallback.empty() && earlier_) {
      got_.made.fallback = "as the upload began that was gone on with";
    }
  }
}

DATAFLUX_INLINE void upload_file_job::close() {
  if (journal_ && !keep_journal_) journal_->remove();
  journal_.reset();
  on_strand(&upload_file_job::end);
}

DATAFLUX_INLINE void upload_file_job::end() {
  if (!failure_ && !made_) failure_ = short_of_memory();
  if (failure_) return complete(*failure_);
  complete(std::move(got_));
}

DATAFLUX_INLINE void upload_file_job::fail(error why) {
  if (failure_ || made_ || broken()) return;
  failure_ = why;
  if (upload_ != nullptr) upload_->fail(std::move(why));
}

DATAFLUX_INLINE void upload_file_job::fall_short(error why) {
  if (!opened_) return close_for(std::move(why));
  fail(std::move(why));
  if (!closing_) within_memory([this] { advance(); });
}

/// A step was lost on its way, of which nobody hears any more: all else counts as one until end().
DATAFLUX_INLINE void upload_file_job::idle() { end(); }

/// Without an upload, or with one that could not be opened.
DATAFLUX_INLINE void upload_file_job::close_for(error why) {
  if (!failure_) failure_ = std::move(why);
  if (!std::exchange(closing_, true)) on_file_thread([this] { close(); });
}

DATAFLUX_INLINE std::size_t upload_file_job::count_of(std::uint64_t part_size) const noexcept {
  return static_cast<std::size_t>((file_.size() + part_size - 1) / part_size);
}

/// A hint of the size makes all parts equal.
DATAFLUX_INLINE std::uint64_t upload_file_job::size_of(std::size_t part) const noexcept {
  const std::uint64_t all = upload_->plan().first_size();
  return std::min(all, file_.size() - part * all);
}

template <class Step>
void upload_file_job::on_file_thread(Step step) {
  on_file_thread(std::move(step), [](upload_file_job& self) { self.end(); });
}

template <class Step, class Otherwise>
void upload_file_job::on_file_thread(Step step, Otherwise otherwise) {
  const auto ends_by = [self = shared_from_this(), otherwise](const error& why) noexcept {
    const auto last = [otherwise, why](upload_file_job& here) mutable {
      here.fail(why);
      otherwise(here);
    };
    self->come_back([&] { self->post_step(last); });
  };
  const auto begun = try_file_step(
      [step, ends_by]() mutable { within_memory(step, [&] { ends_by(short_of_memory()); }); });
  if (begun) return;
  if (!strand().is_current()) return ends_by(begun.error());
  // No thread is to be had: the little that a step does of a call that has failed is done here.
  fail(begun.error());
  within_memory(step, [&] { ends_by(short_of_memory()); });
}

DATAFLUX_INLINE void upload_file_job::on_strand(void (upload_file_job::*step)()) {
  post_step([step](upload_file_job& self) { (self.*step)(); });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
