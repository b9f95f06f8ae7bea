#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/object_list.hpp>

#include <fuzz/object_list_fuzz.hpp>
#include <fuzz/require.hpp>

#include <string>
#include <vector>

namespace codec = dataflux::detail::codec;

namespace {

struct collector : codec::object_list_visitor {
  std::vector<std::string> lines{};
  std::vector<std::string> names{};
  std::size_t objects{0};
  void on_object(const codec::object_list_item& item) override {
    require(!item.name.empty() && item.size <= 0x7FFFFFFFFFFFFFFFU && item.generation >= 0);
    ++objects;
    names.emplace_back(item.name);
    lines.emplace_back(item.name);
    lines.push_back(std::to_string(item.size) + "/" + std::to_string(item.generation) + "/" +
                    std::to_string(item.crc32c.value_or(0)) + "/" +
                    std::to_string(item.metageneration));
    for (const std::string_view text :
         {item.md5_hash, item.etag, item.content_type, item.content_encoding, item.storage_class,
          item.time_created, item.updated, item.metadata}) {
      lines.emplace_back(text);
    }
  }
  void on_prefix(std::string_view prefix) override { lines.emplace_back(prefix); }
};

struct page_outcome {
  collector seen{};
  std::string failure{};
  codec::object_list_end end{};
};

page_outcome read(std::span<const std::byte> page, std::size_t capacity) {
  constexpr auto all = static_cast<codec::object_fields>(0x1FF);
  page_outcome out;
  auto end = codec::parse_object_list(page, capacity, all, out.seen);
  if (end) {
    out.end = std::move(*end);
  } else {
    out.failure = end.error().message();
  }
  return out;
}

/// In place, with `filler` where simdjson may look past the end.
page_outcome read_in_place(std::string_view page, char filler) {
  std::string padded{page};
  padded.append(dataflux::buffer_slack, filler);
  return read(dataflux::as_bytes(padded).first(page.size()), padded.size());
}

}  // namespace

void fuzz_object_list(std::span<const std::byte> input) {
  const page_outcome copied = read(input, input.size());
  for (const char filler : {'\0', '}', ']', '{', '"', ',', ':', '0', '\xff'}) {
    const page_outcome placed = read_in_place(dataflux::as_text(input), filler);
    require(placed.failure.empty() == copied.failure.empty());
    if (!copied.failure.empty()) continue;
    require(placed.seen.lines == copied.seen.lines);
    require(placed.end.next_page_token == copied.end.next_page_token);
  }
  require(copied.seen.objects == copied.end.objects || !copied.failure.empty());

  // The strict reader sees the same objects wherever it accepts the page.
  const auto document = codec::json_document::parse(input);
  if (!document || !copied.failure.empty()) return;
  const auto items = document->root().find("items").elements();
  require(items.size() == copied.end.objects);
  require(document->root().find("prefixes").elements().size() == copied.end.prefixes);
  for (std::size_t i = 0; i < items.size(); ++i) {
    require(items[i].find("name").text() == copied.seen.names[i]);
  }
}
