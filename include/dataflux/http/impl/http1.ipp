#pragma once

#include <dataflux/detail/hexadecimal.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/http/detail/http1.hpp>

#include <algorithm>
#include <charconv>
#include <limits>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

inline bool is_sendable_target(std::string_view target) noexcept {
  const char* const last = target.data() + target.size();
  return !target.empty() && target.front() == '/' &&
         find_control_or_space(target.data(), last) == last;
}

inline bool is_sendable_host(std::string_view host) noexcept {
  const char* const last = host.data() + host.size();
  return !host.empty() && find_control_or_space(host.data(), last) == last &&
         std::none_of(host.begin(), host.end(), [](char c) {
           return c == '/' || c == '?' || c == '#' || c == '@' || c == '[' || c == ']';
         });
}

inline bool announces_body(method m) noexcept {
  return m == method::post || m == method::put || m == method::patch;
}

DATAFLUX_INLINE result<void> encode_request_head(const request& r, std::string& out) {
  const auto refuse = [](std::string_view why) {
    return error{errc::invalid_argument, std::string{why}};
  };
  if (!r.origin || !is_sendable_host(r.origin->host)) return refuse("no valid host");
  if (!is_sendable_target(r.target)) {
    return refuse("the request target must begin with '/' and hold no space or control character");
  }
  if (!r.headers.valid()) return refuse("a header field of the request is not valid");
  if (!r.body.valid()) return refuse("the request body has too many parts");
  const std::string_view host = r.origin->host;
  const bool literal = host.find(':') != std::string_view::npos;
  char port[8]{']'};
  char* port_end = literal ? port + 1 : port;
  if (r.origin->port != (r.origin->tls ? 443 : 80)) {
    *port_end++ = ':';
    port_end = std::to_chars(port_end, port + sizeof port, r.origin->port).ptr;
  }
  const bool announced = r.body.size() != 0 || announces_body(r.method);
  char length[20];  // 20 digits hold every 64-bit number
  const char* const length_end =
      announced ? std::to_chars(length, length + sizeof length, r.body.size()).ptr : length;
  append_all(out, {to_string(r.method), " ", r.target, " HTTP/1.1\r\nHost: ", literal ? "[" : "",
                   host, std::string_view(port, port_end), announced ? "\r\nContent-Length: " : "",
                   std::string_view(length, length_end), "\r\n", r.headers.wire(), "\r\n"});
  return {};
}

DATAFLUX_INLINE std::optional<std::chrono::seconds> keep_alive_timeout(const reply_head& head) {
  std::string_view value = head.find("Keep-Alive").value_or(std::string_view());
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view parameter = trim_blanks(value.substr(0, comma));
    value.remove_prefix(std::min(comma + 1, value.size()));
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    if (!same_letters(parameter.substr(0, equals), "timeout")) continue;
    const std::string_view digits = parameter.substr(std::min(equals + 1, parameter.size()));
    std::uint32_t seconds = 0;
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return std::chrono::seconds(seconds);
  }
  return std::nullopt;
}

DATAFLUX_INLINE void reply_decoder::start(method m) noexcept {
  method_ = m;
  phase_ = phase::status_line;
  chunk_phase_ = chunk_phase::size_first;
  framing_ = body_framing::none;
  keep_alive_ = false;
  line_ = scanned_ = counted_ = 0;
  remaining_ = 0;
}

DATAFLUX_INLINE void reply_decoder::give_up() noexcept {
  phase_ = phase::failed;
  framing_ = body_framing::none;
  keep_alive_ = false;
  remaining_ = 0;
}

DATAFLUX_INLINE error reply_decoder::fail(std::string_view what) {
  give_up();
  return error{errc::internal, std::string{"bad HTTP reply: "}.append(what)};
}

DATAFLUX_INLINE result<std::size_t> reply_decoder::parse_head(std::string_view received) {
  if (phase_ != phase::status_line && phase_ != phase::fields) {
    return fail("no head is expected here");
  }
  const std::string_view bounded = received.substr(0, max_head_size);
  const char* const first = bounded.data();
  const char* const last = first + bounded.size();
  const char* at = first + std::min(scanned_, bounded.size());
  while ((at = find_control(at, last)) != last) {
    if (*at == '\t') {
      ++at;
      continue;
    }
    if (*at != '\r') return fail("control character in the head, or a line not ended by CR LF");
    if (at + 1 == last) break;  // its LF is still to come
    if (at[1] != '\n') return fail("CR without LF in the head");
    const auto end = static_cast<std::size_t>(at - first);
    if (const char* const wrong = end_line(bounded, end)) return fail(wrong);
    at += 2;
    line_ = scanned_ = static_cast<std::size_t>(at - first);
    if (phase_ == phase::body || phase_ == phase::complete) return line_;
  }
  scanned_ = static_cast<std::size_t>(at - first);
  if (received.size() >= max_head_size) return fail("the head is larger than 64 KiB");
  return std::size_t{0};
}

