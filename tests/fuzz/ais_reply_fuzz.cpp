#include <dataflux/ais/detail/error_reply.hpp>
#include <dataflux/ais/detail/list_verb.hpp>
#include <dataflux/ais/detail/object_state.hpp>
#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/service/detail/text.hpp>

#include <fuzz/ais_reply_fuzz.hpp>
#include <fuzz/require.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace ais_reply_body {
namespace {

namespace ais = dataflux::detail::ais;
namespace service = dataflux::detail::service;

void require_printable(std::string_view text, std::size_t limit) {
  require(text.size() <= limit && dataflux::detail::codec::is_valid_utf8(text));
  require(std::none_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
}

/// The input as the value of each field.
void check_head(std::string_view text) {
  for (const int status : {200, 206, 307}) {
    dataflux::detail::http::reply_head head;
    head.assign(status,
                {{"Ais-Version", text},
                 {"Ais-Checksum-Type", status == 200 ? "xxhash2" : "crc32c"},
                 {"Ais-Checksum-Value", text},
                 {"Retry-After", text},
                 {"Location", text}},
                std::nullopt);
    ais::reply_facts facts;
    ais::gather_facts(head, facts);
    require(facts.generation >= 0 && (facts.generation == 0) == service::tag_in(text).empty());
    require(facts.retry_after >= std::chrono::milliseconds(0));
    require(facts.retry_after <= std::chrono::hours(1));
    const auto to = ais::redirect_of(facts);
    require(!to || (status == 307 && to->target.starts_with('/')));
  }
}

void check_page(std::span<const std::byte> input) {
  const ais::whole_reply reply{ais::reply_facts{.status = 200}, input, input.size()};
  for (const dataflux::list_page_request& asked :
       {dataflux::list_page_request{}, dataflux::list_page_request{.prefix = "a", .delimiter = "/"},
        dataflux::list_page_request{.end_offset = "b", .page_token = "na"}}) {
    const auto page = ais::list_verb::parse(asked, {}, reply);
    if (!page) {
      require(!page.error().message().empty());
      continue;
    }
    std::string_view last;
    for (const auto row : page->objects) {
      require(row.name.starts_with(asked.prefix) && (last.empty() || last < row.name));
      require(asked.end_offset.empty() || row.name < asked.end_offset);
      require(row.generation >= 0);
      last = row.name;
    }
    require(std::is_sorted(page->prefixes.begin(), page->prefixes.end()));
    require(page->next_page_token.empty() || page->next_page_token != asked.page_token);
  }
}

void check_all(std::span<const std::byte> input) {
  for (const int status : {200, 301, 307, 400, 401, 403, 404, 416, 429, 500, 503}) {
    ais::reply_facts facts;
    facts.status = status;
    const ais::call_identity call{"GetObject", "bkt", "o", 0, false};
    const auto e = ais::parse_error(call, facts, input);
    require(e.code() != dataflux::errc::ok && !e.message().empty());
    require_printable(e.message(), 2048 + 256);
    require_printable(e.reason(), 200);
    require(e.http_status() == status && e.verb() == "GetObject" && e.object() == "o");
  }
  check_page(input);
  check_head(dataflux::as_text(input));
}

}  // namespace
}  // namespace ais_reply_body

void fuzz_ais_reply(std::span<const std::byte> input) { ais_reply_body::check_all(input); }
