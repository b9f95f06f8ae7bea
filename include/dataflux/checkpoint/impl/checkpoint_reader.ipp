#pragma once

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/detail/ranges_call.hpp>
#include <dataflux/checkpoint/detail/reader_call.hpp>
#include <dataflux/checkpoint/detail/reader_state.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/detail/fork.hpp>

#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline error refused(const checkpoint_read_request& r, errc code, const std::string& what) {
  return error(code, what)
      .with_bucket(r.bucket)
      .with_object(r.object)
      .with_generation(r.generation);
}

inline std::optional<error> check_request(const checkpoint_read_request& r) {
  for (const part_checksum& part : r.parts) {
    if (part.size == 0) return refused(r, errc::invalid_argument, "a part of no bytes");
  }
  return std::nullopt;
}

/// Whether what was found is what the request describes.
inline std::optional<error> check_found(const checkpoint_read_request& r,
                                        const object_metadata& object) {
  if (r.crc32c && object.crc32c && *r.crc32c != *object.crc32c) {
    return refused(r, errc::data_loss, "the object has another CRC32C than was asked for");
  }
  if (r.parts.empty()) return std::nullopt;
  crc32c_accumulator all;
  for (const part_checksum& part : r.parts) {
    all.append(crc32c_accumulator(part.crc32c, part.size));
  }
  if (all.length() != object.size) {
    return refused(r, errc::out_of_range,
                   "the parts have " + std::to_string(all.length()) +
                       " bytes together, the object has " + std::to_string(object.size));
  }
  if (object.crc32c && all.crc() != *object.crc32c) {
    return refused(r, errc::data_loss, "the object has another CRC32C than its parts together");
  }
  return std::nullopt;
}

inline void start_piece(const std::shared_ptr<reader_state>& state, std::uint64_t offset,
                        bytes_span memory, const call_limits& limits,
                        object_store::completion<void> done) {
  if (state->inherited()) return done(forked_error("reader"));
  std::make_shared<reader_call>(state, offset, memory, limits, std::move(done))
      ->post_step([](reader_call& call) { call.begin(); });
}

/// As start_piece, but what is in memory is there at once.
inline operation<void> submit_piece(const std::shared_ptr<reader_state>& state,
                                    std::uint64_t offset, bytes_span memory, call_limits limits) {
  return start_operation<void>(limits, [&](auto done) {
    if (state->inherited()) return done(forked_error("reader"));
    const auto ready = state->copy_ready(offset, memory);
    if (!ready) return done(ready.error());
    if (*ready) return done({});
    start_piece(state, offset, memory, limits, std::move(done));
  });
}

inline operation<void> launch_piece(const std::shared_ptr<reader_state>& state,
                                    std::uint64_t offset, bytes_span memory, call_limits limits) {
  return start_operation<void>(
      limits, [&](auto done) { start_piece(state, offset, memory, limits, std::move(done)); });
}

inline result<void> run_piece(const std::shared_ptr<reader_state>& state, std::uint64_t offset,
                              bytes_span memory, const call_limits& limits) {
  if (state->inherited()) return forked_error("reader");
  const auto ready = state->copy_ready(offset, memory);
  if (!ready) return ready.error();
  if (*ready) return {};
  return launch_piece(state, offset, memory, limits).take();
}

inline std::optional<error> check_all(const reader_state& state, bytes_span memory) {
  if (memory.size() == state.size()) return std::nullopt;
  return state.described(errc::out_of_range, "the object has " + std::to_string(state.size()) +
                                                 " bytes, the memory has " +
                                                 std::to_string(memory.size()));
}

}  // namespace detail

DATAFLUX_INLINE checkpoint_reader::checkpoint_reader(
    std::shared_ptr<detail::reader_state> state) noexcept
    : state_(std::move(state)) {}
