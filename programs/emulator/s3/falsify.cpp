#include <emulator/digest.hpp>
#include <emulator/s3/checksum.hpp>
#include <emulator/s3/falsify.hpp>

#include <algorithm>
#include <string>

namespace emulator::s3 {
namespace {

bool is_document(const http_reply& reply) {
  return reply.header("Content-Type").starts_with("application/xml");
}

/// The checksum with its last bit turned; the count of parts stays.
std::string other_checksum(const std::string& value) {
  const std::size_t end = std::min(value.find('-'), value.size());
  auto raw = base64_decode(std::string_view{value}.substr(0, end));
  if (!raw || raw->empty()) return value;
  raw->back() = static_cast<char>(raw->back() ^ 1);
  return base64_encode(*raw) + value.substr(end);
}

template <typename Change>
void change_leaves(std::string& text, std::string_view element, Change change) {
  const std::string open = "<" + std::string{element} + ">";
  const std::string close = "</" + std::string{element} + ">";
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
    const std::size_t from = at + open.size();
    const std::size_t to = text.find(close, from);
    if (to == std::string::npos) return;
    text.replace(from, to - from, change(text.substr(from, to - from)));
  }
}

}  // namespace

void make_checksums_wrong(http_reply& reply) {
  for (header_line& h : reply.headers) {
    for (const checksum_name& each : checksum_names()) {
      if (same_name(h.name, each.header)) h.value = other_checksum(h.value);
    }
  }
  if (!is_document(reply)) return;
  std::string text = reply.body.to_string();
  for (const checksum_name& each : checksum_names()) {
    change_leaves(text, each.element, other_checksum);
  }
  reply.body = content{std::move(text)};
}

void change_etags(http_reply& reply, fault::etag_form::kind form) {
  using kind = fault::etag_form::kind;
  const auto without = [form](std::string text, std::string_view quote) {
    if (form != kind::unquoted) return std::string{};
    for (std::size_t at = text.find(quote); at != std::string::npos; at = text.find(quote)) {
      text.erase(at, quote.size());
    }
    return text;
  };
  for (header_line& h : reply.headers) {
    if (same_name(h.name, "ETag")) h.value = without(h.value, "\"");
  }
  if (form == kind::absent) {
    std::erase_if(reply.headers, [](const header_line& h) { return same_name(h.name, "ETag"); });
  }
  if (!is_document(reply)) return;
  std::string text = reply.body.to_string();
  change_leaves(text, "ETag", [&without](const std::string& v) { return without(v, "&quot;"); });
  if (form == kind::absent) {
    static constexpr std::string_view leaf = "<ETag></ETag>";
    for (std::size_t at = text.find(leaf); at != std::string::npos; at = text.find(leaf)) {
      text.erase(at, leaf.size());
    }
  }
  reply.body = content{std::move(text)};
}

void put_spaces(http_reply& reply, std::size_t count, bool before_all) {
  if (!is_document(reply)) return;
  std::string text = reply.body.to_string();
  const std::size_t declared = text.starts_with("<?xml") ? text.find("?>") + 2 : 0;
  text.insert(before_all ? 0 : declared, count, ' ');
  reply.body = content{std::move(text)};
}

}  // namespace emulator::s3
