#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/s3/detail/bucket_places.hpp>
#include <dataflux/s3/detail/checksum_fields.hpp>
#include <dataflux/s3/detail/error_reply.hpp>
#include <dataflux/s3/detail/head_facts.hpp>
#include <dataflux/service/detail/text.hpp>

#include <fuzz/require.hpp>
#include <fuzz/s3_error_reply_fuzz.hpp>

#include <algorithm>

namespace s3_error_reply_body {
namespace {

namespace s3 = dataflux::detail::s3;

void require_printable(std::string_view text, std::size_t limit) {
  require(text.size() <= limit && dataflux::detail::codec::is_valid_utf8(text));
  require(std::none_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
}

/// The input as the value of each field.
void check_head(std::string_view text) {
  dataflux::detail::http::reply_head head;
  head.assign(200,
              {{"ETag", text},
               {"x-amz-checksum-crc32c", text},
               {"x-amz-checksum-crc64nvme", text},
               {"x-amz-checksum-type", "FULL_OBJECT"},
               {"x-amz-retry-after", text},
               {"Location", text}},
              std::nullopt);
  s3::reply_facts facts;
  s3::gather_facts(head, facts);
  require(facts.generation >= 0 && facts.etag == dataflux::detail::service::tag_in(text));
  require(facts.retry_after >= std::chrono::milliseconds(0));
  require(facts.retry_after <= std::chrono::hours(1));
  const auto told = s3::checksums_of(head);
  require(!told || !(told->composite && told->crc32c));
}

void check_all(std::span<const std::byte> input) {
  const std::string_view text = dataflux::as_text(input);
  for (const int status : {200, 301, 304, 307, 400, 403, 404, 409, 412, 416, 429, 503}) {
    s3::reply_facts facts;
    facts.status = status;
    facts.request_id = text;
    const s3::call_identity call{"PutObject", "bkt", "o", 0, status == 412};
    const auto e = s3::parse_error(call, facts, input);
    require(e.code() != dataflux::errc::ok && !e.message().empty());
    require_printable(e.message(), 2048 + 256);
    require_printable(e.reason(), 200);
    require_printable(e.request_id(), 200);
    require(e.http_status() == status && e.verb() == "PutObject" && e.object() == "o");

    // What a server names as a region goes into no host's name unless it is one.
    facts.region = text;
    const std::string region = s3::region_told(facts, input);
    s3::bucket_places places{s3::endpoint::make({}).value(), "us-east-1"};
    require(s3::is_region(region) || !places.learn("bkt", region));
    require(places.find("bkt").value()->origin->host.ends_with(".amazonaws.com") ||
            places.find("bkt").value()->origin->host.ends_with(".amazonaws.com.cn"));
  }
  const s3::whole_reply reply{s3::reply_facts{.status = 200}, input, input.size()};
  const auto document = s3::parse_document(reply, "CopyObjectResult");
  require(document || !document.error().message().empty());
  require(!document || s3::check_document(reply));
  check_head(text);
}

}  // namespace
}  // namespace s3_error_reply_body

void fuzz_s3_error_reply(std::span<const std::byte> input) {
  s3_error_reply_body::check_all(input);
}
