#include <emulator/digest.hpp>
#include <emulator/json_reply.hpp>
#include <emulator/retry_tests.hpp>

#include <algorithm>
#include <array>

namespace emulator {
namespace {

struct named_call {
  std::string_view verb;
  std::string_view method;
};
/// Where the testbench's name is not "storage." and the verb.
constexpr std::array<named_call, 18> named_calls{
    {{"objects.media", "storage.objects.get"},
     {"objects.form", "storage.objects.insert"},
     {"resumable.start", "storage.objects.insert"},
     {"resumable.chunk", "storage.objects.insert"},
     {"resumable.status", "storage.objects.insert"},
     {"resumable.cancel", "storage.objects.delete"},
     {"multipart.initiate", "storage.objects.insert"},
     {"multipart.part", "storage.objects.insert"},
     {"multipart.complete", "storage.objects.insert"},
     {"multipart.abort", ""},
     {"multipart.list", ""},
     {"multipart.list_parts", ""},
     {"buckets.testPermissions", "storage.buckets.testIamPermissions"},
     {"buckets.storageLayout", "storage.storageLayout.get"},
     {"serviceAccount.get", "storage.serviceaccount.get"},
     {"batch", ""},
     {"token", ""},
     {"metadata", ""}}};
struct named_kind {
  std::string_view prefix;
  std::string_view method;
};
constexpr std::array<named_kind, 4> named_kinds{
    {{"bucketAccessControls.", "storage.bucket_acl."},
     {"defaultObjectAccessControls.", "storage.default_object_acl."},
     {"objectAccessControls.", "storage.object_acl."},
     {"hmacKeys.", "storage.hmacKey."}}};

/// Every name that an instruction may be for.
bool known_method(std::string_view method) {
  static constexpr std::array<std::string_view, 32> simple{"buckets.list",
                                                           "buckets.insert",
                                                           "buckets.get",
                                                           "buckets.update",
                                                           "buckets.patch",
                                                           "buckets.delete",
                                                           "buckets.getIamPolicy",
                                                           "buckets.setIamPolicy",
                                                           "buckets.testIamPermissions",
                                                           "buckets.lockRetentionPolicy",
                                                           "objects.list",
                                                           "objects.get",
                                                           "objects.insert",
                                                           "objects.update",
                                                           "objects.patch",
                                                           "objects.delete",
                                                           "objects.compose",
                                                           "objects.copy",
                                                           "objects.rewrite",
                                                           "objects.move",
                                                           "objects.restore",
                                                           "notifications.list",
                                                           "notifications.insert",
                                                           "notifications.get",
                                                           "notifications.delete",
                                                           "hmacKey.create",
                                                           "hmacKey.list",
                                                           "hmacKey.get",
                                                           "hmacKey.update",
                                                           "hmacKey.delete",
                                                           "serviceaccount.get",
                                                           "storageLayout.get"};
  static constexpr std::array<std::string_view, 6> verbs{"list",   "get",   "insert",
                                                         "update", "patch", "delete"};
  if (!method.starts_with("storage.")) return false;
  method.remove_prefix(8);
  if (std::ranges::find(simple, method) != simple.end()) return true;
  for (const std::string_view kind : {"bucket_acl.", "default_object_acl.", "object_acl."}) {
    if (!method.starts_with(kind)) continue;
    return std::ranges::find(verbs, method.substr(kind.size())) != verbs.end();
  }
  return false;
}

/// Takes `mark` off the front of `text`.
bool take(std::string_view& text, std::string_view mark) {
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(mark.size());
  return true;
}

/// Takes a number and what must follow it off the front; empty optional when it is not so.
std::optional<std::uint64_t> take_number(std::string_view& text, std::string_view then) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = parse_integer(text.substr(0, end));
  if (!value || !text.substr(end).starts_with(then)) return std::nullopt;
  text.remove_prefix(end + then.size());
  return static_cast<std::uint64_t>(*value);
}

/// After "return-": "503" or "503-after-256K".
std::optional<retry_instruction> parse_status(std::string_view text) {
  using kind = retry_instruction::kind;
  const auto status = take_number(text, "");
  if (!status || *status < 200 || *status > 599) return std::nullopt;
  retry_instruction out{.what = kind::status, .status = static_cast<int>(*status)};
  if (text.empty()) return out;
  if (!take(text, "-after-")) return std::nullopt;
  const auto kib = take_number(text, "K");
  if (!kib || !text.empty()) return std::nullopt;
  out.what = kind::status_after;
  out.bytes = *kib << 10U;
  return out;
}

std::optional<retry_instruction> parse_instruction(std::string_view text) {
  using kind = retry_instruction::kind;
  if (take(text, "stall-for-")) {
    const auto seconds = take_number(text, "s-after-");
    const auto kib = seconds ? take_number(text, "K") : std::nullopt;
    if (!kib || !text.empty()) return std::nullopt;
    return retry_instruction{.what = kind::stall, .bytes = *kib << 10U, .seconds = *seconds};
  }
  if (!take(text, "return-")) return std::nullopt;
  if (text == "reset-connection") return retry_instruction{.what = kind::reset};
  if (take(text, "unreachable-buckets-")) return retry_instruction{.what = kind::unreachable};
  if (!take(text, "broken-stream")) return parse_status(text);
  if (text.empty()) return retry_instruction{.what = kind::broken_stream, .bytes = 4};
  if (take(text, "-final-chunk-after-")) {
    const auto bytes = take_number(text, "B");
    if (!bytes || !text.empty()) return std::nullopt;
    return retry_instruction{.what = kind::short_end, .bytes = *bytes};
  }
  if (!take(text, "-after-")) return std::nullopt;
  const auto kib = take_number(text, "K");
  if (!kib || !text.empty()) return std::nullopt;
  return retry_instruction{.what = kind::broken_media, .bytes = *kib << 10U};
}

http_reply in_json(json_writer& out) {
  http_reply reply;
  reply.set("Content-Type", "application/json");
  reply.body = content{out.take()};
  return reply;
}

}  // namespace