DATAFLUX_INLINE checkpoint_reader::checkpoint_reader(checkpoint_reader&&) noexcept = default;
DATAFLUX_INLINE checkpoint_reader& checkpoint_reader::operator=(
    checkpoint_reader&& other) noexcept {
  if (this != &other) {
    close();
    state_ = std::move(other.state_);
  }
  return *this;
}
DATAFLUX_INLINE checkpoint_reader::~checkpoint_reader() { close(); }

DATAFLUX_INLINE void checkpoint_reader::close() noexcept {
  if (state_ == nullptr) return;
  if (state_->inherited()) {
    // Its locks and threads are the parent's.
    static_cast<void>(new (std::nothrow) std::shared_ptr<detail::reader_state>(std::move(state_)));
    return;
  }
  state_->close();
}

DATAFLUX_INLINE void checkpoint_reader::start_open(const transfer_context& context,
                                                   checkpoint_read_request request,
                                                   completion<checkpoint_reader> done) {
  if (auto good = context.store().check_not_forked(request.bucket, request.object); !good) {
    return done(std::move(good).error());
  }
  const std::string_view scheme = context.store().traits().scheme;
  if (auto wrong = detail::check_request(request)) {
    wrong->with_scheme(scheme);
    return context.strand().post(
        [wrong = std::move(*wrong), done = std::move(done)]() mutable { done(std::move(wrong)); });
  }
  stat_request stat;
  stat.bucket = request.bucket;
  stat.object = request.object;
  stat.generation = request.generation;
  stat.fields = metadata_fields::basic;
  stat.limits = request.limits;
  auto& store = context.store();
  store.start_stat(stat, [context, scheme, request = std::move(request),
                          done = std::move(done)](result<object_metadata> object) mutable {
    if (!object) return done(detail::advised(std::move(object).error(), request));
    auto& strand = context.strand();
    strand.post([context, scheme, request = std::move(request), done = std::move(done),
                 object = std::move(object)]() mutable {
      if (auto wrong = detail::check_found(request, *object)) {
        return done(std::move(wrong->with_scheme(scheme)));
      }
      request.limits = {};
      done(checkpoint_reader(
          std::make_shared<detail::reader_state>(context, std::move(request), *object)));
    });
  });
}

DATAFLUX_INLINE std::uint64_t checkpoint_reader::size() const noexcept { return state_->size(); }
DATAFLUX_INLINE std::int64_t checkpoint_reader::generation() const noexcept {
  return state_->generation();
}
DATAFLUX_INLINE bool checkpoint_reader::verified() const noexcept { return state_->verified(); }
DATAFLUX_INLINE bool checkpoint_reader::compared() const noexcept {
  return state_->verified() || state_->by_parts();
}

DATAFLUX_INLINE result<void> checkpoint_reader::read_at(std::uint64_t offset, bytes_span memory,
                                                        const call_limits& limits) {
  return detail::run_piece(state_, offset, memory, limits);
}
DATAFLUX_INLINE operation<void> checkpoint_reader::submit_read_at(std::uint64_t offset,
                                                                  bytes_span memory,
                                                                  call_limits limits) {
  return detail::submit_piece(state_, offset, memory, std::move(limits));
}
DATAFLUX_INLINE void checkpoint_reader::start_read_at(std::uint64_t offset, bytes_span memory,
                                                      const call_limits& limits,
                                                      completion<void> done) {
  detail::start_piece(state_, offset, memory, limits, std::move(done));
}

DATAFLUX_INLINE result<void> checkpoint_reader::read_ranges(std::vector<range_read> ranges,
                                                            const call_limits& limits,
                                                            range_told each) {
  return submit_read_ranges(std::move(ranges), limits, std::move(each)).take();
}
DATAFLUX_INLINE operation<void> checkpoint_reader::submit_read_ranges(
    std::vector<range_read> ranges, call_limits limits, range_told each) {
  return start_operation<void>(limits, [&](auto done) {
    start_read_ranges(std::move(ranges), limits, std::move(each), std::move(done));
  });
}
DATAFLUX_INLINE void checkpoint_reader::start_read_ranges(std::vector<range_read> ranges,
                                                          const call_limits& limits,
                                                          range_told each, completion<void> done) {
  if (state_->inherited()) {
    const result<void> refused = detail::forked_error("reader");
    for (std::size_t i = 0; each && i < ranges.size(); ++i) each(i, refused);
    return done(detail::forked_error("reader"));
  }
  std::make_shared<detail::ranges_call>(state_, std::move(ranges), limits, std::move(each),
                                        std::move(done))
      ->post_step([](detail::ranges_call& call) { call.begin(); });
}

