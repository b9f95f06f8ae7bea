#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/detail/memory_service.hpp>

#include <algorithm>
#include <cstring>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE error refused(errc code, int status, std::string_view reason, std::string message) {
  error e{code, std::move(message)};
  e.with_http_status(status).with_reason(reason);
  return e;
}

/// What does not hold, if anything. On reads a failed *_not_match is 304 (protocol.md 1.2).
inline std::optional<error> unmet(const preconditions& c, const stored_object* live, bool reading) {
  const std::int64_t generation = live != nullptr ? live->metadata.generation : 0;
  const std::int64_t metageneration = live != nullptr ? live->metadata.metageneration : 0;
  if (c.if_generation_match && *c.if_generation_match != generation) {
    if (*c.if_generation_match == 0 && !reading) {
      return refused(errc::already_exists, 412, "conditionNotMet",
                     "the object exists already, as generation " + std::to_string(generation));
    }
    return refused(
        errc::failed_precondition, 412, "conditionNotMet",
        "if_generation_match does not hold: the live generation is " + std::to_string(generation));
  }
  if (c.if_metageneration_match && *c.if_metageneration_match != metageneration) {
    return refused(errc::failed_precondition, 412, "conditionNotMet",
                   "if_metageneration_match does not hold: the metageneration is " +
                       std::to_string(metageneration));
  }
  const bool same = (c.if_generation_not_match && *c.if_generation_not_match == generation) ||
                    (c.if_metageneration_not_match && live != nullptr &&
                     *c.if_metageneration_not_match == metageneration);
  if (!same) return std::nullopt;
  return refused(errc::failed_precondition, reading ? 304 : 412, reading ? "" : "conditionNotMet",
                 "a not_match condition does not hold: the object is unchanged");
}

DATAFLUX_INLINE memory_body::memory_body(std::vector<piece> pieces) {
  pieces_at at;
  for (const piece& p : pieces) at.ends.push_back(size_ += p->size());
  at.pieces = std::move(pieces);
  bytes_ = std::move(at);
}

DATAFLUX_INLINE memory_body::piece memory_body::copy_of(bytes_view data) {
  return std::make_shared<const std::vector<std::byte>>(data.begin(), data.end());
}

DATAFLUX_INLINE void memory_body::copy(std::uint64_t offset, bytes_span out) const noexcept {
  if (const auto* computed = std::get_if<synthetic_bytes>(&bytes_)) {
    return computed->copy(offset, out);
  }
  const auto& at = *std::get_if<pieces_at>(&bytes_);
  auto i = static_cast<std::size_t>(std::upper_bound(at.ends.begin(), at.ends.end(), offset) -
                                    at.ends.begin());
  while (!out.empty()) {
    const std::vector<std::byte>& bytes = *at.pieces[i];
    const std::uint64_t skip = offset - (at.ends[i] - bytes.size());
    const auto count = std::min<std::uint64_t>(out.size(), bytes.size() - skip);
    std::memcpy(out.data(), bytes.data() + skip, count);
    out = out.subspan(count);
    offset += count;
    ++i;
  }
}

DATAFLUX_INLINE void memory_service::create_bucket(std::string_view name,
                                                   std::shared_ptr<const name_source> objects) {
  buckets_.insert_or_assign(std::string(name), bucket{{}, std::move(objects)});
}

DATAFLUX_INLINE std::int64_t memory_service::put(std::string_view bucket_name,
                                                 std::string_view object, memory_body body,
                                                 std::uint32_t crc32c) {
  bucket& in = buckets_[std::string(bucket_name)];
  if (in.source) return 0;
  object_metadata metadata;
  metadata.bucket = bucket_name;
  metadata.name = object;
  metadata.crc32c = crc32c;
  return store(in, std::move(metadata), std::move(body)).generation;
}

