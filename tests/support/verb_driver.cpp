#include <dataflux/codec/crc32c.hpp>

#include <support/verb_driver.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace gcs = dataflux::gcs;
using dataflux::as_bytes;
using dataflux::result;

std::string pattern(std::size_t size, unsigned seed) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = static_cast<char>((i * 2654435761U + seed) >> 13U);
  }
  return out;
}

const std::string old_bytes = pattern(100000, 1);
const std::string new_bytes = pattern(150000, 2);

namespace {

const std::string object{stage_object};

std::uint32_t crc_of(const std::string& bytes) { return dataflux::crc32c(as_bytes(bytes)); }

/// The generation that a write replaces, when it is to say so.
std::optional<std::int64_t> match(const stage& s, bool conditional) {
  return conditional ? std::optional{s.generation} : std::nullopt;
}

/// `verify` says what is wrong with the value, or nothing.
template <class T, class Verify>
verb_outcome verified(result<T> got, Verify verify) {
  verb_outcome out;
  if (got) {
    out.wrong = verify(*got);
  } else {
    out.failure = std::move(got).error();
  }
  return out;
}

verb_outcome verified(result<void> got) {
  verb_outcome out;
  if (!got) out.failure = std::move(got).error();
  return out;
}

/// What a write says that it has made is what is there.
verb_outcome verified_write(const stage& s, result<dataflux::object_metadata> got) {
  return verified(std::move(got), [&s](const dataflux::object_metadata& made) -> std::string {
    if (made.size != new_bytes.size() || made.crc32c != crc_of(new_bytes)) return "other bytes";
    const auto now = s.server.service().store().get(s.bucket, object, {});
    return now->generation == made.generation ? "" : "another generation";
  });
}

verb_outcome list(stage& s) {
  return verified(
      s.client.run(dataflux::list_page_request{.bucket = s.bucket, .prefix = "folder/"}),
      [](const dataflux::list_page& page) -> std::string {
        const bool right = page.objects.size() == 1 && page.objects.name(0) == object &&
                           page.next_page_token.empty();
        return right ? "" : "another page";
      });
}

verb_outcome stat(stage& s, bool conditional) {
  return verified(s.client.run(dataflux::stat_request{
                      .bucket = s.bucket,
                      .object = object,
                      .conditions = {.if_generation_match = match(s, conditional)}}),
                  [&s](const dataflux::object_metadata& found) -> std::string {
                    const bool right = found.size == old_bytes.size() &&
                                       found.generation == s.generation &&
                                       found.crc32c == crc_of(old_bytes);
                    return right ? "" : "other metadata";
                  });
}

verb_outcome media(stage& s, bool conditional) {
  std::vector<std::byte> memory(old_bytes.size());
  dataflux::span_sink sink(memory);
  return verified(s.client.read({.bucket = s.bucket,
                                 .object = object,
                                 .conditions = {.if_generation_match = match(s, conditional)}},
                                sink),
                  [&](const dataflux::read_summary& read) -> std::string {
                    const bool right = dataflux::as_text(sink.filled()) == old_bytes &&
                                       read.verified && read.generation == s.generation &&
                                       read.crc32c == crc_of(old_bytes);
                    return right ? "" : "other bytes";
                  });
}

verb_outcome insert(stage& s, bool conditional) {
  return verified_write(s, s.client.run(dataflux::insert_request{
                               .bucket = s.bucket,
                               .object = object,
                               .data = as_bytes(new_bytes),
                               .conditions = {.if_generation_match = match(s, conditional)},
                               .last_writer_wins = s.last_writer_wins}));
}

verb_outcome remove(stage& s, bool conditional) {
  return verified(s.client.run(
      dataflux::remove_request{.bucket = s.bucket,
                               .object = object,
                               .conditions = {.if_generation_match = match(s, conditional)},
                               .last_writer_wins = s.last_writer_wins}));
}

verb_outcome compose(stage& s, bool conditional) {
  return verified_write(s, s.client.run(dataflux::compose_request{
                               .bucket = s.bucket,
                               .object = object,
                               .sources = {{"head"}, {"tail"}},
                               .crc32c = crc_of(new_bytes),
                               .conditions = {.if_generation_match = match(s, conditional)},
                               .last_writer_wins = s.last_writer_wins}));
}

/// What is moved is known by its checksum, or, where the last writer wins, by its time alone.
verb_outcome move(stage& s, bool conditional) {
  dataflux::move_request r{.bucket = s.bucket,
                           .source = "source",
                           .object = object,
                           .conditions = {.if_generation_match = match(s, conditional)},
                           .last_writer_wins = s.last_writer_wins};
  if (!s.last_writer_wins) r.crc32c = crc_of(new_bytes);
  return verified_write(s, s.client.run(r));
}

verb_outcome rewrite(stage& s, bool conditional) {
  return verified_write(s, s.client.run(dataflux::rewrite_request{
                               .source_bucket = s.bucket,
                               .source = "source",
                               .bucket = s.bucket,
                               .object = object,
                               .conditions = {.if_generation_match = match(s, conditional)},
                               .last_writer_wins = s.last_writer_wins}));
}

verb_outcome patch(stage& s, bool conditional) {
  dataflux::patch_request r{.bucket = s.bucket, .object = object, .metadata = {{"key", "patched"}}};
  r.last_writer_wins = s.last_writer_wins;
  if (conditional) r.conditions.if_metageneration_match = 1;
  return verified(s.client.run(r), [&s](const dataflux::object_metadata& now) -> std::string {
    const auto there = s.server.service().store().get(s.bucket, object, {});
    const bool right = now.generation == s.generation &&
                       now.metageneration == there->metageneration &&
                       now.metadata == decltype(now.metadata){{"key", "patched"}};
    return right ? "" : "other metadata";
  });
}

verb_outcome initiate(stage& s) {
  return verified(
      s.client.run(dataflux::multipart_initiate_request{.bucket = s.bucket, .object = object}),
      [&s](const dataflux::multipart_upload& upload) -> std::string {
        const auto open = s.server.service().uploads().list(s.bucket);
        const bool known = std::any_of(open.begin(), open.end(),
                                       [&](const auto& u) { return u.id == upload.upload_id; });
        return known ? "" : "an upload that is not there";
      });
}

verb_outcome part(stage& s) {
  return verified(
      s.client.run(dataflux::upload_part_request{.bucket = s.bucket,
                                                 .object = object,
                                                 .upload_id = s.upload_id,
                                                 .part_number = 1,
                                                 .data = as_bytes(new_bytes)}),
      [&s](const dataflux::uploaded_part& given) -> std::string {
        const auto upload = s.server.service().uploads().get(s.bucket, object, s.upload_id);
        const auto kept = upload.parts.find(1);
        const bool right = kept != upload.parts.end() && kept->second.etag == given.etag &&
                           kept->second.data.to_string() == new_bytes;
        return right ? "" : "another part";
      });
}

verb_outcome complete(stage& s) {
  return verified_write(s,
                        s.client.run(dataflux::multipart_complete_request{.bucket = s.bucket,
                                                                          .object = object,
                                                                          .upload_id = s.upload_id,
                                                                          .parts = {s.part},
                                                                          .mark = s.mark}));
}

verb_outcome abort(stage& s) {
  return verified(s.client.run(dataflux::multipart_abort_request{
      .bucket = s.bucket, .object = object, .upload_id = s.upload_id}));
}

verb_outcome list_parts(stage& s) {
  return verified(s.client.run(dataflux::list_parts_request{
                      .bucket = s.bucket, .object = object, .upload_id = s.upload_id}),
                  [&s](const dataflux::part_page& page) -> std::string {
                    const bool right = page.parts.size() == 1 &&
                                       page.parts[0].etag == s.part.etag &&
                                       page.parts[0].size == new_bytes.size();
                    return right ? "" : "other parts";
                  });
}

verb_outcome list_uploads(stage& s) {
  return verified(s.client.run(dataflux::list_uploads_request{.bucket = s.bucket}),
                  [&s](const dataflux::upload_page& page) -> std::string {
                    const bool right =
                        page.uploads.size() == 1 && page.uploads[0].upload_id == s.upload_id;
                    return right ? "" : "other uploads";
                  });
}

verb_outcome start(stage& s, bool conditional) {
  return verified(s.client.run(dataflux::resumable_start_request{
                      .bucket = s.bucket,
                      .object = object,
                      .conditions = {.if_generation_match = match(s, conditional)}}),
                  [](const dataflux::resumable_session& session) -> std::string {
                    return session.valid() && session.url().find("upload_id=") != std::string::npos
                               ? ""
                               : "no session";
                  });
}

verb_outcome chunk(stage& s) {
  auto got = s.client.run(dataflux::resumable_chunk_request{.session = s.session,
                                                            .data = as_bytes(new_bytes),
                                                            .last = true,
                                                            .crc32c = crc_of(new_bytes)});
  if (!got) return {.failure = std::move(got).error()};
  if (!got->object || got->persisted != new_bytes.size()) return {.wrong = "no object"};
  return verified_write(s, *std::move(got->object));
}

verb_outcome status(stage& s) {
  return verified(s.client.run(dataflux::resumable_status_request{.session = s.session}),
                  [](const dataflux::resumable_progress& at) -> std::string {
                    return at.persisted == 0 && !at.object ? "" : "bytes that were never sent";
                  });
}

verb_outcome cancel(stage& s) {
  return verified(s.client.run(dataflux::resumable_cancel_request{.session = s.session}));
}

verb_outcome bucket(stage& s) {
  return verified(s.client.run(dataflux::bucket_request{.bucket = s.bucket}),
                  [&s](const dataflux::bucket_metadata& b) -> std::string {
                    return b.name == s.bucket ? "" : "another bucket";
                  });
}

verb_outcome buckets(stage& s) {
  return verified(s.client.run(dataflux::list_buckets_request{.project = "p", .prefix = s.bucket}),
                  [&s](const dataflux::bucket_page& page) -> std::string {
                    const bool found =
                        std::any_of(page.buckets.begin(), page.buckets.end(),
                                    [&](const auto& b) { return b.name == s.bucket; });
                    return found && page.next_page_token.empty() ? "" : "other buckets";
                  });
}

verb_outcome layout(stage& s) {
  return verified(
      s.client.run(dataflux::storage_layout_request{.bucket = s.bucket}),
      [](const dataflux::storage_layout& l) -> std::string {
        return l.kind == dataflux::bucket_kind::flat && !l.location.empty() ? "" : "another layout";
      });
}

verb_outcome permissions(stage& s) {
  return verified(s.client.run(dataflux::test_permissions_request{
                      .bucket = s.bucket, .permissions = {"storage.objects.get"}}),
                  [](const std::vector<std::string>& granted) -> std::string {
                    return granted.size() == 1 ? "" : "other permissions";
                  });
}

verb_outcome bulk_restore(stage& s) {
  return verified(
      s.client.run(dataflux::bulk_restore_request{.bucket = s.bucket, .match_globs = {"gone"}}),
      [&s](const dataflux::restored_objects& done) -> std::string {
        static_cast<void>(s.server.service().store().get(s.bucket, "gone", {}));
        return done.restored == 1 ? "" : "another count";
      });
}

/// By IAM, as the emulator's own account.
verb_outcome sign_blob(stage& s) {
  const std::string text = "text to sign";
  return verified(s.client.run(dataflux::detail::gcs::sign_blob_request{
                      .account = s.server.tokens().client_email(), .payload = text}),
                  [&](const std::string& signature) -> std::string {
                    return s.server.tokens().key().verifies(text, signature) ? ""
                                                                             : "another signature";
                  });
}

/// Of the metadata server, which the emulator is, too.
verb_outcome machine_account(stage& s) {
  const auto at = dataflux::detail::http::parse_url(s.server.endpoint()).value();
  return verified(
      s.client.run(dataflux::detail::gcs::machine_account_request{
          std::make_shared<const dataflux::detail::http::origin>(at.origin), "default", {}}),
      [&](const std::string& account) -> std::string {
        return account == s.server.tokens().client_email() ? "" : "another account";
      });
}

std::vector<verb_driver> all_drivers() {
  using enum stage_state;
  std::vector<verb_driver> out;
  const auto one = [&out](std::string_view verb, std::string_view on_wire, bool body,
                          stage_state after, verb_outcome (*run)(stage&)) {
    out.push_back({verb, on_wire, false, false, body, after, run});
  };
  const auto two = [&out](std::string_view verb, bool body, stage_state after,
                          verb_outcome (*run)(stage&, bool)) {
    for (const bool conditional : {false, true}) {
      out.push_back({verb, verb, conditional, false, body, after,
                     [run, conditional](stage& s) { return run(s, conditional); }});
    }
  };
  const auto three = [&](std::string_view verb, bool body, stage_state after,
                         verb_outcome (*run)(stage&, bool)) {
    two(verb, body, after, run);
    out.push_back({verb, verb, false, true, body, after, [run](stage& s) {
                     s.last_writer_wins = true;
                     return run(s, false);
                   }});
  };
  one("objects.list", "objects.list", true, old_object, list);
  two("objects.get", true, old_object, stat);
  two("objects.media", true, old_object, media);
  three("objects.insert", true, new_object, insert);
  three("objects.delete", false, nothing, remove);
  three("objects.compose", true, new_object, compose);
  three("objects.move", true, new_object, move);
  three("objects.patch", true, patched, patch);
  three("objects.rewrite", true, new_object, rewrite);
  one("objects.bulkRestore", "objects.bulkRestore", true, old_object, bulk_restore);
  one("multipart.initiate", "multipart.initiate", true, old_object, initiate);
  one("multipart.part", "multipart.part", false, old_object, part);
  one("multipart.complete", "multipart.complete", true, new_object, complete);
  one("multipart.abort", "multipart.abort", false, old_object, abort);
  one("multipart.parts", "multipart.list_parts", true, old_object, list_parts);
  one("multipart.uploads", "multipart.list", true, old_object, list_uploads);
  two("resumable.start", false, old_object, start);
  one("resumable.chunk", "resumable.chunk", true, new_object, chunk);
  one("resumable.status", "resumable.status", false, old_object, status);
  one("resumable.cancel", "resumable.cancel", false, old_object, cancel);
  one("buckets.get", "buckets.get", true, old_object, bucket);
  one("buckets.list", "buckets.list", true, old_object, buckets);
  one("buckets.storageLayout", "buckets.storageLayout", true, old_object, layout);
  one("buckets.testIamPermissions", "buckets.testPermissions", true, old_object, permissions);
  one("iam.signBlob", "iam.signBlob", true, old_object, sign_blob);
  one("metadata.email", "metadata", true, old_object, machine_account);
  return out;
}

void begin_upload(stage& s, gcs::client& helper) {
  const auto upload =
      helper.run(dataflux::multipart_initiate_request{.bucket = s.bucket, .object = object})
          .value();
  s.upload_id = upload.upload_id;
  s.mark = upload.mark;
  s.part = helper
               .run(dataflux::upload_part_request{.bucket = s.bucket,
                                                  .object = object,
                                                  .upload_id = s.upload_id,
                                                  .part_number = 1,
                                                  .data = as_bytes(new_bytes)})
               .value();
}

}  // namespace

