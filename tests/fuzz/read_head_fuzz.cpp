#include <dataflux/gcs/detail/read_verb.hpp>

#include <fuzz/read_head_fuzz.hpp>
#include <fuzz/require.hpp>

#include <charconv>
#include <string_view>
#include <vector>

namespace {

using dataflux::byte_range;
using dataflux::detail::gcs::read_cursor;

/// The first byte picks the status; a Content-Length among the lines is also the head's own.
dataflux::detail::http::reply_head read_script(std::string_view text) {
  const char status = text.empty() ? '0' : text.front();
  if (!text.empty()) text.remove_prefix(1);
  std::vector<dataflux::detail::http::reply_head::field> fields;
  std::optional<std::uint64_t> length;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    fields.push_back({line.substr(0, colon), line.substr(colon + 2)});
    std::uint64_t number = 0;
    const std::string_view value = fields.back().value;
    const auto end = std::from_chars(value.data(), value.data() + value.size(), number);
    if (fields.back().name == "Content-Length" && end.ec == std::errc{}) length = number;
  }
  dataflux::detail::http::reply_head head;
  head.assign(status == '0'   ? 206
              : status == '1' ? 200
              : status == '2' ? 416
                              : status,
              fields, length);
  return head;
}

void check(const read_cursor& asked, const dataflux::detail::http::reply_head& head) {
  const auto read = dataflux::detail::gcs::read_verb::parse_head(asked, head);
  if (!read) {
    require(read.error().code() == dataflux::errc::internal ||
            read.error().code() == dataflux::errc::out_of_range);
    require(!read.error().message().empty());
    return;
  }
  require(head.status() == 200 || head.status() == 206 || head.status() == 416);
  require(read->generation >= 0 && read->metageneration >= 0);
  require(asked.generation == 0 || read->generation == 0 || read->generation == asked.generation);
  require(read->discard_body == (head.status() == 416));
  if (read->transcoded) return;
  require(read->offset <= read->object_size && read->length <= read->object_size - read->offset);
  require(read->partial == (read->length != read->object_size));
  if (asked.range.is_all()) require(!read->partial);
  if (asked.range.is_suffix()) {
    require(read->offset + read->length == read->object_size);
    require(read->length <= asked.range.length());
    require(read->length == asked.range.length() || read->offset == 0);
  } else {
    require(read->offset == asked.range.offset() && read->length <= asked.range.length());
    require(read->length == asked.range.length() ||
            read->offset + read->length == read->object_size);
  }
}

}  // namespace

void fuzz_read_head(std::span<const std::byte> input) {
  const auto head = read_script(dataflux::as_text(input));
  const read_cursor questions[] = {
      {},
      {byte_range::span(10, 5), 5, false},
      {byte_range::span(0, 100), 0, false},
      {byte_range::from(100), 0, false},
      {byte_range::last(7), 0, false},
      read_cursor::resume(93, 100, 5),
  };
  for (const read_cursor& asked : questions) check(asked, head);
}
