#include <emulator/digest.hpp>
#include <emulator/s3/error.hpp>

namespace emulator::s3 {

service_error error(int status, const std::string& code, const std::string& message) {
  return {status, "invalid", code, message};
}

service_error no_such_key() { return error(404, "NoSuchKey", "The specified key does not exist."); }
service_error no_such_version() {
  return error(404, "NoSuchVersion", "The specified version does not exist.");
}
service_error access_denied(const std::string& message) {
  return error(403, "AccessDenied", message);
}
service_error malformed_xml() {
  return error(400, "MalformedXML",
               "The XML you provided was not well-formed or did not validate against our published "
               "schema");
}
service_error not_implemented(const std::string& what) {
  return error(501, "NotImplemented",
               "A header you provided implies functionality that is not implemented: " + what);
}
service_error method_not_allowed() {
  return error(405, "MethodNotAllowed",
               "The specified method is not allowed against this resource.");
}

service_error in_own_words(const service_error& refused) {
  service_error out = refused;
  if (!refused.xml_message.empty()) {
    service_error worded{refused.status, refused.reason, refused.xml_code, refused.xml_message};
    worded.object_size = refused.object_size;
    worded.members = refused.members;
    worded.headers = refused.headers;
    out = worded;
  }
  // What is not modelled is 400 of Google's face, whose clients repeat a 501.
  if (out.xml_code == "NotImplemented") out.status = 501;
  if (out.status == 429 || (out.status == 503 && out.xml_code == "ServiceUnavailable")) {
    out = error(503, "SlowDown", "Please reduce your request rate.");
  }
  if (out.xml_code == "AuthenticationRequired") {
    out = error(400, "ExpiredToken", "The provided token has expired.");
  }
  return out;
}

http_reply error_reply(const service_error& given) {
  const service_error refused = in_own_words(given);
  http_reply reply;
  reply.status = refused.status;
  for (const header_line& h : refused.headers) reply.headers.push_back(h);
  if (refused.status == 304) return reply;
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>";
  out.append(refused.xml_code).append("</Code><Message>");
  out.append(xml_escape(refused.what())).append("</Message>");
  for (const header_line& member : refused.members) {
    out.append("<").append(member.name).append(">").append(xml_escape(member.value));
    out.append("</").append(member.name).append(">");
  }
  if (refused.status == 416) {
    const std::string size = std::to_string(refused.object_size);
    reply.set("Content-Range", "bytes */" + size);
    out.append("<ActualObjectSize>").append(size).append("</ActualObjectSize>");
  }
  out.append("</Error>");
  reply.set("Content-Type", "application/xml");
  reply.body = content{std::move(out)};
  return reply;
}

void sign_off(http_reply& reply, const std::string& request_id) {
  const std::string host_id = base64_encode(sha256(request_id));
  reply.set("x-amz-request-id", request_id);
  reply.set("x-amz-id-2", host_id);
  if (reply.header("Server").empty()) reply.set("Server", "AmazonS3");
  if (!reply.header("Content-Type").starts_with("application/xml")) return;
  static constexpr std::string_view end = "</Error>";
  const std::uint64_t size = reply.body.size();
  if (size < end.size() || size > 65'536) return;
  const std::string text = reply.body.to_string();
  if (!text.ends_with(end)) return;
  reply.body = content{text.substr(0, text.size() - end.size()) + "<RequestId>" + request_id +
                       "</RequestId><HostId>" + host_id + "</HostId></Error>"};
}

}  // namespace emulator::s3
