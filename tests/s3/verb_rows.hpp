#pragma once

#include <s3/fixture.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Every verb of s3::client, each ready to be run against the emulator on a stage of its own.
namespace s3_verbs {

using dataflux::as_bytes;
using dataflux::errc;
using dataflux::result;
namespace s3 = dataflux::s3;

inline constexpr std::size_t piece = 20'000;
inline const std::string old_bytes(5 * piece, 'o');
inline const std::string new_bytes(150'000, 'n');

/// What a cell has: a bucket with the object "o", and what the verb needs to have been begun.
struct stage {
  s3::client& client;
  std::string bucket;
  std::int64_t generation{0};
  std::string upload_id{};
  std::string mark{};
  dataflux::uploaded_part part{};
};

template <class T>
result<void> ended(const result<T>& outcome) {
  if (!outcome) return outcome.error();
  return {};
}

enum class effect { none, makes, removes };
enum class condition { none, absent, state, last_writer };

inline dataflux::preconditions conditions(const stage& s, condition c) {
  if (c == condition::absent) return {.if_generation_match = 0};
  if (c == condition::state) return {.if_generation_match = s.generation};
  return {};
}
inline std::string target(condition c) { return c == condition::absent ? "new" : "o"; }

inline result<void> list(stage& s, condition) {
  return ended(s.client.list_page({.bucket = s.bucket}));
}
inline result<void> stat(stage& s, condition) {
  return ended(s.client.stat({.bucket = s.bucket, .object = "o"}));
}
inline result<void> read(stage& s, condition) {
  std::vector<std::byte> memory(old_bytes.size());
  dataflux::span_sink sink(memory);
  const auto got = s.client.read({.bucket = s.bucket, .object = "o"}, sink);
  if (got && dataflux::as_text(sink.filled()) != old_bytes) {
    return dataflux::error{errc::unknown, "other bytes"};
  }
  return ended(got);
}
inline result<void> insert(stage& s, condition c) {
  return ended(s.client.insert({.bucket = s.bucket,
                                .object = target(c),
                                .data = as_bytes(new_bytes),
                                .conditions = conditions(s, c),
                                .last_writer_wins = c == condition::last_writer}));
}
inline result<void> remove(stage& s, condition c) {
  return s.client.remove({.bucket = s.bucket,
                          .object = "o",
                          .conditions = conditions(s, c),
                          .last_writer_wins = c == condition::last_writer});
}
inline result<void> remove_many(stage& s, condition) {
  const auto kept =
      s.client.run(dataflux::remove_many_request{.bucket = s.bucket, .objects = {{"o"}}});
  if (kept && !kept->empty()) return kept->front().why;
  return ended(kept);
}
inline result<void> copy(stage& s, condition c) {
  return ended(
      s.client.run(dataflux::rewrite_request{.source_bucket = s.bucket,
                                             .source = "source",
                                             .bucket = s.bucket,
                                             .object = target(c),
                                             .conditions = conditions(s, c),
                                             .last_writer_wins = c == condition::last_writer}));
}
inline result<void> initiate(stage& s, condition) {
  return ended(
      s.client.run(dataflux::multipart_initiate_request{.bucket = s.bucket, .object = "new"}));
}
inline result<dataflux::uploaded_part> put_part(const stage& s, s3::client& by) {
  return by.run(dataflux::upload_part_request{.bucket = s.bucket,
                                              .object = "new",
                                              .upload_id = s.upload_id,
                                              .part_number = 1,
                                              .data = as_bytes(new_bytes)});
}
inline result<void> part(stage& s, condition) { return ended(put_part(s, s.client)); }
inline result<void> complete(stage& s, condition c) {
  return ended(s.client.run(dataflux::multipart_complete_request{.bucket = s.bucket,
                                                                 .object = "new",
                                                                 .upload_id = s.upload_id,
                                                                 .parts = {s.part},
                                                                 .mark = s.mark,
                                                                 .conditions = conditions(s, c)}));
}
inline result<void> abort(stage& s, condition) {
  return s.client.run(dataflux::multipart_abort_request{
      .bucket = s.bucket, .object = "new", .upload_id = s.upload_id});
}
inline result<void> list_parts(stage& s, condition) {
  return ended(s.client.run(
      dataflux::list_parts_request{.bucket = s.bucket, .object = "new", .upload_id = s.upload_id}));
}
inline result<void> list_uploads(stage& s, condition) {
  return ended(s.client.run(dataflux::list_uploads_request{.bucket = s.bucket}));
}
inline result<void> bucket(stage& s, condition) {
  return ended(s.client.run(dataflux::bucket_request{.bucket = s.bucket}));
}

struct verb_row {
  std::string_view verb;     ///< its row in s3::repeat_rules
  std::string_view on_wire;  ///< the emulator's name of it
  condition when;
  result<void> (*run)(stage&, condition);
  effect what{effect::none};
};

inline constexpr verb_row rows[] = {
    {"ListObjectsV2", "objects.list", condition::none, list},
    {"HeadObject", "objects.get", condition::none, stat},
    {"GetObject", "objects.media", condition::none, read},
    {"PutObject", "objects.insert", condition::none, insert, effect::makes},
    {"PutObject", "objects.insert", condition::absent, insert, effect::makes},
    {"PutObject", "objects.insert", condition::state, insert, effect::makes},
    {"PutObject", "objects.insert", condition::last_writer, insert, effect::makes},
    {"DeleteObject", "objects.delete", condition::none, remove, effect::removes},
    {"DeleteObject", "objects.delete", condition::state, remove, effect::removes},
    {"DeleteObject", "objects.delete", condition::last_writer, remove, effect::removes},
    {"DeleteObjects", "objects.deleteMany", condition::none, remove_many, effect::removes},
    {"CopyObject", "objects.copy", condition::none, copy, effect::makes},
    {"CopyObject", "objects.copy", condition::absent, copy, effect::makes},
    {"CopyObject", "objects.copy", condition::last_writer, copy, effect::makes},
    {"CreateMultipartUpload", "multipart.initiate", condition::none, initiate},
    {"UploadPart", "multipart.part", condition::none, part},
    {"CompleteMultipartUpload", "multipart.complete", condition::none, complete, effect::makes},
    {"CompleteMultipartUpload", "multipart.complete", condition::absent, complete, effect::makes},
    {"AbortMultipartUpload", "multipart.abort", condition::none, abort},
    {"ListParts", "multipart.list_parts", condition::none, list_parts},
    {"ListMultipartUploads", "multipart.list", condition::none, list_uploads},
    {"HeadBucket", "buckets.get", condition::none, bucket},
};

/// Makes the stage for a run of that verb by `subject`; `helper` is a client without faults.
inline stage set_stage(emulator::server& server, s3::client& helper, s3::client& subject,
                       const verb_row& row, std::string bucket) {
  stage s{.client = subject, .bucket = std::move(bucket)};
  server.create_bucket(s.bucket);
  for (const auto& [name, bytes] : {std::pair{"o", &old_bytes}, std::pair{"source", &new_bytes}}) {
    helper.insert({.bucket = s.bucket, .object = name, .data = as_bytes(*bytes)}).value();
  }
  s.generation = helper.stat({.bucket = s.bucket, .object = "o"})->generation;
  // What conditions are worth here is known to this client before any fault.
  if (row.when == condition::absent || row.when == condition::state) {
    subject
        .insert({.bucket = s.bucket, .object = "asked", .conditions = {.if_generation_match = 0}})
        .value();
  }
  // What this client has seen was there before its call.
  if (row.when == condition::last_writer) {
    subject.stat({.bucket = s.bucket, .object = "o"}).value();
  }
  if (row.on_wire.starts_with("multipart.") && row.verb != "CreateMultipartUpload") {
    const auto begun =
        helper.run(dataflux::multipart_initiate_request{.bucket = s.bucket, .object = "new"});
    s.upload_id = begun->upload_id;
    s.mark = begun->mark;
    s.part = put_part(s, helper).value();
  }
  return s;
}

}  // namespace s3_verbs
