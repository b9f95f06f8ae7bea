#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/s3/detail/dialect.hpp>
#include <dataflux/s3/detail/join_call.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

inline constexpr std::size_t most_parts_at_once = 8;
inline constexpr std::uint64_t most_joined_parts = 10'000;

DATAFLUX_INLINE std::vector<join_piece> plan_join(std::span<const std::uint64_t> sizes,
                                                  std::uint64_t least, std::uint64_t most) {
  std::uint64_t total = 0;
  for (const std::uint64_t size : sizes) total += size;
  // Each source may add a part that is sent, and ones that are short.
  most = std::max({most, 2 * least, total / (most_joined_parts - 3 * sizes.size()) + 1});
  std::vector<join_piece> out;
  join_piece small{.sent = true};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::uint64_t at = 0;
    const auto left = [&] { return sizes[i] - at; };
    if (const std::uint64_t held = small.length(); held > 0 || left() < least) {
      const std::uint64_t taken = std::min(left(), least - held);
      if (taken > 0) small.extents.push_back({i, at, taken});
      at += taken;
      if (small.length() == least) out.push_back(std::exchange(small, {.sent = true}));
    }
    while (left() >= least) {
      // Never leaves less than a part behind one that could be shorter.
      const bool rest = left() > most && left() - most < least;
      const std::uint64_t taken = rest ? left() - least : std::min(left(), most);
      out.push_back({{{i, at, taken}}});
      at += taken;
    }
    if (left() > 0) small.extents.push_back({i, at, left()});
  }
  // An object without a byte has one part, too.
  if (!small.extents.empty() || out.empty()) out.push_back(std::move(small));
  return out;
}

DATAFLUX_INLINE join_call::join_call(ref<service::client_core> core, join_request what,
                                     completion done)
    : core_(std::move(core)),
      on_(core_->transport().next_executor()),
      what_(std::move(what)),
      clock_(on_, what_.limits),
      done_(std::move(done)) {}

/// Its completion goes on on the executor.
template <class Step>
void join_call::back(Step step) {
  on_.post([self = shared_from_this(), step = std::move(step)]() mutable { step(*self); });
}

template <class Verb, class Step>
void join_call::send(typename Verb::request request, Step step) {
  using value = typename Verb::value;
  request.limits = clock_.limits(what_.limits.stop);
  verb_call<Verb>::start(
      core_, request,
      [self = shared_from_this(), step = std::move(step)](result<value> outcome) mutable {
        self->back([step = std::move(step), outcome = std::move(outcome)](join_call& here) mutable {
          step(here, std::move(outcome));
        });
      },
      &on_);
}

DATAFLUX_INLINE void join_call::start() { stat_next(); }

DATAFLUX_INLINE void join_call::stat_next() {
  if (found_.size() == what_.sources.size()) return begin_upload();
  const join_source& source = what_.sources[found_.size()];
  send<stat_verb>({.bucket = source.bucket,
                   .object = source.object,
                   .generation = source.generation,
                   .conditions = source.conditions},
                  [](join_call& self, result<object_metadata> found) {
                    if (!found) return self.fail(std::move(found).error());
                    if (auto good = self.take_source(*std::move(found)); !good) {
                      return self.fail(std::move(good).error());
                    }
                    self.stat_next();
                  });
}

DATAFLUX_INLINE result<void> join_call::take_source(object_metadata found) {
  if (found.generation == 0) {
    const join_source& source = what_.sources[found_.size()];
    error why = check_found(0, 1, {}).error();
    return std::move(why.with_scheme("s3")
                         .with_verb(stat_verb::info.name)
                         .with_bucket(source.bucket)
                         .with_object(source.object));
  }
  total_ += found.size;  // cannot overflow: read_object_head() bounds each
  if (total_ > greatest_object) {
    return error{errc::out_of_range, "the sources together have " + std::to_string(total_) +
                                         " bytes: at most " + std::to_string(greatest_object)};
  }
  found_.push_back(std::move(found));
  return {};
}

