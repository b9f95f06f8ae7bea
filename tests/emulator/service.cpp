#include <emulator/digest.hpp>
#include <emulator/service.hpp>

#include <array>
#include <cstdio>
#include <type_traits>
#include <utility>

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

/// Replaces the base64 digest at `at` by that of CRC32C + 1, which is well-formed and wrong.
void falsify(std::string& text, std::size_t at) {
  const auto raw = base64_decode(std::string_view{text}.substr(at, 8));
  if (!raw || raw->size() != 4) return;
  std::string wrong = *raw;
  wrong[3] = static_cast<char>(wrong[3] + 1);
  text.replace(at, 8, base64_encode(wrong));
}

void make_hash_wrong(http_reply& reply) {
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

/// What is done to a reply that has been made.
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
        }
      },
      action);
}

/// True when the fault keeps the request from being executed.
bool prevents(const fault::action& action) {
  const auto* cut = std::get_if<fault::cut>(&action);
  return std::holds_alternative<fault::send>(action) ||
         (cut != nullptr && cut->where == fault::point::before_reply);
}

int sent_status(const exchange& what) {
  const bool silent =
      what.wire.head_limit == 0 && !(what.wire.stall && what.wire.stall->count() > 0);
  return silent ? 0 : what.reply.status;
}

}  // namespace

service::service(const service_options& options)
    : options_(options),
      tokens_(options.known, options.token_lifetime),
      traffic_(options.log_limit),
      json_(store_),
      xml_(store_, uploads_, options.least_part_size) {}

void service::require_token(const http_request& request) const {
  const std::string_view header = request.header("Authorization");
  static constexpr std::string_view scheme = "Bearer ";
  if (!header.starts_with(scheme)) throw unauthorized(!header.empty());
  if (!tokens_.accepts(header.substr(scheme.size()))) throw unauthorized(true);
}

http_reply service::dispatch(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (verb == "token") return tokens_.token(request);
  if (verb == "metadata") return tokens_.metadata(request);
  if (options_.require_token) require_token(request);
  if (verb == "objects.media") {
    return asked.xml ? xml_.get(asked, request, false) : json_.media(asked, request);
  }
  if (verb == "objects.get") {
    return asked.xml ? xml_.get(asked, request, true) : json_.get(asked, request);
  }
  if (verb == "objects.insert") {
    return asked.xml ? xml_.put(asked, request) : json_.insert(asked, request);
  }
  if (verb == "objects.delete") {
    return asked.xml ? xml_.remove(asked, request) : json_.remove(asked, request);
  }
  if (verb == "objects.list") return json_.list(asked, request);
  if (verb == "multipart.part") return xml_.part(asked, request);
  if (verb == "multipart.initiate") return xml_.initiate(asked, request);
  if (verb == "multipart.complete") return xml_.complete(asked, request);
  if (verb == "multipart.abort") return xml_.abort(asked);
  if (verb == "multipart.list_parts") return xml_.list_parts(asked);
  if (verb == "multipart.list") return xml_.list_uploads(asked);
  if (verb == "buckets.get") return json_.get_bucket(asked);
  if (verb == "buckets.insert") return json_.insert_bucket(asked, request);
  throw service_error{404, "notFound", "NotFound", "Not Found"};
}

http_reply service::execute(const call& asked, const http_request& request) {
  http_reply reply;
  try {
    reply = dispatch(asked, request);
  } catch (const service_error& refused) {
    reply = render(refused, asked.form);
  }
  if (request.method == "HEAD") reply.head_only = true;
  return reply;
}

std::optional<service::early_exchange> service::early(const http_request& head) {
  if (!faults_.active()) return std::nullopt;
  const auto rule = faults_.match(route(head), true);
  if (!rule) return std::nullopt;
  early_exchange out{.request_bytes = *rule->request_bytes, .what = {}};
  if (const auto* sent = std::get_if<fault::send>(&rule->action)) out.what.reply = reply_of(*sent);
  inflict(rule->action, out.what);
  traffic_.record(route(head).verb, head, sent_status(out.what));
  return out;
}

exchange service::handle(const http_request& request) {
  call asked = route(request);
  exchange out;
  std::optional<fault_rule> rule;
  if (faults_.active()) {
    if (asked.verb == "objects.insert" && asked.object.empty()) {
      asked.object = name_in_body(request);
    }
    rule = faults_.match(asked, false);
  }
  if (rule) {
    if (const auto* shorter = std::get_if<fault::short_page>(&rule->action)) {
      asked.page_limit = shorter->results;
    }
  }
  if (!rule || !prevents(rule->action)) {
    out.reply = execute(asked, request);
  } else if (const auto* sent = std::get_if<fault::send>(&rule->action)) {
    out.reply = reply_of(*sent);
  }
  if (rule) inflict(rule->action, out);
  std::array<char, 32> id{};
  std::snprintf(id.data(), id.size(), "AEmu%012llx",
                static_cast<unsigned long long>(next_id_.fetch_add(1, std::memory_order_relaxed)));
  out.reply.set("X-GUploader-UploadID", id.data());
  traffic_.record(asked.verb, request, sent_status(out));
  return out;
}

}  // namespace emulator