DATAFLUX_INLINE const object_metadata& memory_service::store(bucket& in, object_metadata metadata,
                                                             memory_body body) {
  // Generations are microseconds (protocol.md 1.2), and two writes within one still differ.
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now_.time_since_epoch());
  constexpr std::int64_t first_generation = 1'700'000'000'000'000;
  last_generation_ = std::max(last_generation_ + 1, first_generation + micros.count());
  metadata.size = body.size();
  metadata.generation = last_generation_;
  metadata.metageneration = 1;
  metadata.etag = std::to_string(last_generation_) + "/1";
  if (metadata.content_type.empty()) metadata.content_type = "application/octet-stream";
  metadata.storage_class = "STANDARD";
  metadata.created = metadata.updated =
      timestamp(std::chrono::microseconds(first_generation) + now_.time_since_epoch());
  std::string name = metadata.name;
  auto object =
      std::make_shared<const stored_object>(stored_object{std::move(metadata), std::move(body)});
  return in.objects.insert_or_assign(std::move(name), std::move(object)).first->second->metadata;
}

DATAFLUX_INLINE result<const memory_service::bucket*> memory_service::find_bucket(
    std::string_view name) const {
  const auto found = buckets_.find(name);
  if (found != buckets_.end()) return &found->second;
  return refused(errc::not_found, 404, "notFound", "the bucket does not exist");
}

DATAFLUX_INLINE result<memory_service::bucket*> memory_service::writable(std::string_view name) {
  const auto found = buckets_.find(name);
  if (found == buckets_.end()) {
    return refused(errc::not_found, 404, "notFound", "the bucket does not exist");
  }
  if (!found->second.source) return &found->second;
  return refused(errc::permission_denied, 403, "forbidden", "the bucket is read-only");
}

DATAFLUX_INLINE memory_service::stored memory_service::find(const bucket& in,
                                                            std::string_view bucket_name,
                                                            std::string_view object) {
  if (!in.source) {
    const auto found = in.objects.find(object);
    return found != in.objects.end() ? found->second : nullptr;
  }
  stored out;
  name_source::visitor visit = [&](const object_row& row) {
    if (row.name != object) return false;
    const synthetic_bytes body(row.size, static_cast<std::uint64_t>(row.generation));
    object_metadata m;
    m.bucket = bucket_name;
    m.name = row.name;
    m.size = row.size;
    m.generation = row.generation;
    m.metageneration = 1;
    m.crc32c = row.crc32c ? *row.crc32c : body.crc32c();
    out = std::make_shared<const stored_object>(stored_object{std::move(m), memory_body(body)});
    return false;
  };
  in.source->scan(object, visit);
  return out;
}

DATAFLUX_INLINE result<memory_service::stored> memory_service::get(
    std::string_view bucket_name, std::string_view object, std::int64_t generation,
    const preconditions& conditions) const {
  const auto in = find_bucket(bucket_name);
  if (!in) return in.error();
  stored live = find(**in, bucket_name, object);
  if (live == nullptr) {
    return refused(errc::not_found, 404, "notFound", "the object does not exist");
  }
  if (generation != 0 && generation != live->metadata.generation) {
    return refused(errc::not_found, 404, "notFound",
                   "that generation does not exist (any more); the live one is " +
                       std::to_string(live->metadata.generation));
  }
  if (auto e = unmet(conditions, live.get(), true)) return std::move(*e);
  return live;
}

DATAFLUX_INLINE result<object_metadata> memory_service::stat(const stat_request& r) const {
  return get(r.bucket, r.object, r.generation, r.conditions).transform([](const stored& o) {
    return o->metadata;
  });
}

DATAFLUX_INLINE result<memory_service::stored> memory_service::open(const read_request& r) const {
  return get(r.bucket, r.object, r.generation, r.conditions);
}

DATAFLUX_INLINE result<object_metadata> memory_service::insert(const insert_request& r) {
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  const stored live = find(**in, r.bucket, r.object);
  if (auto e = unmet(r.conditions, live.get(), false)) return std::move(*e);
  object_metadata m;
  m.bucket = r.bucket;
  m.name = r.object;
  m.content_type = r.content_type;
  m.metadata = r.metadata;
  m.crc32c = codec::crc32c(r.data);
  return store(**in, std::move(m), memory_body({memory_body::copy_of(r.data)}));
}