DATAFLUX_INLINE const char* reply_decoder::end_line(std::string_view received, std::size_t end) {
  if (phase_ == phase::status_line) {
    return parse_status_line(received.substr(line_, end - line_));
  }
  return end == line_ ? end_head(received) : parse_field(received, end);
}

DATAFLUX_INLINE const char* reply_decoder::parse_status_line(std::string_view line) {
  const std::string_view version = line.substr(0, 9);
  if (version != "HTTP/1.1 " && version != "HTTP/1.0 ") return "not HTTP/1.1 or HTTP/1.0";
  const std::string_view code = line.substr(9, 3);
  const bool digits = code.size() == 3 && std::all_of(code.begin(), code.end(), is_digit);
  if (!digits || code.front() == '0' || line.size() < 13 || line[12] != ' ') {
    return "malformed status line";
  }
  status_ = (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
  if (status_ == 101) return "the server switched protocols unasked";
  http10_ = version[7] == '0';
  chunked_ = close_ = stay_open_ = false;
  positions_.clear();
  head_.content_length_.reset();
  phase_ = phase::fields;
  return nullptr;
}

DATAFLUX_INLINE const char* reply_decoder::parse_field(std::string_view received, std::size_t end) {
  const char* const first = received.data();
  // Stops at the CR at the latest.
  const auto colon =
      static_cast<std::size_t>(find_non_token(first + line_, first + received.size()) - first);
  if (first[colon] != ':' || colon == line_) {
    if (is_blank(first[line_])) return "folded header line";
    return "header line without a valid name and a colon";
  }
  std::size_t value = colon + 1;
  std::size_t value_end = end;
  while (value != value_end && is_blank(first[value])) ++value;
  while (value != value_end && is_blank(first[value_end - 1])) --value_end;
  // Offsets stay below max_head_size.
  positions_.push_back(
      {static_cast<std::uint32_t>(line_), static_cast<std::uint32_t>(colon - line_),
       static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value_end - value)});
  return note_field({first + line_, colon - line_}, {first + value, value_end - value});
}

DATAFLUX_INLINE const char* reply_decoder::note_field(std::string_view name,
                                                      std::string_view value) {
  switch (name.size()) {
    case 10:
      if (same_letters(name, "connection")) return note_connection(value);
      return nullptr;
    case 14:
      if (same_letters(name, "content-length")) return note_length(value);
      return nullptr;
    case 17:
      if (!same_letters(name, "transfer-encoding")) return nullptr;
      if (chunked_ || !same_letters(value, "chunked")) {
        return "a Transfer-Encoding other than chunked";
      }
      if (http10_) return "Transfer-Encoding in an HTTP/1.0 reply";
      chunked_ = true;
      return nullptr;
    default:
      return nullptr;
  }
}

DATAFLUX_INLINE const char* reply_decoder::note_length(std::string_view value) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto length = parse_decimal(value);
  if (!length || *length > most) return "malformed Content-Length";
  if (head_.content_length_ && *head_.content_length_ != *length) {
    return "two different Content-Length";
  }
  head_.content_length_ = length;
  return nullptr;
}

DATAFLUX_INLINE const char* reply_decoder::note_connection(std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view option = trim_blanks(value.substr(0, comma));
    if (!option.empty() && !is_token(option)) return "malformed Connection";
    if (same_letters(option, "close")) close_ = true;
    if (same_letters(option, "keep-alive")) stay_open_ = true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return nullptr;
}

DATAFLUX_INLINE const char* reply_decoder::end_head(std::string_view received) {
  if (chunked_ && head_.content_length_) return "both Content-Length and Transfer-Encoding";
  if (status_ < 200) {  // interim: the final head follows
    phase_ = phase::status_line;
    return nullptr;
  }
  head_.status_ = status_;
  head_.fields_.clear();
  for (const field_position& p : positions_) {
    head_.fields_.push_back(
        {{received.data() + p.name, p.name_size}, {received.data() + p.value, p.value_size}});
  }
  choose_framing();
  return nullptr;
}

DATAFLUX_INLINE void reply_decoder::choose_framing() noexcept {
  keep_alive_ = !close_ && (!http10_ || stay_open_);
  phase_ = phase::body;
  if (method_ == method::head || status_ == 204 || status_ == 304) {
    framing_ = body_framing::none;
    phase_ = phase::complete;
    // A server that announces a body where none may be might send it, too.
    if (status_ == 204 && (chunked_ || head_.content_length_.value_or(0) != 0)) keep_alive_ = false;
  } else if (chunked_) {
    framing_ = body_framing::chunked;
  } else if (head_.content_length_) {
    framing_ = body_framing::length;
    remaining_ = *head_.content_length_;
    if (remaining_ == 0) phase_ = phase::complete;
  } else {
    framing_ = body_framing::until_close;
    keep_alive_ = false;
  }
}

