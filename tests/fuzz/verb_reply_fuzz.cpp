#include <dataflux/gcs/detail/bucket_verbs.hpp>
#include <dataflux/gcs/detail/change_verbs.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>
#include <dataflux/gcs/detail/head_facts.hpp>
#include <dataflux/gcs/detail/list_verb.hpp>
#include <dataflux/gcs/detail/multipart_verbs.hpp>
#include <dataflux/gcs/detail/object_verbs.hpp>
#include <dataflux/gcs/detail/resumable_verbs.hpp>

#include <fuzz/require.hpp>
#include <fuzz/verb_reply_fuzz.hpp>

#include <optional>
#include <string>
#include <vector>

namespace {

namespace gcs = dataflux::detail::gcs;

template <class T>
void require_error(const dataflux::result<T>& r) {
  require(r.error().code() != dataflux::errc::ok && !r.error().message().empty());
}

void check_listing(const gcs::whole_reply& reply) {
  const dataflux::list_page_request asked{
      .bucket = "bkt", .prefix = "p/", .delimiter = "/", .page_token = "t"};
  const auto page = gcs::list_verb::parse(asked, {}, reply);
  if (!page) return require_error(page);
  require(page->next_page_token != asked.page_token);
  std::string_view before;
  for (const auto row : page->objects) {
    require(row.name.starts_with("p/") && row.name > before && row.generation >= 0);
    before = row.name;
  }
  for (const auto& prefix : page->prefixes) require(prefix.starts_with("p/"));
}

void check_object(const gcs::whole_reply& reply) {
  const dataflux::insert_request asked{
      .bucket = "bkt", .object = "o", .data = dataflux::as_bytes("123456789")};
  gcs::insert_body sent;
  sent.crc32c = 0xE3069283U;
  const auto stored = gcs::insert_verb::parse(asked, sent, reply);
  if (!stored) return require_error(stored);
  require(stored->name == "o" && stored->bucket == "bkt" && stored->size == 9);
  require(stored->crc32c == 0xE3069283U && stored->generation >= 0);
}

void check_changes(const gcs::whole_reply& reply) {
  const auto made =
      gcs::compose_verb::parse({.bucket = "bkt", .object = "o", .crc32c = 0xE3069283U}, {}, reply);
  if (!made) require_error(made);
  require(!made || (made->name == "o" && made->crc32c == 0xE3069283U));

  gcs::rewrite_progress at{.token = "t", .copied = 3};
  const auto copied = gcs::rewrite_verb::parse({.bucket = "bkt", .object = "o"}, at, reply);
  if (!copied) return require_error(copied);
  // It either ends, with the object asked for, or comes further.
  require(*copied ? (**copied).name == "o" : at.copied > 3 && !at.token.empty());
}

void check_lists(const gcs::whole_reply& reply) {
  const auto parts = gcs::list_parts_verb::parse({.marker = 1}, {}, reply);
  if (!parts) require_error(parts);
  std::uint32_t last = 1;
  for (const auto& part : parts ? parts->parts : std::vector<dataflux::listed_part>{}) {
    require(part.part_number > last && !part.etag.empty());
    last = part.part_number;
  }
  require(!parts || parts->next_marker == 0 || parts->next_marker > 1);

  const auto uploads = gcs::list_uploads_verb::parse({.prefix = "p/"}, {}, reply);
  if (!uploads) return require_error(uploads);
  for (const auto& upload : uploads->uploads) {
    require(upload.object.starts_with("p/") && !upload.upload_id.empty());
  }
  require(uploads->next_upload_marker.empty() || !uploads->next_object_marker.empty());
}

void check_buckets(const gcs::whole_reply& reply) {
  const auto bucket = gcs::bucket_verb::parse({.bucket = "bkt"}, {}, reply);
  if (!bucket) require_error(bucket);
  require(!bucket || bucket->name == "bkt");
  const dataflux::list_buckets_request asked{.prefix = "b", .page_token = "t"};
  const auto page = gcs::list_buckets_verb::parse(asked, {}, reply);
  if (!page) require_error(page);
  require(!page || page->next_page_token != asked.page_token);
  for (const auto& one : page ? page->buckets : std::vector<dataflux::bucket_metadata>{}) {
    require(one.name.starts_with("b") && one.metageneration >= 0);
  }
  const auto layout = gcs::storage_layout_verb::parse({.bucket = "bkt"}, {}, reply);
  if (!layout) require_error(layout);
  require(!layout || layout->location_type != "zone");
  const auto granted =
      gcs::test_permissions_verb::parse({.bucket = "bkt", .permissions = {"a.b"}}, {}, reply);
  if (!granted) return require_error(granted);
  require(granted->size() <= 1);
}

/// What has no value: a success, unless the document is an error's, a page, or another's.
void check_endings(const gcs::whole_reply& reply) {
  const auto fit = gcs::check_document(reply);
  if (!fit) require_error(fit);
  require(gcs::remove_verb::parse({}, {}, reply).has_value() == fit.has_value());
  require(gcs::multipart_abort_verb::parse({}, {}, reply).has_value() == fit.has_value());
  require(gcs::resumable_cancel_verb::parse({}, {}, reply).has_value() == fit.has_value());
  gcs::reply_facts cancelled;
  cancelled.status = 499;
  require(gcs::resumable_cancel_verb::parse({}, {}, {cancelled, reply.body, 0}).has_value());
  if (fit) return;
  // And then it is no success of any verb.
  require(!gcs::stat_verb::parse({.bucket = "bkt", .object = "o"}, {}, reply));
  require(!gcs::list_verb::parse({.bucket = "bkt"}, {}, reply));
  require(!gcs::test_permissions_verb::parse({.bucket = "bkt"}, {}, reply));
  require(!gcs::upload_part_verb::parse({}, {}, reply));
}

/// A part's reply is its head: the input as the ETag, and as the checksum.
void check_part(const gcs::whole_reply& reply) {
  const std::string text{dataflux::as_text(reply.body)};
  dataflux::detail::http::reply_head head;
  head.assign(200, {{"ETag", text}, {"x-goog-hash", text}, {"Location", text}}, std::nullopt);
  gcs::reply_facts facts;
  gcs::gather_facts(head, facts);
  const dataflux::upload_part_request sent{.part_number = 3,
                                           .data = dataflux::as_bytes("123456789")};
  const auto part = gcs::upload_part_verb::parse(sent, {0xE3069283U}, {facts, {}, 0});
  if (!part) return require_error(part);
  require(part->etag == text && !text.empty() && part->part_number == 3 && part->size == 9);
}

void check_redirect(const gcs::whole_reply& reply) {
  dataflux::detail::http::reply_head head;
  head.assign(302, {{"Location", dataflux::as_text(reply.body)}}, std::nullopt);
  gcs::reply_facts facts;
  gcs::gather_facts(head, facts);
  const std::string& origin = facts.redirect;
  const std::size_t host = origin.find("://");
  require(origin.empty() || host != std::string::npos);
  require(origin.empty() || origin.find_first_of("/?#@", host + 3) == std::string::npos);
}

void check_patched(const gcs::whole_reply& reply) {
  const auto patched = gcs::patch_verb::parse({.bucket = "bkt", .object = "o"}, {}, reply);
  if (!patched) require_error(patched);
  require(!patched || patched->name == "o");
  const auto moved =
      gcs::move_verb::parse({.bucket = "bkt", .source = "s", .object = "o"}, {}, reply);
  require(moved.has_value() == patched.has_value());
}

void check_sessions(const gcs::whole_reply& reply) {
  static const auto session =
      dataflux::resumable_session::from_url("https://h/x?upload_id=SECRET-42", "bkt", "o").value();
  // The reply's body as the Range of a reply of 308, too.
  dataflux::detail::http::reply_head head;
  head.assign(308, {{"Range", dataflux::as_text(reply.body)}}, std::nullopt);
  gcs::chunk_cursor at{.from = 4};
  gcs::resumable_chunk_verb::read_head({}, head, at);
  const dataflux::resumable_chunk_request sent{
      .session = session, .offset = 4, .data = dataflux::as_bytes("56789"), .last = true};
  for (const int status : {308, 200}) {
    gcs::reply_facts facts;
    facts.status = status;
    const auto done = gcs::resumable_chunk_verb::parse(sent, at, {facts, reply.body, 0});
    if (!done) {
      require_error(done);
      // What the service repeats of it is blanked out by the call.
      require(dataflux::as_text(reply.body).find("SECRET") != std::string_view::npos ||
              done.error().to_string().find("SECRET") == std::string::npos);
    } else if (*done) {
      require((*done)->persisted == 9 && (*done)->object && (*done)->object->size == 9);
    }
    require(at.from >= 4 && at.from <= 9);
  }
  gcs::reply_facts facts;
  facts.status = 308;
  gcs::chunk_cursor asking{.asks = true};
  gcs::resumable_status_verb::read_head({}, head, asking);
  const auto status =
      gcs::resumable_status_verb::parse({.session = session}, asking, {facts, reply.body, 0});
  require(status.has_value() == asking.kept.has_value());
  if (status) require(status->persisted == *asking.kept && !status->object);
  gcs::session_start start{.location = std::string(dataflux::as_text(reply.body))};
  const auto begun =
      gcs::resumable_start_verb::parse({.bucket = "bkt", .object = "o"}, start, reply);
  if (!begun) return require_error(begun);
  require(begun->valid() && begun->object() == "o");
}

}  // namespace

void fuzz_verb_reply(std::span<const std::byte> input) {
  gcs::reply_facts facts;
  facts.status = 200;
  const gcs::whole_reply reply{facts, input, input.size()};
  check_listing(reply);
  check_object(reply);

  const auto upload = gcs::multipart_initiate_verb::parse({}, {}, reply);
  if (!upload) {
    require_error(upload);
  } else {
    require(!upload->upload_id.empty());
  }
  const auto object = gcs::multipart_complete_verb::parse({}, {}, reply);
  if (!object) require_error(object);
  require(!upload || !object);  // no document is both
  check_changes(reply);
  check_lists(reply);
  check_buckets(reply);
  check_sessions(reply);
  check_endings(reply);
  check_part(reply);
  check_redirect(reply);
  check_patched(reply);
}
