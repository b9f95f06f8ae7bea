#pragma once

#include <dataflux/cache/detail/cached_read.hpp>
#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Objects below our own prefixes are read once.
DATAFLUX_INLINE bool cached_reads::takes(const read_request& request) const noexcept {
  if (request.generation == 0 || request.range.is_suffix()) return false;
  if (request.decode_gzip || !request.member.empty()) return false;
  if (request.conditions.any() || state_->inherited()) return false;
  const std::size_t names = service_.size() + request.bucket.size() + request.object.size() + 2;
  return names <= most_cache_names && !is_reserved_name(request.object) && request.range.valid();
}

DATAFLUX_INLINE void cached_reads::start(scheduler& strand, const read_request& request,
                                         byte_sink& sink, completion done, origin from_store) {
  looks_->add(strand, std::allocate_shared<cached_read>(
                          looks_->memory(), looks_, looks_->names_of(service_, request), strand,
                          sink, std::move(done), std::move(from_store)));
}

DATAFLUX_INLINE void cached_reads::keep(const read_request& request, const read_summary& summary,
                                        bytes_view body) noexcept {
  within_memory([&] { state_->keep(cache_key::of(service_, request), summary, body); });
}

DATAFLUX_INLINE void cached_reads::forget(const read_request& request) noexcept {
  within_memory([&] { state_->forget(cache_key::of(service_, request)); });
}

DATAFLUX_INLINE void cached_reads::forget_object(std::string_view bucket, std::string_view object,
                                                 std::int64_t generation) noexcept {
  within_memory([&] {
    const read_request all{
        .bucket = std::string(bucket), .object = std::string(object), .generation = generation};
    if (takes(all)) state_->forget_object(cache_key::of(service_, all));
  });
}

/// Kept to be used again.
inline constexpr std::size_t most_unused_names = 1024;

DATAFLUX_INLINE void cached_looks::add(scheduler& strand, std::shared_ptr<cached_read> read) {
  waiting_.push_back(std::move(read));
  if (waiting_.size() > 1) return;
  taken_back_unless_kept added([this] { waiting_.pop_back(); });
  strand.post(task(shared_from_this()));
  added.kept();
}

DATAFLUX_INLINE void cached_looks::task::operator()() {
  const auto all = std::move(of_);
  all->looking_.swap(all->waiting_);
  open_segments segments;
  for (auto& each : all->looking_) std::exchange(each, nullptr)->look(segments);
  all->looking_.clear();
}

DATAFLUX_INLINE cached_looks::task::~task() {
  if (of_ == nullptr) return;
  std::vector<std::shared_ptr<cached_read>> dropped;
  dropped.swap(of_->waiting_);
}

DATAFLUX_INLINE cached_looks::names cached_looks::names_of(std::string_view service,
                                                           const read_request& request) {
  names of;
  if (!unused_.empty()) {
    of = std::move(unused_.back());
    unused_.pop_back();
  }
  of.key.assign(service, request);
  of.request = request;
  return of;
}

DATAFLUX_INLINE void cached_looks::put_back(names& unused) noexcept {
  unused.request.limits = {};
  if (unused_.size() >= most_unused_names) return;
  within_memory([&] { unused_.push_back(std::move(unused)); });
}

DATAFLUX_INLINE void cached_read::look(open_segments& segments) noexcept {
  within_memory([&] { look_at_disk(segments); }, [this] { end(short_of_memory()); });
}

DATAFLUX_INLINE void cached_read::look_at_disk(open_segments& segments) {
  if (names_.request.limits.stop.stop_requested()) return read_from_store();  // which ends it
  cache_answer answer = looks_->state().read(names_.key, sink_, segments, false);
  if (answer.what != cache_answer::kind::blocks) return answered(std::move(answer));
  const auto begun = run_file_step([self = shared_from_this()] { self->look_blocking(); });
  if (!begun) read_from_store();
}

DATAFLUX_INLINE void cached_read::look_blocking() noexcept {
  cache_answer answer{cache_answer::kind::hit, short_of_memory()};
  within_memory([&] {
    open_segments segments;
    answer = looks_->state().read(names_.key, sink_, segments, true);
  });
  const auto post = [&](cache_answer what) {
    strand_.post([self = shared_from_this(), what = std::move(what)]() mutable {
      within_memory([&] { self->answered(std::move(what)); },
                    [&] { self->end(short_of_memory()); });
    });
  };
  within_memory([&] { post(std::move(answer)); },
                [&] {
                  post({cache_answer::kind::hit, short_of_memory()});
                });
}

DATAFLUX_INLINE void cached_read::answered(cache_answer answer) {
  if (answer.what == cache_answer::kind::hit) return end(*std::move(answer.outcome));
  looks_->state().missed();
  read_from_store();
}

DATAFLUX_INLINE void cached_read::read_from_store() {
  read_request& request = names_.request;
  request.limits = clock_.limits(request.limits.stop);
  from_store_(request, *this, [self = shared_from_this()](result<read_summary> outcome) {
    self->came(std::move(outcome));
  });
}

DATAFLUX_INLINE void cached_read::came(result<read_summary> outcome) {
  if (outcome && in_one_piece_ && landed_ > 0 && !satisfied() && is_all_of(*outcome)) {
    looks_->state().keep(names_.key, *outcome, {body_, landed_});
  }
  end(std::move(outcome));
}

/// Whether what has landed is all that was asked for. A reply may be less than it says.
DATAFLUX_INLINE bool cached_read::is_all_of(const read_summary& summary) const noexcept {
  const read_request& request = names_.request;
  const bool same = summary.generation == 0 || summary.generation == request.generation;
  return same && !summary.decoded && landed_ == summary.bytes &&
         landed_ == request.range.in(summary.object_size).length;
}

/// Memory that a sink takes anew moves what has come.
DATAFLUX_INLINE result<void> cached_read::expect(std::uint64_t length) {
  in_one_piece_ = in_one_piece_ && landed_ == 0;
  return sink_.expect(length);
}

DATAFLUX_INLINE bytes_span cached_read::prepare(std::size_t wanted) {
  const bytes_span memory = sink_.prepare(wanted);
  if (landed_ == 0) body_ = memory.data();
  in_one_piece_ = in_one_piece_ && memory.data() == body_ + landed_;
  return memory;
}

DATAFLUX_INLINE bool cached_read::satisfied() const noexcept { return sink_.satisfied(); }

DATAFLUX_INLINE result<void> cached_read::commit(std::size_t count) {
  landed_ += count;
  return sink_.commit(count);
}

DATAFLUX_INLINE result<void> cached_read::rewind(std::uint64_t offset) {
  landed_ = static_cast<std::size_t>(offset);
  in_one_piece_ = in_one_piece_ || offset == 0;
  return sink_.rewind(offset);
}

/// At most once: the completion may end what is left of this.
DATAFLUX_INLINE void cached_read::end(result<read_summary> outcome) {
  auto done = std::exchange(done_, {});
  if (!done) return;
  looks_->put_back(names_);
  within_memory([&] { done(std::move(outcome)); });  // which ends its call itself
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
