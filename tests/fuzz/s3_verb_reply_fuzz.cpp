#include <dataflux/s3/detail/bucket_verb.hpp>
#include <dataflux/s3/detail/copy_part_verb.hpp>
#include <dataflux/s3/detail/copy_verb.hpp>
#include <dataflux/s3/detail/delete_verb.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/list_verb.hpp>
#include <dataflux/s3/detail/multipart_verbs.hpp>
#include <dataflux/s3/detail/object_verbs.hpp>

#include <fuzz/require.hpp>
#include <fuzz/s3_verb_reply_fuzz.hpp>

#include <string>

namespace s3_verb_reply_body {
namespace {

namespace s3 = dataflux::detail::s3;

template <class T>
void require_error(const dataflux::result<T>& r) {
  require(r.error().code() != dataflux::errc::ok && !r.error().message().empty());
}

void check_listing(const s3::whole_reply& reply, const dataflux::list_page_request& asked) {
  const auto page = s3::list_verb::parse(asked, {}, reply);
  if (!page) return require_error(page);
  require(page->next_page_token.empty() || page->next_page_token != asked.page_token);
  std::string_view before;
  for (const auto row : page->objects) {
    require(row.name.starts_with(asked.prefix) && row.name > before && row.generation >= 0);
    require(row.name >= asked.start_offset);
    require(asked.end_offset.empty() || row.name < asked.end_offset);
    before = row.name;
  }
  for (const auto& prefix : page->prefixes) require(prefix.starts_with(asked.prefix));
}

void check_uploads(const s3::whole_reply& reply) {
  const auto upload = s3::multipart_initiate_verb::parse({}, {}, reply);
  upload ? require(!upload->upload_id.empty()) : require_error(upload);
  s3::complete_state state{.whole = {0xE3069283U, 9}, .composite = "4waSgw==-1"};
  const auto object = s3::multipart_complete_verb::parse({.object = "o"}, state, reply);
  if (!object) require_error(object);
  require(!object || (*object && (**object).name == "o" && (**object).size == 9));
  require(!upload || !object);  // no document is both
  const auto parts = s3::list_parts_verb::parse({.marker = 1}, {}, reply);
  if (!parts) require_error(parts);
  require(!parts || parts->next_marker == 0 || parts->next_marker > 1);
  const auto uploads = s3::list_uploads_verb::parse({.prefix = "p/"}, {}, reply);
  if (!uploads) return require_error(uploads);
  for (const auto& one : uploads->uploads) require(one.object.starts_with("p/"));
}

void check_all(std::span<const std::byte> input) {
  const s3::reply_facts facts{.status = 200, .etag = "e", .generation = 1};
  const s3::whole_reply reply{facts, input, input.size()};
  check_listing(reply, {.bucket = "bkt", .prefix = "p/", .delimiter = "/", .page_token = "tT"});
  check_listing(reply, {.bucket = "bkt", .start_offset = "p/a", .end_offset = "p/z"});
  check_uploads(reply);

  s3::copy_state copied;
  copied.source.emplace();
  const auto copy = s3::copy_verb::parse({.bucket = "bkt", .object = "o"}, copied, reply);
  copy ? require((**copy).name == "o") : require_error(copy);

  const s3::copy_part_request piece{.bucket = "bkt", .object = "o", .length = 9};
  const auto copied_part = s3::copy_part_verb::parse(piece, {}, reply);
  copied_part ? require(copied_part->size == 9) : require_error(copied_part);

  const dataflux::remove_many_request asked{.bucket = "bkt", .objects = {{"o"}}};
  const auto stay = s3::delete_verb::parse(asked, {}, reply);
  if (!stay) require_error(stay);
  for (const auto& one : stay ? *stay : dataflux::remove_many_request::value{}) {
    require(one.index == 0 && one.why.object() == "o");
  }
  s3::bucket_state bucket;
  bucket.found.emplace();
  const auto told = s3::bucket_verb::parse({.bucket = "bkt"}, bucket, reply);
  if (!told) require_error(told);

  s3::known_tag tag;
  const bool fit = s3::check_document(reply).has_value();
  require(s3::remove_verb::parse({}, tag, reply).has_value() == fit);
  require(s3::multipart_abort_verb::parse({}, {}, reply).has_value() == fit);
}

}  // namespace
}  // namespace s3_verb_reply_body

void fuzz_s3_verb_reply(std::span<const std::byte> input) { s3_verb_reply_body::check_all(input); }