retry_instruction retry_instruction::parse(const std::string& text) {
  if (text.starts_with("redirect-") || text.ends_with("-if-dp-enforced")) {
    throw not_modelled("gRPC, which the instruction \"" + text + "\" is for");
  }
  auto out = parse_instruction(text);
  if (!out) throw invalid_argument("The fault injection request <" + text + "> is invalid.");
  out->text = text;
  return *out;
}

std::string retry_method_of(const call& asked) {
  const auto exact = std::ranges::find(named_calls, asked.verb, &named_call::verb);
  if (exact != named_calls.end()) return std::string{exact->method};
  for (const named_kind& each : named_kinds) {
    if (!asked.verb.starts_with(each.prefix)) continue;
    return std::string{each.method} + std::string{asked.verb.substr(each.prefix.size())};
  }
  return "storage." + std::string{asked.verb};
}

const retry_tests::entry& retry_tests::find(std::string_view id) const {
  const auto at = tests_.find(id);
  if (at == tests_.end()) {
    throw service_error{404, "notFound", "NotFound",
                        "Retry Test " + std::string{id} + " does not exist."};
  }
  return at->second;
}

std::optional<retry_instruction> retry_tests::next(std::string_view id,
                                                   const std::string& method) const {
  const std::lock_guard lock{mutex_};
  const entry& test = find(id);
  const auto at = test.instructions.find(method);
  if (at == test.instructions.end() || at->second.empty()) return std::nullopt;
  return at->second.front();
}

void retry_tests::used(std::string_view id, const std::string& method) {
  const std::lock_guard lock{mutex_};
  const auto at = tests_.find(id);
  if (at == tests_.end()) return;
  auto& queue = at->second.instructions[method];
  if (!queue.empty()) queue.pop_front();
  at->second.completed = std::ranges::all_of(at->second.instructions,
                                             [](const auto& each) { return each.second.empty(); });
}

void retry_tests::write(json_writer& out, const std::string& id, const entry& test) {
  out.begin_object();
  out.member("id", id);
  out.key("instructions");
  out.begin_object();
  for (const auto& [method, queue] : test.instructions) {
    out.key(method);
    out.begin_array();
    for (const retry_instruction& each : queue) out.string(each.text);
    out.end_array();
  }
  out.end_object();
  out.key("completed");
  out.boolean(test.completed);
  out.member("transport", "HTTP");
  out.end_object();
}

std::string retry_tests::add(const json_value& document) {
  const std::string transport = document.text("transport").value_or("HTTP");
  if (!same_name(transport, "HTTP")) throw not_modelled("the transport " + transport);
  const json_value* given = document.find("instructions");
  const auto* members = given == nullptr ? nullptr : std::get_if<json_value::object>(&given->value);
  if (members == nullptr || members->empty()) {
    throw invalid_argument("instructions is not defined");
  }
  entry fresh;
  for (const auto& [method, list] : *members) {
    const auto* items = std::get_if<json_value::array>(&list.value);
    if (items == nullptr || !known_method(method)) {
      throw invalid_argument("The requested method <" + method +
                             "> for fault injection is invalid.");
    }
    auto& queue = fresh.instructions[method];
    for (const json_value& item : *items) {
      const auto* text = std::get_if<std::string>(&item.value);
      queue.push_back(retry_instruction::parse(text == nullptr ? "" : *text));
    }
  }
  const std::string id = hex_encode(md5("retry test " + std::to_string(next_++)));
  tests_.emplace(id, std::move(fresh));
  return id;
}

http_reply retry_tests::answer(const call& asked, const http_request& request) {
  const std::lock_guard lock{mutex_};
  json_writer out{false};
  if (request.method == "POST" && asked.item.empty()) {
    const std::string id = add(body_document(request));
    write(out, id, find(id));
    return in_json(out);
  }
  if (request.method == "GET" && asked.path == "/retry_tests") {
    out.begin_object();
    out.key("retry_test");
    out.begin_array();
    for (const auto& [id, test] : tests_) write(out, id, test);
    out.end_array();
    out.end_object();
    return in_json(out);
  }
  const entry& test = find(asked.item);
  if (request.method == "DELETE") {
    tests_.erase(tests_.find(asked.item));
    http_reply reply;
    reply.set("Content-Type", "text/plain");
    reply.body = content{"Deleted " + asked.item};
    return reply;
  }
  write(out, asked.item, test);
  return in_json(out);
}

}  // namespace emulator