DATAFLUX_INLINE void join_call::begin_upload() {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(found_.size());
  for (const object_metadata& each : found_) sizes.push_back(each.size);
  pieces_ = plan_join(sizes, least_joined_part, dialect_of(*core_).how().copy_at_once);
  multipart_initiate_request begin{
      .bucket = what_.bucket, .object = what_.object, .attributes = what_.attributes};
  const object_metadata& first = found_.front();
  if (what_.keeps_attributes && what_.attributes.empty()) {
    begin.attributes = {.content_type = first.content_type,
                        .metadata = first.metadata,
                        .content_encoding = first.content_encoding,
                        .cache_control = first.cache_control,
                        .content_disposition = first.content_disposition,
                        .content_language = first.content_language,
                        .storage_class = first.storage_class,
                        .kms_key_name = what_.attributes.kms_key_name};
  }
  if (begin.attributes.storage_class.empty()) begin.attributes.storage_class = first.storage_class;
  send<multipart_initiate_verb>(std::move(begin), [](join_call& self, auto begun) {
    if (!begun) return self.fail(may_have_begun(std::move(begun).error()));
    self.upload_ = *std::move(begun);
    self.send_parts();
  });
}

DATAFLUX_INLINE void join_call::send_parts() {
  while (!failure_ && next_ < pieces_.size() && in_flight_ < most_parts_at_once) {
    const join_piece& piece = pieces_[next_++];
    const auto number = static_cast<std::uint32_t>(next_);
    ++in_flight_;
    if (piece.sent) {
      const auto size = static_cast<std::size_t>(piece.length());
      read_part(number, std::make_shared<std::vector<std::byte>>(size), 0, 0);
    } else {
      copy_part(number, piece);
    }
  }
  if (in_flight_ > 0) return;
  failure_ ? end_failed() : complete();
}

DATAFLUX_INLINE void join_call::copy_part(std::uint32_t number, const join_piece& piece) {
  const join_piece::extent& from = piece.extents.front();
  const join_source& source = what_.sources[from.source];
  const object_metadata& state = found_[from.source];
  const bool checked = dialect_of(*core_).how().uploads != upload_checksum::none;
  send<copy_part_verb>(
      {.bucket = what_.bucket,
       .object = what_.object,
       .upload_id = upload_.upload_id,
       .part_number = number,
       .source_bucket = source.bucket,
       .source = source.object,
       .source_etag = state.etag,
       .source_size = state.size,
       .offset = from.offset,
       .length = from.length,
       .needs_checksum = checked},
      [](join_call& self, result<uploaded_part> part) { self.part_ended(std::move(part)); });
}

DATAFLUX_INLINE void join_call::read_part(std::uint32_t number,
                                          std::shared_ptr<std::vector<std::byte>> bytes,
                                          std::size_t extent, std::size_t at) {
  const join_piece& piece = pieces_[number - 1];
  if (extent == piece.extents.size()) return send_part(number, bytes);
  const join_piece::extent& from = piece.extents[extent];
  const auto length = static_cast<std::size_t>(from.length);
  const auto sink = std::make_shared<span_sink>(bytes_span(*bytes).subspan(at, length));
  // The checksum of all of a source comes with all of it alone.
  const bool all = from.offset == 0 && from.length == found_[from.source].size;
  const read_request request{
      .bucket = what_.sources[from.source].bucket,
      .object = what_.sources[from.source].object,
      .range = all ? byte_range::all() : byte_range::span(from.offset, from.length),
      .generation = found_[from.source].generation,
      .limits = clock_.limits(what_.limits.stop)};
  auto done = [=, self = shared_from_this()](result<read_summary> got) mutable {
    self->back([=, got = std::move(got)](join_call& here) mutable {
      if (!got) return here.part_ended(std::move(got).error());
      if (sink->size() != length) {
        return here.part_ended(error{errc::data_loss, "a source ended before its size"});
      }
      here.read_part(number, std::move(bytes), extent + 1, at + length);
    });
  };
  read_call<read_verb>::start(core_, request, *sink, std::move(done));
}

