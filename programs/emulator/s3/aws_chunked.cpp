#include <emulator/digest.hpp>
#include <emulator/s3/aws_chunked.hpp>
#include <emulator/s3/checksum.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace emulator::s3 {
namespace {

constexpr std::string_view empty_digest =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

service_error incomplete_body() {
  return error(400, "IncompleteBody",
               "You did not provide the number of bytes specified by the Content-Length HTTP "
               "header");
}

/// Reads lines and runs of bytes of a body.
class body_cursor {
 public:
  explicit body_cursor(const content& body) : body_(body) {}

  /// Without its CRLF; a longer one than any that is legal is refused.
  std::string line() {
    constexpr std::uint64_t longest = 1024;
    const std::string window = body_.slice(at_, longest).to_string();
    const std::size_t end = window.find("\r\n");
    if (end == std::string::npos) throw incomplete_body();
    at_ += end + 2;
    return window.substr(0, end);
  }
  content take(std::uint64_t count) {
    if (count > body_.size() - at_) throw incomplete_body();
    content out = body_.slice(at_, count);
    at_ += count;
    return out;
  }
  bool done() const { return at_ >= body_.size(); }

 private:
  const content& body_;
  std::uint64_t at_{0};
};

/// Each signature is of the one before it.
class chunk_signatures {
 public:
  explicit chunk_signatures(const signed_request& who) : who_(who), last_(who.signature) {}

  void check_chunk(const content& data, const std::string& said) {
    check("AWS4-HMAC-SHA256-PAYLOAD",
          std::string{empty_digest} + "\n" +
              hex_encode(checksum_bytes(checksum_algorithm::sha256, data)),
          said);
  }
  void check_trailer(const std::string& lines, const std::string& said) {
    check("AWS4-HMAC-SHA256-TRAILER", hex_encode(sha256(lines)), said);
  }

 private:
  void check(std::string_view kind, const std::string& what, const std::string& said) {
    const std::string text = std::string{kind} + "\n" + who_.date + "\n" + who_.credential.scope() +
                             "\n" + last_ + "\n" + what;
    last_ = hex_encode(hmac_sha256(who_.signing_key, text));
    if (last_ == said) return;
    throw error(403, "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided. "
                "Check your key and signing method.");
  }
  const signed_request& who_;
  std::string last_;
};

struct chunk_head {
  std::uint64_t size{0};
  std::string signature{};
};

chunk_head chunk_head_of(const std::string& line) {
  chunk_head out;
  const std::size_t semicolon = std::min(line.find(';'), line.size());
  const char* const end = line.data() + semicolon;
  const auto [stop, failed] = std::from_chars(line.data(), end, out.size, 16);
  if (failed != std::errc{} || stop != end) throw incomplete_body();
  static constexpr std::string_view name = ";chunk-signature=";
  if (std::string_view{line}.substr(semicolon).starts_with(name)) {
    out.signature = line.substr(semicolon + name.size());
  }
  return out;
}

/// The lines behind the last chunk; the signature of a signed trailer is one of them.
std::vector<header_line> read_trailer(body_cursor& from, chunk_signatures* signatures) {
  std::vector<header_line> out;
  std::string lines;
  while (!from.done()) {
    const std::string line = from.line();
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      throw error(400, "MalformedTrailerError",
                  "The request contained trailing data that was not well-formed or did not conform "
                  "to our published schema.");
    }
    const std::string name = lower_case(line.substr(0, colon));
    const std::string value{trim(std::string_view{line}.substr(colon + 1))};
    if (name == "x-amz-trailer-signature") {
      if (signatures != nullptr) signatures->check_trailer(lines, value);
      signatures = nullptr;
      continue;
    }
    lines.append(name).append(":").append(value).append("\n");
    out.push_back({name, value});
  }
  if (signatures != nullptr && !out.empty()) {
    throw error(403, "SignatureDoesNotMatch", "The trailer is not signed.");
  }
  return out;
}

bool is_hex_digest(std::string_view text) {
  return text.size() == 64 && hex_decode(text).has_value();
}

bool may_be_unsigned(const http_request& request, const options& how) {
  if (how.payload == unsigned_payload::allowed || request.body.empty()) return true;
  return how.payload == unsigned_payload::over_tls && request.secure;
}

/// The checksums that the head announces must come, and no others.
void check_trailer_names(const http_request& request, const std::vector<header_line>& trailer) {
  const std::string_view announced = request.header("x-amz-trailer");
  const bool same = announced.empty()
                        ? trailer.empty()
                        : trailer.size() == 1 && same_name(trailer[0].name, announced);
  if (same) return;
  throw error(400, "MalformedTrailerError",
              "The request contained trailing data that was not well-formed or did not conform to "
              "our published schema.");
}

content decoded_of(const signed_request& who, http_request& request,
                   std::vector<header_line>& trailer) {
  const auto size = parse_integer(request.header("x-amz-decoded-content-length"));
  if (!size || *size < 0) {
    throw error(411, "MissingContentLength", "You must provide the Content-Length HTTP header.");
  }
  chunked_body read = read_aws_chunked(who, request.body);
  if (read.data.size() != static_cast<std::uint64_t>(*size)) throw incomplete_body();
  trailer = std::move(read.trailer);
  check_trailer_names(request, trailer);
  for (const header_line& line : trailer) request.headers.push_back({line.name, line.value});
  return read.data;
}

}  // namespace

chunked_body read_aws_chunked(const signed_request& who, const content& body) {
  const bool is_signed = who.payload.starts_with("STREAMING-AWS4-HMAC-SHA256-PAYLOAD");
  chunk_signatures signatures{who};
  chunked_body out;
  body_cursor from{body};
  while (true) {
    const chunk_head head = chunk_head_of(from.line());
    const content data = from.take(head.size);
    if (is_signed) signatures.check_chunk(data, head.signature);
    if (head.size == 0) break;
    out.data.append(data);
    if (!from.line().empty()) throw incomplete_body();
  }
  out.trailer = read_trailer(from, is_signed ? &signatures : nullptr);
  return out;
}

content body_of(const signed_request& who, http_request& request, std::vector<header_line>& trailer,
                const options& how) {
  const std::string_view payload = who.payload;
  static constexpr std::array<std::string_view, 3> streams{
      "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
      "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"};
  const bool in_chunks = std::ranges::find(streams, payload) != streams.end();
  const bool unsigned_body = payload == "UNSIGNED-PAYLOAD" || payload == streams[0];
  const bool free = who.presigned || who.anonymous;
  if (unsigned_body && !free && !may_be_unsigned(request, how)) {
    throw access_denied("UNSIGNED-PAYLOAD is not allowed here: sign the payload");
  }
  if (in_chunks) return decoded_of(who, request, trailer);
  if (unsigned_body || (who.anonymous && payload.empty())) return request.body;
  if (!is_hex_digest(payload)) {
    throw error(400, "InvalidArgument",
                "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, "
                "STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, "
                "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, or a valid sha256 value.");
  }
  const std::string own = hex_encode(checksum_bytes(checksum_algorithm::sha256, request.body));
  if (own != payload) {
    auto refused = error(400, "XAmzContentSHA256Mismatch",
                         "The provided 'x-amz-content-sha256' header does not match what was "
                         "computed.");
    refused.members = {{"ClientComputedContentSHA256", std::string{payload}},
                       {"S3ComputedContentSHA256", own}};
    throw refused;
  }
  return request.body;
}

}  // namespace emulator::s3
