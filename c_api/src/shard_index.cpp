#include "shard_index.hpp"

#include "events.hpp"
#include "json.hpp"
#include "listing.hpp"
#include "shard_rules.hpp"

#include <dataflux/shard/foreign_index.hpp>
#include <dataflux/shard/index_shards.hpp>
#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/shard/verify_shards.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux_c {

namespace {

using dataflux::detail::codec::json_writer;

void describe(const dataflux::index_shards_summary& done, dataflux_record& r) {
  r.size = done.samples;
}
std::string json_of(const dataflux::index_shards_summary& done) {
  json_writer w;
  w.begin_object().key("shards").natural(done.shards).key("samples").natural(done.samples);
  w.key("members").natural(done.members).key("checksummed").natural(done.checksummed);
  w.key("taken_over").natural(done.taken_over).key("orphans").natural(done.orphans);
  w.key("bytes").natural(done.bytes).key("bytes_read").natural(done.bytes_read);
  w.key("counts");
  write_counts(w, done.counts, done.groups);
  w.end_object();
  return std::move(w).take();
}
void describe_found(const dataflux::verify_shards_summary& found, dataflux_record& r) {
  r.size = found.samples;
}
const char* name_of(dataflux::shard_fault fault) noexcept {
  switch (fault) {
    case dataflux::shard_fault::changed:
      return "changed";
    case dataflux::shard_fault::deleted:
      return "deleted";
    case dataflux::shard_fault::damaged:
      return "damaged";
    default:
      return "samples";
  }
}
std::string json_of_found(const dataflux::verify_shards_summary& found) {
  json_writer w;
  w.begin_object().key("shards").natural(found.shards).key("samples").natural(found.samples);
  w.key("bytes_read").natural(found.bytes_read).key("filled").natural(found.filled);
  w.key("wrong_count").natural(found.wrong_count).key("wrong").begin_array();
  for (const dataflux::wrong_shard& each : found.wrong) {
    w.begin_object().key("shard").natural(each.shard).key("name").string(each.name);
    w.key("fault").string(name_of(each.fault));
    write_error(w, each.why);
    w.end_object();
  }
  w.end_array().end_object();
  return std::move(w).take();
}
using verifying_operation =
    report_operation<dataflux::verify_shards_summary, describe_found, json_of_found>;

using indexing_operation = report_operation<dataflux::index_shards_summary, describe, json_of>;

result<dataflux::object_columns> chosen_rows(const dataflux_listing& listing, const uint64_t* rows,
                                             std::size_t count) {
  if (rows == nullptr) return listing.rows->slice(0, listing.rows->size());
  dataflux::object_columns chosen;
  chosen.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (rows[i] >= listing.rows->size()) {
      return error(errc::out_of_range, "row " + std::to_string(rows[i]) + " of a listing of " +
                                           std::to_string(listing.rows->size()));
    }
    const dataflux::object_row row = (*listing.rows)[static_cast<std::size_t>(rows[i])];
    chosen.append(row.name, row.size, row.generation, row.crc32c);
  }
  return chosen;
}

result<dataflux::index_shards_request> indexing_of(const dataflux_index_shards_options& o,
                                                   const dataflux_listing* listing) {
  if (o.bucket == nullptr) return missing("bucket");
  const bool shared = o.board_bucket != nullptr || o.board_prefix != nullptr;
  if (o.path == nullptr && !shared) return missing("path");
  if (o.path != nullptr && *o.path == '\0') {
    return error(errc::invalid_argument, "the path is empty");
  }
  if (shared && o.board_bucket == nullptr) return missing("board_bucket");
  if (shared && o.board_prefix == nullptr) return missing("board_prefix");
  if (shared && (*o.board_bucket == '\0' || *o.board_prefix == '\0')) {
    return error(errc::invalid_argument, "the board is empty");
  }
  if (o.parts == nullptr && o.part_count > 0) return missing("parts");
  if (listing == nullptr) return missing("listing");
  dataflux::index_shards_request r;
  r.bucket = o.bucket;
  auto chosen = chosen_rows(*listing, o.rows, o.row_count);
  if (!chosen) return std::move(chosen).error();
  r.shards = *std::move(chosen);
  r.reading = reading_rules_of(o);
  r.grouping = grouping_rules_of(o);
  r.path = text_of(o.path);
  r.board_bucket = text_of(o.board_bucket);
  r.board_prefix = text_of(o.board_prefix);
  r.lease = duration_of(o.lease_ns);
  for (std::size_t i = 0; i < o.part_count; ++i) {
    if (o.parts[i] == nullptr) return missing("parts");
    r.parts.push_back(o.parts[i]->what);
  }
  r.skip_from = o.skip_from;
  r.parallelism = o.parallelism;
  r.limits.timeout = duration_of(o.timeout_ns);
  return r;
}

