#include <emulator/ais/error.hpp>
#include <emulator/json_writer.hpp>

namespace emulator::ais {

service_error error(int status, const std::string& code, const std::string& message) {
  return {status, "ais", code, message};
}

http_reply error_reply(const service_error& refused, std::string_view method,
                       std::string_view path) {
  std::string code = refused.xml_code;
  // What the stores below have refused in their own words.
  if (refused.reason != "ais") code = refused.status == 404 ? "ErrNotFound" : "ErrFailedTo";
  json_writer out{false};
  out.begin_object();
  out.member("tcode", code);
  out.member("message", refused.what());
  out.member("method", method);
  out.member("url_path", path);
  out.key("status");
  out.number(refused.status);
  out.end_object();
  http_reply reply;
  reply.status = refused.status;
  if (refused.status == 416) {
    reply.set("Content-Range", "bytes */" + std::to_string(refused.object_size));
  }
  reply.set("Content-Type", "application/json");
  reply.body = content{out.take()};
  return reply;
}

}  // namespace emulator::ais
