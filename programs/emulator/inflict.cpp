#include <emulator/digest.hpp>
#include <emulator/inflict.hpp>
#include <emulator/s3/falsify.hpp>
#include <emulator/stored_object.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace emulator {
namespace {

http_reply reply_of(const fault::send& sent) {
  http_reply out;
  out.status = sent.status;
  out.headers = sent.headers;
  if (!sent.body.empty()) out.set("Content-Type", sent.content_type);
  out.body = content{sent.body};
  return out;
}

void limit(wire_script& wire, fault::point where, std::uint64_t body_bytes) {
  switch (where) {
    case fault::point::before_reply:
      wire.head_limit = 0;
      break;
    case fault::point::in_head:
      wire.head_limit = 20;
      break;  // past the status line's beginning
    case fault::point::in_body:
      wire.body_limit = body_bytes;
      break;
  }
}

void flip(http_reply& reply, std::uint64_t offset) {
  std::vector<std::byte> scratch;
  const auto byte = reply.body.read(offset, 1, scratch);
  if (byte.empty()) return;
  content changed = reply.body.slice(0, offset);
  changed.append(content{std::string(1, static_cast<char>(~byte[0]))});
  changed.append(reply.body.slice(offset + 1, reply.body.size()));
  reply.body = std::move(changed);
}

void replace_headers(http_reply& reply, const std::vector<header_line>& fresh) {
  for (const header_line& line : fresh) {
    std::erase_if(reply.headers,
                  [&line](const header_line& h) { return same_name(h.name, line.name); });
    if (!line.value.empty()) reply.headers.push_back(line);
  }
}

/// Replaces the base64 digest at `at` by that of CRC32C + 1, which is well-formed and wrong.
void falsify(std::string& text, std::size_t at) {
  const auto raw = base64_decode(std::string_view{text}.substr(at, 8));
  if (!raw || raw->size() != 4) return;
  std::string wrong = *raw;
  wrong[3] = static_cast<char>(wrong[3] + 1);
  text.replace(at, 8, base64_encode(wrong));
}

void make_hash_wrong(http_reply& reply) {
  s3::make_checksums_wrong(reply);
  for (header_line& h : reply.headers) {
    if (!same_name(h.name, "x-goog-hash")) continue;
    const std::size_t at = h.value.find("crc32c=");
    if (at != std::string::npos) falsify(h.value, at + 7);
  }
  if (!reply.header("Content-Type").starts_with("application/json")) return;
  std::string text = reply.body.to_string();
  std::size_t at = text.find("\"crc32c\":");
  if (at == std::string::npos) return;
  at = text.find('"', at + 9);
  if (at != std::string::npos) falsify(text, at + 1);
  reply.body = content{std::move(text)};
}

service_error refusal(int status) {
  switch (status) {
    case 409:
      return {409, "conflict", "ConditionalRequestConflict",
              "The conditional request cannot succeed due to a conflicting operation against this "
              "resource."};
    case 400:
      return invalid_argument("Invalid argument.");
    case 401:
      return unauthorized(true);
    case 403:
      return {403, "forbidden", "AccessDenied", "Access denied."};
    case 404:
      return {404, "notFound", "NoSuchKey", "Not Found"};
    case 408:
      return {408, "requestTimeout", "RequestTimeout", "Request Timeout"};
    case 412:
      return condition_not_met();
    case 429:
      return {429, "rateLimitExceeded", "SlowDown",
              "The rate of requests is too high. Please reduce your request rate."};
    case 500:
      return {500, "internalError", "InternalError",
              "We encountered an internal error. Please try again."};
    case 503:
      return {503, "backendError", "ServiceUnavailable", "Backend Error"};
    default:
      return {status, "backendError", "InternalError", std::string{reason_phrase(status)}};
  }
}

}  // namespace

void inflict(const fault::action& action, exchange& out) {
  std::visit(
      [&out](const auto& what) {
        using kind = std::remove_cvref_t<decltype(what)>;
        wire_script& wire = out.wire;
        if constexpr (std::is_same_v<kind, fault::cut>) {
          limit(wire, what.where, what.body_bytes);
          wire.at_limit = what.reset ? wire_script::ending::reset : wire_script::ending::close;
        } else if constexpr (std::is_same_v<kind, fault::stall>) {
          limit(wire, what.where, what.body_bytes);
          wire.stall = what.duration;
        } else if constexpr (std::is_same_v<kind, fault::drip>) {
          wire.drip_bytes = what.bytes;
          wire.drip_interval = what.interval;
        } else if constexpr (std::is_same_v<kind, fault::flip_byte>) {
          flip(out.reply, what.offset);
        } else if constexpr (std::is_same_v<kind, fault::wrong_hash>) {
          make_hash_wrong(out.reply);
        } else if constexpr (std::is_same_v<kind, fault::lose_reply>) {
          wire.head_limit = 0;
          wire.at_limit = what.reset ? wire_script::ending::reset : wire_script::ending::close;
        } else if constexpr (std::is_same_v<kind, fault::delay>) {
          wire.delay = what.duration;
        } else if constexpr (std::is_same_v<kind, fault::late_answer>) {
          s3::put_spaces(out.reply, what.spaces, what.before_all);
          if (what.interval.count() > 0) wire.drip_bytes = 1;
          wire.drip_interval = what.interval;
        } else if constexpr (std::is_same_v<kind, fault::set_headers>) {
          replace_headers(out.reply, what.headers);
        } else if constexpr (std::is_same_v<kind, fault::skew>) {
          const auto now = std::chrono::system_clock::now() + what.ahead;
          replace_headers(out.reply, {{"Date", http_date(now)}});
        } else if constexpr (std::is_same_v<kind, fault::etag_form>) {
          s3::change_etags(out.reply, what.form);
        }
      },
      action);
}

std::optional<http_reply> reply_instead(const fault::action& action, error_form form) {
  if (const auto* sent = std::get_if<fault::send>(&action)) return reply_of(*sent);
  if (const auto* refused = std::get_if<fault::refuse>(&action)) {
    return render(refusal(refused->status), form);
  }
  if (const auto* late = std::get_if<fault::late_answer>(&action); late && !late->code.empty()) {
    http_reply out = render({200, "", late->code, "The request failed after it had begun."}, form);
    return out;
  }
  if (std::holds_alternative<fault::expire_tokens>(action)) {
    return render(unauthorized(true), form);
  }
  return std::nullopt;
}

bool prevents(const fault::action& action) {
  const auto* cut = std::get_if<fault::cut>(&action);
  return reply_instead(action, error_form::json).has_value() ||
         (cut != nullptr && cut->where == fault::point::before_reply);
}

}  // namespace emulator