DATAFLUX_INLINE void join_call::send_part(std::uint32_t number,
                                          const std::shared_ptr<std::vector<std::byte>>& bytes) {
  send<upload_part_verb>(
      {.bucket = what_.bucket,
       .object = what_.object,
       .upload_id = upload_.upload_id,
       .part_number = number,
       .data = *bytes},
      [bytes](join_call& self, result<uploaded_part> part) { self.part_ended(std::move(part)); });
}

DATAFLUX_INLINE void join_call::part_ended(result<uploaded_part> part) {
  --in_flight_;
  if (part) {
    parts_.push_back(*std::move(part));
  } else if (!failure_) {
    failure_ = std::move(part).error();
  }
  send_parts();
}

/// Some servers say the source's own checksum of each part that they copy.
DATAFLUX_INLINE std::optional<std::uint32_t> join_call::crc32c_of_sources() const {
  crc32c_accumulator all;
  for (const object_metadata& each : found_) {
    if (!each.crc32c) return std::nullopt;
    all.append({*each.crc32c, each.size});
  }
  return all.crc();
}

DATAFLUX_INLINE void join_call::complete() {
  std::sort(parts_.begin(), parts_.end(),
            [](const auto& a, const auto& b) { return a.part_number < b.part_number; });
  crc32c_accumulator whole;
  for (const uploaded_part& part : parts_) whole.append({part.crc32c, part.size});
  const bool told = dialect_of(*core_).how().uploads != upload_checksum::none;
  const auto known = crc32c_of_sources();
  if (told && known && *known != whole.crc()) {
    return fail(error{errc::data_loss,
                      "the server says another CRC32C of the copied parts than their sources have: "
                      "if it does so each time, use it with upload_checksum none"});
  }
  if (told && what_.crc32c && *what_.crc32c != whole.crc()) {
    return fail(error{errc::data_loss, "the sources together have another CRC32C than expected"});
  }
  send<multipart_complete_verb>({.bucket = what_.bucket,
                                 .object = what_.object,
                                 .upload_id = upload_.upload_id,
                                 .parts = parts_,
                                 .mark = upload_.mark,
                                 .conditions = what_.conditions},
                                [](join_call& self, result<object_metadata> made) {
                                  if (!made) return self.fail(std::move(made).error());
                                  std::exchange(self.done_, {})(std::move(made));
                                });
}

DATAFLUX_INLINE void join_call::fail(error why) {
  failure_ = std::move(why);
  end_failed();
}

/// The upload goes before the caller hears of it, or he would think that nothing is left.
DATAFLUX_INLINE void join_call::end_failed() {
  if (failure_->bucket().empty()) {
    failure_->with_scheme("s3").with_bucket(what_.bucket).with_object(what_.object);
    if (failure_->verb().empty()) {
      failure_->with_verb(what_.keeps_attributes ? copy_verb::info.name : "compose");
    }
  }
  if (upload_.upload_id.empty()) return std::exchange(done_, {})(*std::move(failure_));
  verb_call<multipart_abort_verb>::start(
      core_,
      {.bucket = what_.bucket,
       .object = what_.object,
       .upload_id = std::exchange(upload_.upload_id, {}),
       .limits = {.timeout = std::chrono::seconds(60)}},
      [self = shared_from_this()](const result<void>& gone) {
        const bool left = !gone && gone.error().code() != errc::not_found;
        if (left) {
          self->failure_->with_message(
              self->failure_->message() +
              "; an open upload was left behind: " + gone.error().message());
        }
        std::exchange(self->done_, {})(*std::move(self->failure_));
      },
      &on_);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