std::string text_about(const dataflux::shard_index& index) {
  json_writer w;
  w.begin_object().key("scheme").string(index.description().scheme);
  w.key("taken").string(dataflux::to_string(index.description().taken));
  w.key("options").begin_array();
  for (const auto& [name, value] : index.description().options) {
    w.begin_array().string(name).string(value).end_array();
  }
  w.end_array().end_object();
  return std::move(w).take();
}

void put_row(const dataflux::indexed_shard& shard, dataflux_indexed_shard& out) {
  out.name = shard.object.name.data();
  out.name_size = shard.object.name.size();
  out.size = shard.object.size;
  out.generation = shard.object.generation;
  out.crc32c = shard.object.crc32c.value_or(0);
  out.has_crc32c = shard.object.crc32c ? 1 : 0;
  out.first_sample = shard.first_sample;
  out.samples = shard.samples;
  out.checksummed = shard.checksummed ? 1 : 0;
  put_counts(shard.counts, shard.groups,
             [&](const char*, auto member, std::uint64_t count) { out.*member = count; });
}

void put_sample(const dataflux::indexed_sample& sample, const dataflux_sample_columns& out,
                std::size_t row) {
  if (out.shards != nullptr) out.shards[row] = sample.shard;
  if (out.offsets != nullptr) out.offsets[row] = sample.offset;
  if (out.sizes != nullptr) out.sizes[row] = sample.size;
  if (out.fields != nullptr) out.fields[row] = sample.members;
  if (out.crc32c != nullptr) out.crc32c[row] = sample.crc32c.value_or(0);
  if (out.has_crc32c != nullptr) out.has_crc32c[row] = sample.crc32c ? 1 : 0;
}

dataflux_sample_field field_of(std::string_view name, std::uint64_t offset, std::uint64_t size) {
  return {name.data(), name.size(), offset, size};
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

void dataflux_index_shards_options_init(dataflux_index_shards_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_verify_shards_options_init(dataflux_verify_shards_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_sample_columns_init(dataflux_sample_columns* columns, size_t size) {
  dataflux_c::init_options(columns, size);
}

dataflux_status dataflux_index_shards(dataflux_client* client,
                                      const dataflux_index_shards_options* options,
                                      const dataflux_listing* listing, dataflux_queue* queue,
                                      uint64_t tag, dataflux_operation** out,
                                      dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    const auto o = dataflux_c::options_of(options);
    if (!o) return o.error();
    auto r = dataflux_c::indexing_of(*o, listing);
    if (!r) return std::move(r).error();
    const auto how_far =
        dataflux_c::progress_of(client, o->progress != 0, tag, "index", r->bucket, {});
    if (!how_far) return how_far.error();
    if (*how_far != nullptr) {
      (*how_far)->expect(r->shards.size());
      r->progress = [to = *how_far](std::uint64_t shards, std::uint64_t) { to->reach(shards); };
    }
    return dataflux_c::begin_operation<dataflux_c::indexing_operation>(
        client, queue, tag, out, [&](dataflux_c::client_state& c) {
          return dataflux_c::submit_told<dataflux::index_shards_summary>(
              r->limits, *how_far,
              [&](auto done) {
                dataflux::start_index_shards(c.context, *std::move(r), std::move(done));
              },
              [](dataflux_c::call_progress& progress, const auto&) { progress.end(); });
        });
  });
}

dataflux_status dataflux_shard_index_import(const dataflux_index_shards_options* options,
                                            const dataflux_listing* listing,
                                            const char* const* paths, size_t count,
                                            dataflux_shard_index** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    const auto o = dataflux_c::options_of(options);
    if (!o) return o.error();
    if (o->bucket == nullptr) return missing("bucket");
    if (listing == nullptr) return missing("listing");
    if (paths == nullptr && count > 0) return missing("paths");
    const auto rows = dataflux_c::chosen_rows(*listing, o->rows, o->row_count);
    if (!rows) return rows.error();
    std::vector<dataflux::foreign_index> from;
    for (size_t i = 0; i < count; ++i) {
      if (paths[i] == nullptr) return missing("paths");
      auto index = dataflux::open_foreign_index(paths[i]);
      if (!index) return std::move(index).error();
      from.push_back(*std::move(index));
    }
    auto made = dataflux::import_foreign_index(o->bucket, *rows, from,
                                               dataflux_c::grouping_rules_of(*o), listing->scheme);
    if (!made) return std::move(made).error();
    std::string json = dataflux_c::text_about(*made);
    // Memory comes first, and then the value moves. NOLINTNEXTLINE(modernize-make-unique)
    *out = new dataflux_shard_index{*std::move(made), std::move(json)};
    return {};
  });
}