DATAFLUX_INLINE result<void> checkpoint_reader::read_all(bytes_span memory,
                                                         const call_limits& limits) {
  if (auto wrong = detail::check_all(*state_, memory)) return std::move(*wrong);
  return detail::run_piece(state_, 0, memory, limits);
}
DATAFLUX_INLINE operation<void> checkpoint_reader::submit_read_all(bytes_span memory,
                                                                   call_limits limits) {
  if (auto wrong = detail::check_all(*state_, memory)) {
    return start_operation<void>(limits, [&](auto done) { done(std::move(*wrong)); });
  }
  return detail::submit_piece(state_, 0, memory, std::move(limits));
}
DATAFLUX_INLINE void checkpoint_reader::start_read_all(bytes_span memory, const call_limits& limits,
                                                       completion<void> done) {
  if (auto wrong = detail::check_all(*state_, memory)) {
    if (state_->inherited()) return done(detail::forked_error("reader"));
    return state_->strand().post(
        [wrong = std::move(*wrong), done = std::move(done)]() mutable { done(std::move(wrong)); });
  }
  detail::start_piece(state_, 0, memory, limits, std::move(done));
}

DATAFLUX_INLINE result<std::size_t> checkpoint_reader::read(bytes_span memory, call_limits limits) {
  if (state_->inherited()) return detail::forked_error("reader");
  const auto step = state_->advance(memory.size());
  const auto into = memory.first(static_cast<std::size_t>(step.read.length));
  if (into.empty()) return std::size_t{0};
  const auto ready = state_->copy_ready(step.read.offset, into);
  if (!ready) return ready.error();
  operation<void> under_way;
  if (!*ready) under_way = detail::launch_piece(state_, step.read.offset, into, std::move(limits));
  state_->try_load_ahead(step.ahead);
  if (under_way.valid()) {
    if (auto got = under_way.take(); !got) return std::move(got).error();
  }
  return into.size();
}
DATAFLUX_INLINE operation<std::size_t> checkpoint_reader::submit_read(bytes_span memory,
                                                                      call_limits limits) {
  return start_operation<std::size_t>(
      limits, [&](auto done) { start_read(memory, limits, std::move(done)); });
}
DATAFLUX_INLINE void checkpoint_reader::start_read(bytes_span memory, const call_limits& limits,
                                                   completion<std::size_t> done) {
  if (state_->inherited()) return done(detail::forked_error("reader"));
  const auto step = state_->advance(memory.size());
  const auto into = memory.first(static_cast<std::size_t>(step.read.length));
  // Of no bytes nothing is asked, wherever the cursor is.
  detail::start_piece(state_, into.empty() ? 0 : step.read.offset, into, limits,
                      [count = into.size(), done = std::move(done)](result<void> got) mutable {
                        if (!got) return done(std::move(got).error());
                        done(std::size_t{count});
                      });
  state_->try_load_ahead(step.ahead);
}

DATAFLUX_INLINE result<void> checkpoint_reader::seek(std::uint64_t offset) {
  if (state_->inherited()) return detail::forked_error("reader");
  state_->seek(offset);
  return {};
}
DATAFLUX_INLINE std::uint64_t checkpoint_reader::tell() const noexcept {
  return state_->inherited() ? 0 : state_->tell();
}

DATAFLUX_INLINE result<void> checkpoint_reader::prefetch(std::span<const byte_extent> ranges) {
  if (state_->inherited()) return detail::forked_error("reader");
  state_->load_ahead({ranges.begin(), ranges.end()});
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI
