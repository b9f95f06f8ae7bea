#include <emulator/control_api.hpp>
#include <emulator/fault_json.hpp>
#include <emulator/json_reply.hpp>
#include <emulator/json_writer.hpp>

namespace emulator {
namespace {

http_reply nothing() {
  http_reply reply;
  reply.status = 204;
  return reply;
}

void number(json_writer& out, std::string_view name, std::uint64_t value) {
  out.key(name);
  out.number(static_cast<std::int64_t>(value));
}

bucket_settings::layout layout_of(std::string_view name) {
  if (name == "flat") return bucket_settings::layout::flat;
  if (name == "hierarchical") return bucket_settings::layout::hierarchical;
  if (name == "zonal") return bucket_settings::layout::zonal;
  throw invalid_argument("layout must be flat, hierarchical or zonal");
}

}  // namespace

http_reply control_api::faults(const http_request& request) const {
  if (request.method == "DELETE") {
    faults_.clear();
    return nothing();
  }
  if (request.method == "POST") {
    const auto parsed = parse_json(request.body.to_string());
    if (!parsed) throw invalid_argument("The body is not JSON");
    std::vector<fault_rule> rules;
    if (const auto* array = std::get_if<json_value::array>(&parsed->value)) {
      for (const json_value& line : *array) rules.push_back(read_fault(line));
    } else {
      rules.push_back(read_fault(*parsed));
    }
    for (fault_rule& rule : rules) faults_.add(std::move(rule));
  }
  json_writer out{true};
  out.begin_object();
  number(out, "hits", faults_.hits());
  out.key("rules");
  out.begin_array();
  for (const auto& [rule, hits] : faults_.rules()) {
    out.begin_object();
    out.member("verb", rule.verb);
    out.member("bucket", rule.bucket);
    out.member("object", rule.object);
    out.member("action", name_of(rule.action));
    number(out, "hits", hits);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return json_reply(out.take());
}

http_reply control_api::counters() const {
  const traffic_counters now = seen_.counters();
  json_writer out{true};
  out.begin_object();
  out.key("requests");
  out.begin_array();
  for (const auto& [key, count] : now.requests) {
    out.begin_object();
    out.member("verb", key.first);
    number(out, "status", static_cast<std::uint64_t>(key.second));
    number(out, "count", count);
    out.end_object();
  }
  out.end_array();
  number(out, "classA", now.of_class(operation_class::a));
  number(out, "classB", now.of_class(operation_class::b));
  number(out, "free", now.of_class(operation_class::free));
  number(out, "requestBodyBytes", now.request_body_bytes);
  number(out, "replyBodyBytes", now.reply_body_bytes);
  number(out, "connectionsAccepted", now.connections_accepted);
  number(out, "connectionsOpen", now.connections_open);
  number(out, "multipartUploadsOpen", uploads_.open());
  number(out, "resumableUploadsOpen", sessions_.open());
  out.end_object();
  return json_reply(out.take());
}

http_reply control_api::log() const {
  json_writer out{true};
  out.begin_array();
  for (const logged_request& line : seen_.log()) {
    out.begin_object();
    out.member("verb", line.verb);
    out.member("method", line.method);
    out.member("target", line.target);
    number(out, "status", static_cast<std::uint64_t>(line.status));
    out.end_object();
  }
  out.end_array();
  return json_reply(out.take());
}

http_reply control_api::bucket(std::string_view name, const http_request& request) const {
  const json_value document = body_document(request);
  store_.create_bucket(name);
  store_.configure(name, {}, [&document](bucket_settings& settings) {
    const auto set = [&document](std::string_view member, bool& into) {
      into = document.flag(member).value_or(into);
    };
    set("readOnly", settings.read_only);
    set("noDelete", settings.no_delete);
    set("requesterPays", settings.requester_pays);
    set("versioning", settings.versioning);
    set("objectLock", settings.object_lock);
    if (const auto region = document.text("region")) settings.location = *region;
    if (const auto layout = document.text("layout")) settings.kind = layout_of(*layout);
  });
  return nothing();
}

http_reply control_api::key(const http_request& request) const {
  if (keys_ == nullptr) throw invalid_argument("Keys of AWS are for --service s3");
  const std::int64_t lifetime = body_document(request).integer("lifetime").value_or(3600);
  const std::string id = keys_->issue(std::chrono::seconds(lifetime));
  const s3::access_key made = keys_->find(id).value();
  json_writer out{true};
  out.begin_object();
  out.member("AccessKeyId", id);
  out.member("SecretAccessKey", made.secret);
  out.member("Token", made.session_token);
  out.member("Expiration", rfc3339(made.expires.value()));
  out.end_object();
  return json_reply(out.take());
}

http_reply control_api::service_account(const http_request& request) const {
  const json_value document = body_document(request);
  const auto email = document.text("client_email");
  auto key = document.text("private_key");
  if (!key) key = document.text("public_key");
  if (!email || !key) throw invalid_argument("client_email and private_key are needed");
  signers_.trust(*email, *key);
  return nothing();
}

http_reply control_api::answer(const call& asked, const http_request& request) const {
  static constexpr std::string_view buckets = "/_emulator/buckets/";
  const bool get = request.method == "GET";
  const bool post = request.method == "POST";
  if (asked.path == "/_emulator/faults") return faults(request);
  if (get && asked.path == "/_emulator/counters") return counters();
  if (get && asked.path == "/_emulator/log") return log();
  if (request.method == "PATCH" && asked.path.starts_with(buckets)) {
    return bucket(percent_decode(asked.path.substr(buckets.size())), request);
  }
  if (post && asked.path == "/_emulator/tokens/revoke") {
    tokens_.revoke_all();
    return nothing();
  }
  if (post && asked.path == "/_emulator/keys") return key(request);
  if (post && asked.path == "/_emulator/service-accounts") return service_account(request);
  if (post && asked.path == "/_emulator/uploads/expire") {
    sessions_.expire_all();
    return nothing();
  }
  throw service_error{404, "notFound", "NotFound", "The emulator has no such control"};
}

}  // namespace emulator
