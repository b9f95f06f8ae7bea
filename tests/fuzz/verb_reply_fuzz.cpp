#include <dataflux/gcs/list_verb.hpp>
#include <dataflux/gcs/multipart_verbs.hpp>
#include <dataflux/gcs/object_verbs.hpp>

#include <fuzz/verb_reply_fuzz.hpp>

#include <cstdlib>

namespace {

namespace gcs = dataflux::gcs;

void require(bool ok) {
  if (!ok) std::abort();
}

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
}