dataflux_status dataflux_verify_shards(dataflux_client* client, const dataflux_shard_index* index,
                                       const dataflux_verify_shards_options* options,
                                       dataflux_queue* queue, uint64_t tag,
                                       dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (index == nullptr) return missing("index");
    const auto o = dataflux_c::options_of(options);
    if (!o) return o.error();
    if (o->path != nullptr && *o->path == '\0') {
      return error(errc::invalid_argument, "the path is empty");
    }
    dataflux::verify_shards_options how;
    how.path = dataflux_c::text_of(o->path);
    how.return_wrong = o->return_wrong != 0;
    how.parallelism = o->parallelism;
    how.limits.timeout = dataflux_c::duration_of(o->timeout_ns);
    const auto how_far = dataflux_c::progress_of(client, o->progress != 0, tag, "verify",
                                                 index->what.description().bucket, {});
    if (!how_far) return how_far.error();
    if (*how_far != nullptr) {
      (*how_far)->expect(index->what.shards());
      how.progress = [to = *how_far](std::uint64_t shards, std::uint64_t) { to->reach(shards); };
    }
    return dataflux_c::begin_operation<dataflux_c::verifying_operation>(
        client, queue, tag, out, [&](dataflux_c::client_state& c) {
          return dataflux_c::submit_told<dataflux::verify_shards_summary>(
              how.limits, *how_far,
              [&](auto done) {
                dataflux::start_verify_shards(c.context, index->what, how, std::move(done));
              },
              [](dataflux_c::call_progress& progress, const auto&) { progress.end(); });
        });
  });
}

dataflux_status dataflux_shard_index_open(const char* path, dataflux_shard_index** out,
                                          dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (path == nullptr) return missing("path");
    auto opened = dataflux::shard_index::open(path);
    if (!opened) return std::move(opened).error();
    std::string json = dataflux_c::text_about(*opened);
    // Memory comes first, and then the value moves. NOLINTNEXTLINE(modernize-make-unique)
    *out = new dataflux_shard_index{*std::move(opened), std::move(json)};
    return {};
  });
}

void dataflux_shard_index_free(dataflux_shard_index* index) { delete index; }

dataflux_status dataflux_shard_index_describe(const dataflux_shard_index* index,
                                              dataflux_shard_index_info* out, size_t info_size,
                                              dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (index == nullptr) return missing("index");
    if (out == nullptr) return missing("out");
    if (info_size < sizeof *out) return error(errc::invalid_argument, "info_size is too small");
    std::memset(static_cast<void*>(out), 0, info_size);
    out->shards = index->what.shards();
    out->samples = index->what.samples();
    out->bytes = index->what.bytes();
    out->digest = index->what.digest();
    out->bucket = index->what.description().bucket.c_str();
    out->json = index->json.c_str();
    return {};
  });
}

dataflux_status dataflux_shard_index_shard(const dataflux_shard_index* index, uint64_t number,
                                           dataflux_indexed_shard* out, size_t shard_size,
                                           dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (index == nullptr) return missing("index");
    if (out == nullptr) return missing("out");
    if (shard_size < sizeof *out) return error(errc::invalid_argument, "shard_size is too small");
    std::memset(static_cast<void*>(out), 0, shard_size);
    const auto shard = index->what.shard(number);
    if (!shard) return shard.error();
    dataflux_c::put_row(*shard, *out);
    return {};
  });
}

dataflux_status dataflux_shard_index_samples(const dataflux_shard_index* index,
                                             const uint64_t* numbers, size_t count,
                                             const dataflux_sample_columns* columns,
                                             dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (index == nullptr) return missing("index");
    if (numbers == nullptr && count > 0) return missing("numbers");
    const auto into = dataflux_c::options_of(columns);
    if (!into) return into.error();
    for (size_t i = 0; i < count; ++i) {
      const auto sample = index->what.sample(numbers[i]);
      if (!sample) return sample.error();
      dataflux_c::put_sample(*sample, *into, i);
    }
    return {};
  });
}

dataflux_status dataflux_shard_index_fields(const dataflux_shard_index* index, uint64_t number,
                                            dataflux_sample_field* fields, size_t room,
                                            size_t* count, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (count == nullptr) return missing("count");
    *count = 0;
    if (index == nullptr) return missing("index");
    if (fields == nullptr && room > 0) return missing("fields");
    const auto sample = index->what.sample(number);
    if (!sample) return sample.error();
    for (size_t k = 0; k < std::min(room, sample->members); ++k) {
      const dataflux::indexed_member member = sample->member(k);
      fields[k] = dataflux_c::field_of(member.field, member.offset, member.size);
    }
    *count = sample->members;
    return {};
  });
}

dataflux_status dataflux_shard_index_find(const dataflux_shard_index* index, const char* key,
                                          size_t key_size, uint64_t* numbers, size_t room,
                                          size_t* count, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (count == nullptr) return missing("count");
    *count = 0;
    if (index == nullptr) return missing("index");
    if (key == nullptr && key_size > 0) return missing("key");
    if (numbers == nullptr && room > 0) return missing("numbers");
    const auto found = index->what.find({key, key_size});
    if (!found) return found.error();
    std::copy_n(found->begin(), std::min(room, found->size()), numbers);
    *count = found->size();
    return {};
  });
}

dataflux_status dataflux_shard_index_split(const dataflux_shard_index* index, uint64_t number,
                                           const void* data, size_t size,
                                           dataflux_sample_field* fields, size_t field_room,
                                           size_t* field_count, char* key, size_t key_room,
                                           size_t* key_size, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (field_count == nullptr) return missing("field_count");
    if (key_size == nullptr) return missing("key_size");
    *field_count = *key_size = 0;
    if (index == nullptr) return missing("index");
    if (data == nullptr && size > 0) return missing("data");
    if (fields == nullptr && field_room > 0) return missing("fields");
    if (key == nullptr && key_room > 0) return missing("key");
    const dataflux::bytes_view bytes{static_cast<const std::byte*>(data), size};
    const auto parts = dataflux::split_sample(index->what, number, bytes);
    if (!parts) return parts.error();
    for (size_t k = 0; k < std::min(field_room, parts->fields.size()); ++k) {
      const dataflux::sample_field& field = parts->fields[k];
      const auto offset = static_cast<std::uint64_t>(field.bytes.data() - bytes.data());
      fields[k] = dataflux_c::field_of(field.name, offset, field.bytes.size());
    }
    std::copy_n(parts->key.begin(), std::min(key_room, parts->key.size()), key);
    *field_count = parts->fields.size();
    *key_size = parts->key.size();
    return {};
  });
}
