#include <emulator/batch.hpp>
#include <emulator/service_error.hpp>
#include <emulator/upload_body.hpp>
#include <emulator/uri.hpp>

#include <algorithm>

namespace emulator {
namespace {

constexpr std::size_t most_calls = 100;
constexpr std::uint64_t most_bytes = std::uint64_t{10} << 20U;
constexpr std::string_view reply_boundary = "batch_emulator";

/// Takes one line off `rest`, without its end.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Header lines up to the blank one.
std::vector<header_line> take_headers(std::string_view& rest) {
  std::vector<header_line> out;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) throw invalid_argument("Malformed batch request");
    out.push_back(
        {std::string{trim(line.substr(0, colon))}, std::string{trim(line.substr(colon + 1))}});
  }
  return out;
}

const std::string* value_of(const std::vector<header_line>& headers, std::string_view name) {
  const auto at = std::ranges::find_if(
      headers, [name](const header_line& h) { return same_name(h.name, name); });
  return at == headers.end() ? nullptr : &at->value;
}

void inherit_headers(batched_call& call, const http_request& outer) {
  for (const header_view& h : outer.headers) {
    const bool content = h.name.size() >= 8 && same_name(h.name.substr(0, 8), "content-");
    if (content || value_of(call.headers, h.name) != nullptr) continue;
    call.headers.push_back({std::string{h.name}, std::string{h.value}});
  }
}

batched_call parse_call(std::string_view part, const http_request& outer) {
  batched_call out;
  const auto envelope = take_headers(part);
  const std::string* type = value_of(envelope, "Content-Type");
  if (type == nullptr || !type->starts_with("application/http")) {
    throw invalid_argument("A part of a batch must be application/http");
  }
  if (const std::string* id = value_of(envelope, "Content-ID")) out.content_id = *id;
  const std::string_view line = take_line(part);
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) throw invalid_argument("Malformed batch request");
  const std::string_view target = line.substr(space + 1);
  out.method = line.substr(0, space);
  out.target = target.substr(0, target.find(' '));
  // Some clients send whole URLs though a path is asked for.
  const std::size_t scheme = out.target.find("://");
  if (scheme != std::string::npos) {
    out.target.erase(0, std::min(out.target.find('/', scheme + 3), out.target.size()));
  }
  out.headers = take_headers(part);
  const std::string* length = value_of(out.headers, "Content-Length");
  const std::int64_t size = length == nullptr ? -1 : parse_integer(*length).value_or(-1);
  out.body = size < 0 ? trim(part) : part.substr(0, static_cast<std::size_t>(size));
  inherit_headers(out, outer);
  return out;
}

}  // namespace

std::vector<batched_call> parse_batch(const http_request& request) {
  if (request.body.size() > most_bytes) throw invalid_argument("The batch request is too large");
  const std::string dashes = "--" + boundary_of(request, "multipart/mixed");
  const std::string whole = request.body.to_string();
  std::string_view rest = whole;
  std::vector<batched_call> out;
  std::size_t at = rest.find(dashes);
  while (at != std::string_view::npos) {
    rest.remove_prefix(at + dashes.size());
    if (rest.starts_with("--")) return out;
    take_line(rest);
    at = rest.find("\n" + dashes);
    if (at == std::string_view::npos) break;
    out.push_back(parse_call(rest.substr(0, at), request));
    if (out.size() > most_calls) {
      throw invalid_argument("The batch request must not contain more than 100 calls.");
    }
    ++at;
  }
  throw invalid_argument("Malformed batch request");
}

http_reply batch_reply(const std::vector<batched_call>& calls,
                       const std::vector<http_reply>& replies) {
  std::string out;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const http_reply& reply = replies[i];
    out.append("--").append(reply_boundary).append("\r\nContent-Type: application/http\r\n");
    std::string_view id = calls[i].content_id;
    if (id.starts_with('<')) id.remove_prefix(1);
    if (id.ends_with('>')) id.remove_suffix(1);
    if (!id.empty()) out.append("Content-ID: <response-").append(id).append(">\r\n");
    out.append("\r\nHTTP/1.1 ").append(std::to_string(reply.status)).append(" ");
    out.append(reason_phrase(reply.status)).append("\r\n");
    for (const header_line& h : reply.headers) {
      out.append(h.name).append(": ").append(h.value).append("\r\n");
    }
    out.append("Content-Length: ").append(std::to_string(reply.body.size()));
    out.append("\r\n\r\n").append(reply.body.to_string()).append("\r\n");
  }
  out.append("--").append(reply_boundary).append("--\r\n");
  http_reply reply;
  reply.set("Content-Type", "multipart/mixed; boundary=" + std::string{reply_boundary});
  reply.body = content{std::move(out)};
  return reply;
}

}  // namespace emulator
