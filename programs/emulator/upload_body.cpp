#include <emulator/digest.hpp>
#include <emulator/gzip.hpp>
#include <emulator/service_error.hpp>
#include <emulator/upload_body.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace emulator {
namespace {

void add_goog_hash(declared_digests& out, std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string_view item = trim(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) throw bad_request("InvalidDigest", "Bad x-goog-hash");
    const std::string value{item.substr(equals + 1)};
    if (same_name(item.substr(0, equals), "crc32c")) {
      out.crc32c = value;
    } else if (same_name(item.substr(0, equals), "md5")) {
      out.md5 = value;
    }
  }
}

void check_one(const std::optional<std::string>& declared, std::size_t raw_size,
               std::string_view kind, std::string_view xml_code, const auto& calculate) {
  if (!declared) return;
  const auto raw = base64_decode(*declared);
  if (!raw || raw->size() != raw_size) {
    throw bad_request("InvalidDigest", "Invalid " + std::string{kind} + " \"" + *declared + "\"");
  }
  const std::string calculated = calculate();
  if (calculated == *declared) return;
  throw bad_request(std::string{xml_code}, "Provided " + std::string{kind} + " \"" + *declared +
                                               "\" doesn't match calculated " + std::string{kind} +
                                               " \"" + calculated + "\".");
}

/// The Content-Type among the header lines of a part; takes them and the blank line off `part`.
std::string take_part_head(std::string_view& part, std::string_view line_end) {
  std::string type;
  while (true) {
    const std::size_t end = part.find(line_end);
    if (end == std::string_view::npos) throw invalid_argument("Malformed multipart body");
    const std::string_view line = part.substr(0, end);
    part.remove_prefix(end + line_end.size());
    if (line.empty()) return type;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) throw invalid_argument("Malformed multipart body");
    if (same_name(line.substr(0, colon), "Content-Type")) type = trim(line.substr(colon + 1));
  }
}

/// Takes all up to and with the next `mark`; gives what stood before it.
std::string_view take_until(std::string_view& rest, const std::string& mark) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) throw invalid_argument("Malformed multipart body");
  const std::string_view before = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return before;
}

}  // namespace

std::string boundary_of(const http_request& request, std::string_view media_type) {
  std::string_view type = request.header("Content-Type");
  if (!same_name(type.substr(0, media_type.size()), media_type)) {
    throw invalid_argument("The Content-Type must be " + std::string{media_type});
  }
  while (!type.empty()) {
    const std::size_t end = std::min(type.find(';'), type.size());
    std::string_view item = trim(type.substr(0, end));
    type.remove_prefix(std::min(end + 1, type.size()));
    if (item.size() <= 9 || !same_name(item.substr(0, 9), "boundary=")) continue;
    item.remove_prefix(9);
    const bool quoted = item.size() >= 2 && (item.front() == '"' || item.front() == '\'') &&
                        item.back() == item.front();
    if (quoted) {
      item = item.substr(1, item.size() - 2);
    }
    if (!item.empty() && item.size() <= 70) return std::string{item};
  }
  throw invalid_argument("The Content-Type names no boundary");
}

declared_digests declared_digests::of_headers(const http_request& request) {
  declared_digests out;
  for (const header_view& h : request.headers) {
    if (same_name(h.name, "x-goog-hash")) add_goog_hash(out, h.value);
    if (same_name(h.name, "Content-MD5")) out.md5 = std::string{h.value};
  }
  return out;
}

void declared_digests::check(const content& data) const {
  check_one(crc32c, 4, "CRC32C", "CrcMismatch",
            [&data] { return crc32c_text(emulator::crc32c(data).value()); });
  check_one(md5, 16, "MD5 hash", "BadDigest",
            [&data] { return base64_encode(emulator::md5(data).value()); });
}

related_body parse_related(const http_request& request) {
  const std::string dashes = "--" + boundary_of(request, "multipart/related");
  std::vector<std::byte> scratch;
  const std::string_view whole =
      text_of(request.body.read(0, std::numeric_limits<std::size_t>::max(), scratch));
  std::string_view rest = whole;
  // The first line says how lines end: some clients write LF alone.
  const std::string_view before = take_until(rest, dashes);
  const std::string line_end = rest.starts_with('\n') ? "\n" : "\r\n";
  if (!rest.starts_with(line_end) || !(before.empty() || before.ends_with(line_end))) {
    throw invalid_argument("Malformed multipart body");
  }
  rest.remove_prefix(line_end.size());

  related_body out;
  take_part_head(rest, line_end);
  out.metadata = take_until(rest, line_end + dashes + line_end);
  out.media_type = take_part_head(rest, line_end);
  const auto offset = static_cast<std::uint64_t>(rest.data() - whole.data());
  const std::uint64_t size = take_until(rest, line_end + dashes).size();
  if (!rest.starts_with("--")) {
    throw invalid_argument("Malformed multipart body: exactly two parts are expected");
  }
  out.media = request.body.slice(offset, size);
  return out;
}

content decoded_body(const http_request& request) {
  auto plain = gunzip(request.body.to_string());
  if (!plain) throw invalid_argument("The body is not gzip, which its Content-Encoding says it is");
  return content{std::move(*plain)};
}

}  // namespace emulator
