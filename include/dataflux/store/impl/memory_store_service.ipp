#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/detail/attributes.hpp>
#include <dataflux/store/detail/memory_service.hpp>

#include <algorithm>
#include <cstring>

/// The service holds buckets and open uploads. A bucket has live objects by name and, where its
/// rules keep those, noncurrent ones by name and generation; or it is read-only, over a
/// name_source. Each request is carried out at once and whole, in the moment in which it arrives:
/// there are no steps. What takes time is detail/memory_call.hpp's: connections, bytes on a link,
/// waits, faults.
///
/// A write checks the conditions, then retention and holds, then takes the place of the live
/// object, which is dropped or becomes noncurrent. Each write gets the next generation, and the
/// time that was set last. An upload is open from initiate to complete or abort; its parts are not
/// visible before.
namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE error refused(errc code, int status, std::string_view reason, std::string message) {
  error e{code, std::move(message)};
  e.with_http_status(status).with_reason(reason);
  return e;
}

inline error no_such_bucket() {
  error e = refused(errc::not_found, 404, "notFound", "the bucket does not exist");
  return std::move(e.with_bucket_missing(true));
}

DATAFLUX_INLINE std::optional<error> unmet(const preconditions& c, const object_metadata* live,
                                           bool reading) {
  const std::int64_t generation = live != nullptr ? live->generation : 0;
  const std::int64_t metageneration = live != nullptr ? live->metageneration : 0;
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

/// The metadata that a request gives its object, as the store keeps it.
template <class Request>
object_metadata metadata_of(const Request& r) {
  object_metadata m;
  m.bucket = r.bucket;
  m.name = r.object;
  set_attributes(r.attributes, m);
  return m;
}

inline const object_metadata* metadata_of(const memory_service::stored& object) noexcept {
  return object ? &object->metadata : nullptr;
}

DATAFLUX_INLINE memory_body::piece memory_body::copy_of(bytes_view data) {
  return std::make_shared<const std::vector<std::byte>>(data.begin(), data.end());
}

inline std::uint64_t size_of(const memory_body::piece& p) noexcept {
  const auto* computed = std::get_if<synthetic_bytes>(&p);
  return computed != nullptr ? computed->size() : (*std::get_if<0>(&p))->size();
}

DATAFLUX_INLINE void memory_body::append(const piece& next) {
  const std::uint64_t length = size_of(next);
  if (length == 0) return;
  ends_.push_back(size() + length);
  pieces_.push_back(next);
}

DATAFLUX_INLINE void memory_body::append(const memory_body& other) {
  for (const piece& p : other.pieces_) append(p);
}

DATAFLUX_INLINE void memory_body::copy(std::uint64_t offset, bytes_span out) const noexcept {
  auto i = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), offset) -
                                    ends_.begin());
  while (!out.empty()) {
    const piece& p = pieces_[i];
    const std::uint64_t length = size_of(p);
    const std::uint64_t skip = offset - (ends_[i] - length);
    const auto count = std::min<std::uint64_t>(out.size(), length - skip);
    if (const auto* computed = std::get_if<synthetic_bytes>(&p)) {
      computed->copy(skip, out.first(count));
    } else {
      std::memcpy(out.data(), (*std::get_if<0>(&p))->data() + skip, count);
    }
    out = out.subspan(count);
    offset += count;
    ++i;
  }
}

