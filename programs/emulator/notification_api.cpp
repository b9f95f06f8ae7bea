#include <emulator/digest.hpp>
#include <emulator/json_reply.hpp>
#include <emulator/notification_api.hpp>

#include <array>

namespace emulator {
namespace {

service_error no_notification(std::string_view id) {
  return {404, "notFound", "NotFound", "There is no notification " + std::string{id}};
}

/// The members that a writer says, in the service's spelling; Google's description of the API has
/// them with underscores. Throws 400.
json_value read_notification(const json_value& document) {
  static constexpr std::array<std::string_view, 3> optional{"event_types", "custom_attributes",
                                                            "object_name_prefix"};
  json_value::object out;
  const auto topic = document.text("topic");
  if (!topic) throw required_parameter("topic");
  if (topic->find("projects/") == std::string::npos ||
      topic->find("/topics/") == std::string::npos) {
    throw invalid_argument("Invalid topic: '" + *topic + "'");
  }
  out.emplace("topic", json_value{*topic});
  const std::string format = document.text("payload_format").value_or("");
  if (format.empty()) throw required_parameter("payload_format");
  if (format != "JSON_API_V1" && format != "NONE") {
    throw invalid_argument("Invalid payload_format: '" + format + "'");
  }
  out.emplace("payload_format", json_value{format});
  for (const std::string_view name : optional) {
    const json_value* given = document.find(name);
    if (given != nullptr && !given->is_null()) out.emplace(name, *given);
  }
  return {std::move(out)};
}

void write_notification(json_writer& out, const call& asked, const http_request& request,
                        std::int64_t id, const json_value& held, const field_mask& wanted) {
  const std::string number = std::to_string(id);
  json_value whole = held;
  auto& members = std::get<json_value::object>(whole.value);
  members.emplace("kind", json_value{std::string{"storage#notification"}});
  members.emplace("id", json_value{number});
  members.emplace("etag", json_value{number});
  members.emplace("selfLink", json_value{request.base() + "/storage/v1/b/" + asked.bucket +
                                         "/notificationConfigs/" + number});
  write_json(out, whole, wanted);
}

}  // namespace

http_reply notification_api::list(const call& asked, const http_request& request) const {
  const bucket_facts bucket = store_.facts(asked.bucket);
  const field_mask wanted = wanted_fields(asked);
  json_writer out{asked.pretty()};
  out.begin_object();
  if (wanted.has("kind")) out.member("kind", "storage#notifications");
  const field_mask* inside = wanted.find("items");
  if (inside != nullptr && !bucket.notifications.empty()) {
    out.key("items");
    out.begin_array();
    for (const auto& [id, held] : bucket.notifications) {
      write_notification(out, asked, request, id, held, *inside);
    }
    out.end_array();
  }
  out.end_object();
  return json_reply(out.take());
}

http_reply notification_api::get(const call& asked, const http_request& request) const {
  const bucket_facts bucket = store_.facts(asked.bucket);
  const auto at = bucket.notifications.find(parse_integer(asked.item).value_or(0));
  if (at == bucket.notifications.end()) throw no_notification(asked.item);
  json_writer out{asked.pretty()};
  write_notification(out, asked, request, at->first, at->second, wanted_fields(asked));
  return json_reply(out.take());
}

http_reply notification_api::insert(const call& asked, const http_request& request) const {
  const json_value fresh = read_notification(body_document(request));
  const bucket_facts bucket = store_.edit(asked.bucket, [&fresh](bucket_facts& facts) {
    if (facts.notifications.size() >= 100) throw invalid_argument("Too many notifications");
    facts.notifications.emplace(++facts.last_notification, fresh);
  });
  json_writer out{asked.pretty()};
  write_notification(out, asked, request, bucket.last_notification, fresh, wanted_fields(asked));
  return json_reply(out.take());
}

http_reply notification_api::remove(const call& asked) const {
  store_.edit(asked.bucket, [&asked](bucket_facts& facts) {
    const auto id = parse_integer(asked.item);
    if (!id || facts.notifications.erase(*id) == 0) throw no_notification(asked.item);
  });
  http_reply reply;
  reply.status = 204;
  return reply;
}

}  // namespace emulator
