#include <emulator/ais/error.hpp>
#include <emulator/json_writer.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/service_error.hpp>

namespace emulator {

service_error no_such_bucket() {
  return {404, "notFound", "NoSuchBucket", "The specified bucket does not exist."};
}
service_error no_such_object(std::string_view bucket, std::string_view name) {
  std::string text = "No such object: ";
  text.append(bucket).append("/").append(name);
  service_error e{404, "notFound", "NoSuchKey", text};
  e.xml_message = "The specified key does not exist.";
  return e;
}
service_error no_such_upload() {
  return {404, "notFound", "NoSuchUpload", "The requested upload was not found."};
}
service_error condition_not_met() {
  service_error e{412, "conditionNotMet", "PreconditionFailed",
                  "At least one of the pre-conditions you specified did not hold."};
  e.location = "If-Match";
  e.location_type = "header";
  return e;
}
service_error not_modified() { return {304, "notModified", "NotModified", "Not modified."}; }
service_error range_not_satisfiable(std::uint64_t object_size) {
  service_error e{416, "requestedRangeNotSatisfiable", "InvalidRange",
                  "Request range not satisfiable"};
  e.xml_message = "The requested range cannot be satisfied.";
  e.object_size = object_size;
  return e;
}
service_error invalid_argument(const std::string& message) {
  return {400, "invalid", "InvalidArgument", message};
}
service_error required_parameter(const std::string& name) {
  service_error e{400, "required", "InvalidArgument", "Required parameter: " + name};
  e.location = name;
  e.location_type = "parameter";
  return e;
}
service_error bad_request(std::string xml_code, const std::string& message) {
  return {400, "invalid", std::move(xml_code), message};
}
service_error forbidden(std::string_view permission, std::string_view object) {
  const std::string_view kind = object.empty() ? "bucket" : "object";
  std::string text = "emulator@example.iam.gserviceaccount.com does not have ";
  text.append(permission).append(" access to the Google Cloud Storage ").append(kind);
  text.append(". Permission '").append(permission);
  text.append("' denied on resource (or it may not exist).");
  service_error e{403, "forbidden", "AccessDenied", text};
  e.xml_message = "Access denied.";
  return e;
}
service_error under_hold(std::string_view bucket, std::string_view name, std::string_view kind) {
  std::string text = "Object '";
  text.append(bucket).append("/").append(name).append("' is under active ").append(kind);
  text.append(" hold and cannot be deleted, overwritten or archived until hold is removed.");
  return {403, "objectUnderActiveHold", "ObjectUnderActiveHold", text};
}
service_error retention_not_met(std::string_view bucket, std::string_view name,
                                std::string_view until) {
  std::string text = "Object '";
  text.append(bucket).append("/").append(name);
  text.append("' is subject to bucket's retention policy and cannot be deleted, overwritten or ");
  text.append("archived until ").append(until);
  return {403, "retentionPolicyNotMet", "RetentionPolicyNotMet", text};
}
service_error not_modelled(const std::string& what) {
  return {400, "notImplemented", "NotImplemented", "The emulator does not model " + what};
}
service_error uniform_access() {
  return {400, "invalid", "InvalidArgument",
          "Cannot use access control lists of a bucket that has uniform bucket-level access."};
}
service_error public_access() {
  return {412, "conditionNotMet", "PublicAccessPrevented",
          "allUsers and allAuthenticatedUsers are not allowed since public access prevention is "
          "enforced."};
}
service_error unauthorized(bool token_sent) {
  service_error e{
      401, token_sent ? "authError" : "required",
      token_sent ? "AuthenticationRequired" : "AccessDenied",
      token_sent ? "Invalid Credentials" : "Anonymous caller does not have storage access."};
  e.location = "Authorization";
  e.location_type = "header";
  return e;
}

namespace {

std::string json_error_document(const service_error& error) {
  json_writer out{true};
  out.begin_object();
  out.key("error");
  out.begin_object();
  out.key("code");
  out.number(error.status);
  out.member("message", error.what());
  out.key("errors");
  out.begin_array();
  out.begin_object();
  out.member("message", error.what());
  out.member("domain", "global");
  out.member("reason", error.reason);
  if (!error.location.empty()) {
    out.member("locationType", error.location_type);
    out.member("location", error.location);
  }
  out.end_object();
  out.end_array();
  out.end_object();
  out.end_object();
  return out.take();
}

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) {
          out += c;
        } else {
          // XML 1.0 cannot say most of these; S3 writes them so all the same.
          out.append("&#").append(std::to_string(static_cast<int>(c))).append(";");
        }
    }
  }
  return out;
}

std::string xml_error_document(std::string_view code, std::string_view message,
                               std::string_view details) {
  std::string out = "<?xml version='1.0' encoding='UTF-8'?><Error><Code>";
  out.append(code).append("</Code><Message>").append(xml_escape(message)).append("</Message>");
  if (!details.empty()) out.append("<Details>").append(xml_escape(details)).append("</Details>");
  out.append("</Error>");
  return out;
}

http_reply render(const service_error& error, error_form form) {
  if (form == error_form::s3) return s3::error_reply(error);
  if (form == error_form::ais) return ais::error_reply(error, {}, {});
  http_reply reply;
  reply.status = error.status;
  if (error.status == 304) return reply;
  if (error.status == 401) {
    reply.set("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\"");
  }
  if (error.status == 416) {
    reply.set("Content-Range", "bytes */" + std::to_string(error.object_size));
  }
  switch (form) {
    case error_form::json:
      reply.set("Content-Type", "application/json; charset=UTF-8");
      reply.body = content{json_error_document(error)};
      break;
    case error_form::text:
      reply.set("Content-Type", "text/html; charset=UTF-8");
      reply.body = content{std::string{error.what()}};
      break;
    case error_form::s3:
    case error_form::ais:
    case error_form::xml: {
      const bool own_words = !error.xml_message.empty();
      const std::string message = own_words ? error.xml_message : std::string{error.what()};
      reply.set("Content-Type", "application/xml; charset=UTF-8");
      reply.body = content{xml_error_document(error.xml_code, message,
                                              own_words ? error.what() : std::string_view{})};
      break;
    }
  }
  return reply;
}

}  // namespace emulator
