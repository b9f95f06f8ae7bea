#include <emulator/service.hpp>

#include <algorithm>
#include <utility>

/// What the instructions of a retry test do to a call, by means of faults.
namespace emulator {
namespace {

using act = retry_instruction::kind;

bool is_upload(const call& asked) {
  return asked.verb == "objects.insert" || asked.verb == "objects.form" ||
         asked.verb == "multipart.part";
}

/// Ends the connection after so many bytes of the body.
void break_off(exchange& out, std::uint64_t bytes) {
  inflict(fault::cut{.where = fault::point::in_body, .body_bytes = bytes, .reset = false}, out);
}

std::vector<std::string> names_of_list(std::string_view text) {
  text.remove_prefix(std::min(text.find("buckets-") + 8, text.size()));
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

/// Of an upload that is to break off after `bytes`: what is executed, if it comes so far.
std::optional<exchange> service::upload_broken(call& asked, const http_request& request,
                                               const retry_instruction& what) {
  exchange out;
  if (is_upload(asked)) {
    if (request.body.size() < what.bytes) return std::nullopt;
  } else if (asked.verb == "resumable.chunk") {
    upload_range range;
    try {
      range = upload_range::parse(request.header("Content-Range"));
    } catch (const service_error&) {
      return std::nullopt;  // the verb itself will say what is wrong
    }
    const std::uint64_t kept = sessions_.persisted(asked.query.get("upload_id"));
    if (kept < what.bytes) {
      if (range.first + request.body.size() < what.bytes) return std::nullopt;
      asked.persist_limit = what.bytes - std::min(range.first, what.bytes);
      execute(asked, request);
    }
  } else {
    return std::nullopt;
  }
  out.reply = *reply_instead(fault::refuse{what.status}, asked.form);
  return out;
}

/// Acts on the next instruction of the request's retry test; empty optional where there is none, or
/// none that fits.
std::optional<exchange> service::retried(call& asked, const http_request& request) {
  const std::string_view id = request.header("x-retry-test-id");
  if (id.empty() || asked.verb == "control" || asked.verb == "retry_test") return std::nullopt;
  const std::string method = retry_method_of(asked);
  exchange out;
  std::optional<retry_instruction> next;
  try {
    next = retry_tests_.next(id, method);
  } catch (const service_error& unknown) {
    out.reply = render(unknown, asked.form);
    return out;
  }
  if (!next) return std::nullopt;
  const auto done = [&](exchange&& what) {
    retry_tests_.used(id, method);
    return std::optional{std::move(what)};
  };
  const bool uploads = is_upload(asked) || asked.verb == "resumable.chunk";
  switch (next->what) {
    case act::status:
      out.reply = *reply_instead(fault::refuse{next->status}, asked.form);
      return done(std::move(out));
    case act::reset:
      inflict(fault::cut{.where = fault::point::before_reply, .reset = true}, out);
      return done(std::move(out));
    case act::status_after: {
      auto broken = upload_broken(asked, request, *next);
      return broken ? done(std::move(*broken)) : std::nullopt;
    }
    case act::stall:
      if (uploads && request.body.size() <= next->bytes) return std::nullopt;
      break;
    case act::unreachable:
      if (!asked.query.flag("returnPartialSuccess")) return std::nullopt;
      asked.unreachable = names_of_list(next->text);
      break;
    case act::broken_media:
      if (method != "storage.objects.get") return std::nullopt;
      break;
    case act::broken_stream:
    case act::short_end:
      break;
  }
  // The others act on a reply, if it is long enough.
  out.reply = execute(asked, request);
  const std::uint64_t size = out.reply.head_only ? 0 : out.reply.body.size();
  const auto wait = std::chrono::milliseconds(next->seconds * 1000);
  if (next->what == act::unreachable) return done(std::move(out));
  if (next->what == act::short_end) {
    const bool last = asked.verb == "resumable.chunk" && out.reply.status == 200;
    if (!last) return out;
    out.reply.body = out.reply.body.slice(0, next->bytes);
    return done(std::move(out));
  }
  if (next->what == act::stall && uploads) {
    inflict(fault::delay{wait}, out);
    return done(std::move(out));
  }
  if (size < std::max<std::uint64_t>(next->bytes, 1)) return out;
  if (next->what == act::stall) {
    inflict(
        fault::stall{.where = fault::point::in_body, .body_bytes = next->bytes, .duration = wait},
        out);
  } else {
    break_off(out, next->bytes);
  }
  return done(std::move(out));
}

}  // namespace emulator
