#include <emulator/customer_key.hpp>
#include <emulator/json_reply.hpp>

#include <utility>

namespace emulator {

field_mask wanted_fields(const call& asked) {
  const std::string_view text = asked.query.get("fields");
  return text.empty() ? field_mask{} : field_mask::parse(text);
}

projection wanted_projection(const call& asked, projection otherwise) {
  const std::string_view text = asked.query.get("projection");
  if (asked.uniform_access && (text.empty() || text == "full")) return projection::no_acl;
  if (!asked.query.has("projection")) return otherwise;
  if (text != "full" && text != "noAcl") {
    throw invalid_argument("Invalid value for projection: '" + std::string{text} + "'");
  }
  return text == "full" ? projection::full : projection::no_acl;
}

http_reply json_reply(std::string text) {
  http_reply reply;
  reply.set("Content-Type", "application/json; charset=UTF-8");
  reply.body = content{std::move(text)};
  return reply;
}

http_reply object_reply(const call& asked, const http_request& request, const stored_object& object,
                        projection otherwise) {
  const field_mask wanted = wanted_fields(asked);
  require_object_fields(wanted);
  json_writer out{asked.pretty()};
  write_object(out, object, wanted, request.base(), wanted_projection(asked, otherwise),
               customer_key_of(request));
  http_reply reply = json_reply(out.take());
  reply.set("ETag", object.etag());
  return reply;
}

void take_predefined_access(object_metadata& metadata, const query_parameters& query,
                            std::string_view parameter) {
  const std::string_view name = query.get(parameter);
  if (!name.empty()) metadata.access = predefined_access(access_of::object, name);
}

json_value body_document(const http_request& request) {
  if (request.body.empty()) return {json_value::object{}};
  auto parsed = parse_json(request.body.to_string());
  // Some clients write "null" for no body.
  if (parsed && std::holds_alternative<std::monostate>(parsed->value)) {
    return {json_value::object{}};
  }
  if (!parsed || !std::holds_alternative<json_value::object>(parsed->value)) {
    throw invalid_argument("Parse Error: the body is not a JSON object");
  }
  return std::move(*parsed);
}

}  // namespace emulator