std::string_view to_string(stage_state state) noexcept {
  constexpr std::array<std::string_view, 5> names{"the old object", "the patched object",
                                                  "the new object", "nothing", "something else"};
  return names[static_cast<std::size_t>(state)];
}

stage_state stage::state() const {
  const auto bytes = server.get(bucket, object);
  if (!bytes) return stage_state::nothing;
  if (moves && server.get(bucket, "source").has_value() == (*bytes == new_bytes)) {
    return stage_state::other;
  }
  if (*bytes == new_bytes) return stage_state::new_object;
  const auto now = server.service().store().get(bucket, object, {});
  if (*bytes != old_bytes || now->generation != generation) return stage_state::other;
  return now->metageneration == 1 ? stage_state::old_object : stage_state::patched;
}

std::size_t stage::writes() const {
  std::size_t count = 0;
  for (const auto& o :
       server.service().store().list(bucket, {.prefix = object, .versions = true}).items) {
    count += static_cast<std::size_t>(o->metageneration - (o->generation == generation ? 1 : 0));
  }
  return count;
}

std::size_t stage::open_uploads() const { return server.counters().uploads_open; }

bool verb_driver::safe() const {
  if (last_writer) return true;
  const auto when = rule().safe;
  if (when == dataflux::detail::gcs::repeat_condition::always) return true;
  return when != dataflux::detail::gcs::repeat_condition::never && conditional;
}