DATAFLUX_INLINE void memory_service::create_bucket(std::string_view name,
                                                   std::shared_ptr<const name_source> objects) {
  buckets_.insert_or_assign(std::string(name), bucket{.source = std::move(objects)});
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

/// Simulated time begins here, as generations do.
inline constexpr std::int64_t first_generation = 1'700'000'000'000'000;

DATAFLUX_INLINE timestamp memory_service::wall_clock() const noexcept {
  return timestamp(std::chrono::microseconds(first_generation) + now_.time_since_epoch());
}

/// As S3 has it (store_traits::ordered_generations).
inline std::int64_t generation_of_content(const object_metadata& m) noexcept {
  const std::uint64_t bits = (std::uint64_t{m.crc32c.value_or(0)} << 31U) ^ m.size;
  return static_cast<std::int64_t>(bits & 0x7FFF'FFFF'FFFF'FFFFU) + 1;
}

DATAFLUX_INLINE const object_metadata& memory_service::store(bucket& in, object_metadata metadata,
                                                             memory_body body) {
  // Generations are microseconds (protocol.md 1.2), and two writes within one still differ.
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now_.time_since_epoch());
  last_generation_ =
      std::max(last_generation_ + 1, first_generation + std::int64_t{micros.count()});
  metadata.size = body.size();
  metadata.generation =
      traits_.ordered_generations ? last_generation_ : generation_of_content(metadata);
  metadata.metageneration = 1;
  metadata.etag = std::to_string(metadata.generation) + "/1";
  if (metadata.content_type.empty()) metadata.content_type = "application/octet-stream";
  if (metadata.storage_class.empty()) metadata.storage_class = "STANDARD";
  metadata.created = metadata.updated = wall_clock();
  std::string name = metadata.name;
  retire(in, name);
  auto object = std::make_shared<const stored_object>(
      stored_object{std::move(metadata), std::move(body), in.rules.default_event_based_hold});
  return in.objects.insert_or_assign(std::move(name), std::move(object)).first->second->metadata;
}

DATAFLUX_INLINE result<const memory_service::bucket*> memory_service::find_bucket(
    std::string_view name) const {
  const auto found = buckets_.find(name);
  if (found != buckets_.end()) return &found->second;
  return no_such_bucket();
}

DATAFLUX_INLINE result<memory_service::bucket*> memory_service::writable(std::string_view name) {
  const auto found = buckets_.find(name);
  if (found == buckets_.end()) {
    return no_such_bucket();
  }
  if (!found->second.source) return &found->second;
  return refused(errc::permission_denied, 403, "forbidden", "the bucket is read-only");
}

DATAFLUX_INLINE memory_service::stored memory_service::find(const bucket& in,
                                                            std::string_view bucket_name,
                                                            std::string_view object,
                                                            std::int64_t generation) {
  if (!in.source) {
    const auto live = in.objects.find(object);
    if (live != in.objects.end() &&
        (generation == 0 || generation == live->second->metadata.generation)) {
      return live->second;
    }
    const auto others = in.noncurrent.find(object);
    if (generation == 0 || others == in.noncurrent.end()) return nullptr;
    const auto at = others->second.find(generation);
    return at != others->second.end() ? at->second : nullptr;
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
    if (generation == 0 || generation == row.generation) {
      out = std::make_shared<const stored_object>(stored_object{std::move(m), memory_body(body)});
    }
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
  stored found = find(**in, bucket_name, object, generation);
  if (found == nullptr) {
    const stored live = generation != 0 ? find(**in, bucket_name, object) : nullptr;
    if (live == nullptr) {
      return refused(errc::not_found, 404, "notFound", "the object does not exist");
    }
    return refused(errc::not_found, 404, "notFound",
                   "that generation does not exist (any more); the live one is " +
                       std::to_string(live->metadata.generation));
  }
  if (auto e = unmet(conditions, &found->metadata, true)) return std::move(*e);
  return found;
}

DATAFLUX_INLINE result<memory_service::stored> memory_service::get_source(
    std::string_view bucket_name, std::string_view object, std::int64_t generation) const {
  const auto in = find_bucket(bucket_name);
  if (!in) return in.error();
  auto found = get(bucket_name, object, generation, {});
  if (found) return found;
  error e = found.error();
  e.with_bucket(bucket_name).with_object(object).with_generation(generation);
  return e;
}

DATAFLUX_INLINE result<object_metadata> memory_service::stat(const stat_request& r) const {
  return get(r.bucket, r.object, r.generation, r.conditions).transform([&](const stored& o) {
    return only_fields(r.fields, o->metadata);
  });
}

DATAFLUX_INLINE result<memory_service::stored> memory_service::open(const read_request& r) const {
  if (!r.member.empty()) {
    return error{errc::unimplemented, "member: memory_store takes no archives apart"};
  }
  auto found = get(r.bucket, r.object, r.generation, r.conditions);
  if (found && r.decode_gzip && (*found)->metadata.content_encoding == "gzip") {
    return error{errc::unimplemented, "memory_store decompresses nothing: leave out decode_gzip"};
  }
  return found;
}

DATAFLUX_INLINE result<object_metadata> memory_service::insert(const insert_request& r) {
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  if (auto e = unwritable(**in, r.bucket, r.object, r.conditions)) return std::move(*e);
  object_metadata m = metadata_of(r);
  m.crc32c = crc32c(r.data);
  return store(**in, std::move(m), memory_body(r.data));
}

DATAFLUX_INLINE result<void> memory_service::remove(const remove_request& r) {
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  const stored found = find(**in, r.bucket, r.object, r.generation);
  if (found == nullptr) {
    return refused(errc::not_found, 404, "notFound", "the object does not exist");
  }
  if (auto e = unmet(r.conditions, metadata_of(found), false)) return std::move(*e);
  if (auto e = guarded(**in, found)) return std::move(*e);
  if (r.generation == 0) {
    retire(**in, r.object);
  } else if (find(**in, r.bucket, r.object) == found) {
    (*in)->objects.erase(r.object);
  } else {
    const auto others = (*in)->noncurrent.find(r.object);
    others->second.erase(r.generation);
    if (others->second.empty()) (*in)->noncurrent.erase(others);
  }
  return {};
}

DATAFLUX_INLINE result<object_metadata> memory_service::compose(const compose_request& r) {
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  if (auto e = unwritable(**in, r.bucket, r.object, r.conditions)) return std::move(*e);
  object_metadata m = metadata_of(r);
  crc32c_accumulator sum;
  memory_body body;
  std::string storage_class;
  for (const compose_source& named : r.sources) {
    const auto source = get_source(r.bucket, named.object, named.generation);
    if (!source) return source.error();
    const object_metadata& facts = (*source)->metadata;
    if (storage_class.empty()) storage_class = facts.storage_class;
    if (facts.storage_class != storage_class) {
      return refused(errc::invalid_argument, 400, "invalid",
                     "the sources of a composed object are all of one storage class");
    }
    m.component_count += std::max(facts.component_count, 1);
    sum.append({facts.crc32c.value_or(0), facts.size});
    body.append((*source)->body);
  }
  if (m.storage_class.empty()) m.storage_class = storage_class;
  m.crc32c = sum.crc();
  if (r.crc32c && *r.crc32c != sum.crc()) {
    return error{errc::data_loss, "the sources do not have the checksum that compose names"};
  }
  return store(**in, std::move(m), std::move(body));
}

DATAFLUX_INLINE result<object_metadata> memory_service::move(const move_request& r) {
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  const auto source = get_source(r.bucket, r.source, 0);
  if (!source) return source.error();
  if (auto e = unmet(r.source_conditions, &(*source)->metadata, false)) return std::move(*e);
  if (auto e = guarded(**in, *source)) return std::move(*e);
  if (auto e = unwritable(**in, r.bucket, r.object, r.conditions)) return std::move(*e);
  object_metadata m = (*source)->metadata;
  m.name = r.object;
  memory_body body = (*source)->body;
  retire(**in, r.source);
  return store(**in, std::move(m), std::move(body));
}

DATAFLUX_INLINE result<object_metadata> memory_service::rewrite(const rewrite_request& r) {
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  const auto source = get_source(r.source_bucket, r.source, r.source_generation);
  if (!source) return source.error();
  if (auto e = unmet(r.source_conditions, &(*source)->metadata, false)) return std::move(*e);
  if (auto e = unwritable(**in, r.bucket, r.object, r.conditions)) return std::move(*e);
  object_metadata m = r.attributes.empty() ? (*source)->metadata : metadata_of(r);
  m.bucket = r.bucket;
  m.name = r.object;
  m.kms_key_name = r.attributes.kms_key_name;
  m.crc32c = (*source)->metadata.crc32c;
  m.component_count = (*source)->metadata.component_count;
  return store(**in, std::move(m), memory_body((*source)->body));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