DATAFLUX_INLINE void reply_decoder::body_received(std::uint64_t count) noexcept {
  if (phase_ != phase::body || remaining() == 0) return;
  remaining_ -= std::min(count, remaining_);
  if (remaining_ != 0) return;
  if (framing_ == body_framing::length) {
    phase_ = phase::complete;
  } else {
    chunk_phase_ = chunk_phase::data_cr;
  }
}

DATAFLUX_INLINE result<reply_decoder::chunk_step> reply_decoder::decode_chunked(bytes_view input) {
  if (framing_ != body_framing::chunked || (phase_ != phase::body && phase_ != phase::complete)) {
    return fail("no chunked body is expected here");
  }
  std::size_t at = 0;
  while (at != input.size() && phase_ == phase::body) {
    if (chunk_phase_ == chunk_phase::data) {
      const std::uint64_t here = std::min<std::uint64_t>(remaining_, input.size() - at);
      const bytes_view data = input.subspan(at, static_cast<std::size_t>(here));
      body_received(here);
      return chunk_step{at + data.size(), data};
    }
    if (const char* wrong = chunk_control(static_cast<char>(input[at]))) return fail(wrong);
    ++at;
  }
  return chunk_step{at, {}};
}

/// One byte of framing; gives what is wrong with it, or null.
DATAFLUX_INLINE const char* reply_decoder::chunk_control(char c) {
  using enum chunk_phase;
  const bool in_trailer = chunk_phase_ >= line_first;
  if (++counted_ > (in_trailer ? max_head_size : max_chunk_line)) {
    return in_trailer ? "trailers larger than 64 KiB" : "the line of a chunk is too long";
  }
  switch (chunk_phase_) {
    case size_first:
    case size:
      return chunk_size_digit(c);
    case size_blank:
      if (is_blank(c)) return nullptr;
      if (c != ';') return "malformed chunk size";
      chunk_phase_ = extension;
      return nullptr;
    case extension:
      if (c == '\r') chunk_phase_ = size_lf;
      return c != '\r' && c != '\t' && is_control(c) ? "bad chunk extension" : nullptr;
    case size_lf:
      chunk_phase_ = remaining_ == 0 ? line_first : data;
      counted_ = 0;
      return c == '\n' ? nullptr : "malformed chunk size";
    case data:
      return nullptr;  // never here: payload is not framing
    case data_cr:
      chunk_phase_ = data_lf;
      return c == '\r' ? nullptr : "chunk longer than its size";
    case data_lf:
      chunk_phase_ = size_first;
      counted_ = 0;
      return c == '\n' ? nullptr : "chunk longer than its size";
    case line_first:
      chunk_phase_ = c == '\r' ? end_lf : trailer_name;
      return c == '\r' || is_token_character(c) ? nullptr : "malformed trailer";
    case trailer_name:
      if (c == ':') chunk_phase_ = trailer_value;
      return c == ':' || is_token_character(c) ? nullptr : "malformed trailer";
    case trailer_value:
      if (c == '\r') chunk_phase_ = trailer_lf;
      return c != '\r' && c != '\t' && is_control(c) ? "malformed trailer" : nullptr;
    case trailer_lf:
      chunk_phase_ = line_first;
      return c == '\n' ? nullptr : "malformed trailer";
    case end_lf:
      phase_ = phase::complete;
      return c == '\n' ? nullptr : "malformed trailer";
  }
  return nullptr;
}

DATAFLUX_INLINE const char* reply_decoder::chunk_size_digit(char c) noexcept {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (const int digit = hex_value(c); digit >= 0) {
    if (remaining_ > most >> 4) return "chunk size out of range";
    remaining_ = remaining_ << 4 | static_cast<std::uint64_t>(digit);
    chunk_phase_ = chunk_phase::size;
    return nullptr;
  }
  if (chunk_phase_ == chunk_phase::size_first) return "malformed chunk size";
  switch (c) {
    case '\r':
      chunk_phase_ = chunk_phase::size_lf;
      return nullptr;
    case ';':
      chunk_phase_ = chunk_phase::extension;
      return nullptr;
    case ' ':
    case '\t':
      chunk_phase_ = chunk_phase::size_blank;
      return nullptr;
    default:
      return "malformed chunk size";
  }
}

DATAFLUX_INLINE result<void> reply_decoder::closed() {
  if (phase_ == phase::complete) return {};
  if (phase_ == phase::body && framing_ == body_framing::until_close) {
    phase_ = phase::complete;
    return {};
  }
  if (phase_ == phase::failed) return fail("it was given up before");
  const bool nothing = phase_ == phase::status_line && scanned_ == 0;
  const bool in_body = phase_ == phase::body;
  give_up();
  return error{errc::unavailable, nothing ? "the server closed the connection without a reply"
                                  : in_body
                                      ? "the server closed the connection inside a reply body"
                                      : "the server closed the connection inside a reply head"};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