DATAFLUX_INLINE result<void> memory_service::remove(const remove_request& r) {
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  const stored live = find(**in, r.bucket, r.object);
  if (live == nullptr || (r.generation != 0 && r.generation != live->metadata.generation)) {
    return refused(errc::not_found, 404, "notFound", "the object does not exist");
  }
  if (auto e = unmet(r.conditions, live.get(), false)) return std::move(*e);
  (*in)->objects.erase(r.object);
  return {};
}

DATAFLUX_INLINE result<memory_service::upload*> memory_service::find_upload(
    const std::string& id, std::string_view bucket_name, std::string_view object) {
  const auto found = uploads_.find(id);
  if (found == uploads_.end() || found->second.bucket != bucket_name ||
      found->second.object != object) {
    return refused(errc::not_found, 404, "NoSuchUpload",
                   "the upload does not exist: it was completed or aborted, or never began");
  }
  return &found->second;
}

DATAFLUX_INLINE result<multipart_upload> memory_service::initiate(
    const multipart_initiate_request& r) {
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  std::string id = "upload-" + std::to_string(++last_upload_);
  uploads_.emplace(id, upload{r.bucket, r.object, r.content_type, r.metadata, {}});
  return multipart_upload{std::move(id)};
}

DATAFLUX_INLINE result<uploaded_part> memory_service::upload_part(const upload_part_request& r) {
  const auto to = find_upload(r.upload_id, r.bucket, r.object);
  if (!to) return to.error();
  if (r.part_number > traits_.max_parts || r.data.size() > traits_.max_part_size) {
    return refused(errc::invalid_argument, 400, "InvalidArgument", "part number or size too large");
  }
  const std::uint32_t crc = codec::crc32c(r.data);
  if (r.crc32c && *r.crc32c != crc) {
    return refused(errc::data_loss, 400, "CrcMismatch",
                   "the data of part " + std::to_string(r.part_number) +
                       " does not match its crc32c; nothing was stored");
  }
  uploaded_part facts{r.part_number, r.data.size(), crc,
                      '"' + std::to_string(++last_part_) + '-' + std::to_string(crc) + '"'};
  (*to)->parts.insert_or_assign(r.part_number, part{facts, memory_body::copy_of(r.data)});
  return facts;
}

DATAFLUX_INLINE result<object_metadata> memory_service::complete(
    const multipart_complete_request& r) {
  const auto from = find_upload(r.upload_id, r.bucket, r.object);
  if (!from) return from.error();
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  upload& u = **from;
  codec::crc32c_accumulator stored_sum;
  codec::crc32c_accumulator named_sum;
  std::vector<memory_body::piece> pieces;
  for (const uploaded_part& named : r.parts) {
    const auto found = u.parts.find(named.part_number);
    if (found == u.parts.end() || found->second.facts.etag != named.etag) {
      return refused(
          errc::invalid_argument, 400, "InvalidPart",
          "part " + std::to_string(named.part_number) + " was not uploaded, or was replaced since");
    }
    const uploaded_part& facts = found->second.facts;
    if (facts.size < traits_.min_part_size && &named != &r.parts.back()) {
      return refused(errc::invalid_argument, 400, "EntityTooSmall",
                     "part " + std::to_string(named.part_number) + " has " +
                         std::to_string(facts.size) + " bytes; every part but the last needs " +
                         std::to_string(traits_.min_part_size));
    }
    stored_sum.append({facts.crc32c, facts.size});
    named_sum.append({named.crc32c, named.size});
    pieces.push_back(found->second.data);
  }
  if (stored_sum.crc() != named_sum.crc() || stored_sum.length() != named_sum.length()) {
    return error{errc::data_loss, "the stored parts do not have the checksums that complete names"};
  }
  object_metadata m;
  m.bucket = u.bucket;
  m.name = u.object;
  m.content_type = u.content_type;
  m.metadata = std::move(u.metadata);
  m.crc32c = stored_sum.crc();
  uploads_.erase(r.upload_id);
  return store(**in, std::move(m), memory_body(std::move(pieces)));
}

DATAFLUX_INLINE result<void> memory_service::abort(const multipart_abort_request& r) {
  const auto found = find_upload(r.upload_id, r.bucket, r.object);
  if (!found) return found.error();
  uploads_.erase(r.upload_id);
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
