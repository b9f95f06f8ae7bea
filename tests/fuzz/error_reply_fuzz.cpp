#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/gcs/detail/error_reply.hpp>

#include <fuzz/error_reply_fuzz.hpp>
#include <fuzz/require.hpp>

#include <algorithm>

namespace {

namespace gcs = dataflux::detail::gcs;

void require_printable(std::string_view text, std::size_t limit) {
  require(text.size() <= limit && dataflux::detail::codec::is_valid_utf8(text));
  require(std::none_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
  const std::size_t token = text.find("ya29.");
  require(token == std::string_view::npos || text.substr(token) == "ya29...");  // cut before it
}

}  // namespace

void fuzz_error_reply(std::span<const std::byte> input) {
  const std::string_view text = dataflux::as_text(input);
  for (const std::size_t limit : {std::size_t{0}, std::size_t{2}, std::size_t{7}, text.size()}) {
    require_printable(gcs::printable_text(text, limit), limit);
  }
  for (const int status : {200, 302, 304, 400, 401, 403, 404, 412, 416, 429, 503}) {
    gcs::reply_facts facts;
    facts.status = status;
    facts.request_id = text;
    const gcs::call_identity call{"objects.get", "bkt", "o", 0, status == 412};
    const auto e = gcs::parse_error(call, facts, input);
    require(e.code() != dataflux::errc::ok && !e.message().empty());
    require_printable(e.message(), 2048 + 256);
    require_printable(e.reason(), 200);
    require_printable(e.request_id(), 200);
    require(e.http_status() == status && e.verb() == "objects.get" && e.object() == "o");
    if (status == 429 || status == 503) require(e.retryable());
    if (status >= 300 && status < 429) require(!e.retryable());
  }
}