std::string verb_driver::name() const { return std::string(verb) + (conditional ? " if" : ""); }

int verb_driver::looks() const {
  if (!rule().looks && !last_writer) return 0;
  // What a move or a rewrite has made is told by its source, too.
  return verb == "objects.move" || verb == "objects.rewrite" ? 2 : 1;
}

const std::vector<verb_driver>& verb_drivers() {
  static const std::vector<verb_driver> all = all_drivers();
  return all;
}

namespace {

/// An object from before any call, by the service's clock; gives its generation.
std::int64_t put_earlier(emulator::server& server, const stage& s, const std::string& name,
                         std::string bytes) {
  auto& store = server.service().store();
  store.seed(s.bucket, {.name = name, .data = emulator::content(std::move(bytes))},
             std::chrono::system_clock::now() - std::chrono::hours(1));
  return store.get(s.bucket, name, {})->generation;
}

}  // namespace

stage set_stage(emulator::server& server, gcs::client& helper, gcs::client& subject,
                const verb_driver& verb, std::string bucket) {
  stage s{server, subject, std::move(bucket)};
  // Generations stay, so that writes() sees each.
  server.service().store().create_bucket(s.bucket, {.versioning = true});
  s.generation = put_earlier(server, s, object, old_bytes);
  if (verb.verb == "objects.compose") {
    server.put(s.bucket, "head", new_bytes.substr(0, 60000));
    server.put(s.bucket, "tail", new_bytes.substr(60000));
  } else if (verb.verb == "objects.move" || verb.verb == "objects.rewrite") {
    put_earlier(server, s, "source", new_bytes);
    s.moves = verb.verb == "objects.move";
  } else if (verb.verb == "objects.bulkRestore") {
    auto& store = server.service().store();
    store.configure(s.bucket, {},
                    [](auto& settings) { settings.soft_delete = std::chrono::hours(1); });
    const std::int64_t gone = put_earlier(server, s, "gone", new_bytes);
    emulator::preconditions that;
    that.generation = gone;
    store.remove(s.bucket, "gone", that);
  } else if (verb.verb.starts_with("multipart.") && verb.verb != "multipart.initiate") {
    begin_upload(s, helper);
  } else if (verb.verb.starts_with("resumable.") && verb.verb != "resumable.start") {
    s.session =
        helper.run(dataflux::resumable_start_request{.bucket = s.bucket, .object = object}).value();
  }
  return s;
}

gcs::client_options quick_options(const emulator::server& server,
                                  std::chrono::milliseconds timeout) {
  gcs::client_options o{.endpoint = server.endpoint(), .emulator = true};
  o.retry = {.max_attempts = 4,
             .first = std::chrono::milliseconds(1),
             .cap = std::chrono::milliseconds(4)};
  o.stall_timeout = o.first_byte_timeout = o.complete_timeout = timeout;
  o.transport.io_threads = 1;
  return o;
}
