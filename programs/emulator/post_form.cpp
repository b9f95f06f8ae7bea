#include <emulator/digest.hpp>
#include <emulator/media.hpp>
#include <emulator/post_form.hpp>
#include <emulator/upload_body.hpp>
#include <emulator/xml_api.hpp>
#include <emulator/xml_writer.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace emulator {
namespace {

service_error bad_form(const std::string& why) {
  return bad_request(
      "MalformedPOSTRequest",
      "The body of your POST request is not well-formed multipart/form-data: " + why);
}

service_error policy_broken(const std::string& details) {
  service_error out = bad_request("InvalidPolicyDocument", details);
  out.xml_message =
      "The content of the form does not meet the conditions specified in the policy document.";
  return out;
}

/// `name="value"` among the parameters of a Content-Disposition.
std::optional<std::string> disposition_parameter(std::string_view header, std::string_view name) {
  const std::string mark = "; " + std::string{name} + "=\"";
  const std::size_t at = header.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t from = at + mark.size();
  const std::size_t to = header.find('"', from);
  if (to == std::string_view::npos) throw bad_form("a quotation mark is missing");
  return std::string{header.substr(from, to - from)};
}

struct part_head {
  std::string disposition{};
  std::string type{};
};

/// Takes the header lines and the blank line off `rest`.
part_head take_head(std::string_view& rest) {
  part_head out;
  while (true) {
    const std::size_t end = rest.find("\r\n");
    if (end == std::string_view::npos) throw bad_form("a part has no end of its head");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    if (line.empty()) return out;
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view value = trim(line.substr(std::min(colon + 1, line.size())));
    if (same_name(line.substr(0, colon), "Content-Disposition")) out.disposition = value;
    if (same_name(line.substr(0, colon), "Content-Type")) out.type = value;
  }
}

}  // namespace

std::string_view upload_form::get(std::string_view name) const noexcept {
  const auto at = std::ranges::find(
      fields, name, [](const auto& field) -> std::string_view { return field.first; });
  return at == fields.end() ? std::string_view{} : std::string_view{at->second};
}

bool upload_form::has(std::string_view name) const noexcept {
  return std::ranges::any_of(fields, [name](const auto& field) { return field.first == name; });
}

upload_form upload_form::parse(const http_request& request) {
  const std::string dashes = "--" + boundary_of(request, "multipart/form-data");
  std::vector<std::byte> scratch;
  const std::string_view whole =
      text_of(request.body.read(0, std::numeric_limits<std::size_t>::max(), scratch));
  std::string_view rest = whole;
  if (!rest.starts_with(dashes)) throw bad_form("it does not begin with its boundary");
  rest.remove_prefix(dashes.size());
  upload_form out;
  while (rest.starts_with("\r\n")) {
    rest.remove_prefix(2);
    const part_head head = take_head(rest);
    const std::size_t end = rest.find("\r\n" + dashes);
    if (end == std::string_view::npos) throw bad_form("its last boundary is missing");
    const auto name = disposition_parameter(head.disposition, "name");
    if (!name) throw bad_form("a part has no name");
    if (*name == "file") {
      const auto offset = static_cast<std::uint64_t>(rest.data() - whole.data());
      out.file = request.body.slice(offset, end);
      out.file_name = disposition_parameter(head.disposition, "filename").value_or("");
      out.file_type = head.type;
      return out;  // what comes after the file is ignored
    }
    out.fields.emplace_back(lower_case(*name), rest.substr(0, end));
    rest.remove_prefix(end + 2 + dashes.size());
  }
  throw bad_form("it has no field \"file\"");
}

namespace {

/// Fields that need no condition.
bool exempt(std::string_view name) {
  static constexpr std::array<std::string_view, 6> names{
      "policy", "signature", "x-goog-signature", "googleaccessid", "bucket", "file"};
  return name.starts_with("x-ignore-") || std::ranges::find(names, name) != names.end();
}

/// What a condition or a field of that name is compared with.
std::string_view value_of(const upload_form& form, std::string_view bucket, std::string_view name) {
  return name == "bucket" && !form.has("bucket") ? bucket : form.get(name);
}

/// ["content-length-range", least, most]
void check_length(const json_value::array& condition, std::uint64_t size) {
  const auto* least = std::get_if<std::int64_t>(&condition[1].value);
  const auto* most = std::get_if<std::int64_t>(&condition[2].value);
  if (least == nullptr || most == nullptr) throw policy_broken("Invalid content-length-range");
  const auto bytes = static_cast<std::int64_t>(size);
  if (bytes < *least) {
    throw bad_request("EntityTooSmall", "Your proposed upload is smaller than the least allowed.");
  }
  if (bytes > *most) {
    throw bad_request("EntityTooLarge", "Your proposed upload exceeds the largest allowed.");
  }
}

/// Judges one condition; gives the name of the field that it is about, if it is about one.
std::string check_condition(const json_value& condition, const upload_form& form,
                            std::string_view bucket) {
  const auto require = [](bool holds, std::string_view name) {
    if (!holds) throw policy_broken("The field does not meet its condition: " + std::string{name});
  };
  if (const auto* exact = std::get_if<json_value::object>(&condition.value)) {
    if (exact->size() != 1) throw policy_broken("Invalid condition");
    const auto& [key, value] = *exact->begin();
    const std::string name = lower_case(key);
    const auto* text = std::get_if<std::string>(&value.value);
    require(text != nullptr && value_of(form, bucket, name) == *text, name);
    return name;
  }
  const auto* list = std::get_if<json_value::array>(&condition.value);
  if (list == nullptr || list->size() != 3) throw policy_broken("Invalid condition");
  const auto* word = std::get_if<std::string>(&(*list)[0].value);
  if (word != nullptr && lower_case(*word) == "content-length-range") {
    check_length(*list, form.file.size());
    return {};
  }
  const auto* field = std::get_if<std::string>(&(*list)[1].value);
  const auto* text = std::get_if<std::string>(&(*list)[2].value);
  const bool formed = word != nullptr && text != nullptr && field != nullptr &&
                      field->starts_with('$') && (*word == "eq" || *word == "starts-with");
  if (!formed) throw policy_broken("Invalid condition");
  const std::string name = lower_case(field->substr(1));
  const std::string_view value = value_of(form, bucket, name);
  require(*word == "eq" ? value == *text : value.starts_with(*text), name);
  return name;
}

void check_document(const upload_form& form, std::string_view bucket,
                    stored_object::time_point now) {
  const auto raw = base64_decode(form.get("policy"));
  const auto document = raw ? parse_json(*raw) : std::nullopt;
  if (!document) throw policy_broken("The policy is not JSON in base64");
  const auto end = parse_time(document->text("expiration").value_or(""));
  if (!end) throw policy_broken("The policy has no valid expiration");
  if (now > *end) throw expired_signature("The policy expired at: " + rfc3339(*end));
  const json_value* conditions = document->find("conditions");
  const auto* list =
      conditions == nullptr ? nullptr : std::get_if<json_value::array>(&conditions->value);
  if (list == nullptr) throw policy_broken("The policy has no conditions");
  std::vector<std::string> covered;
  for (const json_value& each : *list) covered.push_back(check_condition(each, form, bucket));
  for (const auto& [name, value] : form.fields) {
    if (!exempt(name) && std::ranges::find(covered, name) == covered.end()) {
      throw policy_broken("The policy has no condition for the field: " + name);
    }
  }
}

signature check_form_v4(const upload_form& form, const signers& known,
                        stored_object::time_point now) {
  const std::string_view algorithm = form.get("x-goog-algorithm");
  const auto credential = v4_credential::parse_google(form.get("x-goog-credential"));
  if (!credential)
    throw malformed_signature("x-goog-credential", "not of the form of a credential");
  const auto date = parse_v4_time(form.get("x-goog-date"));
  if (!date || credential->date != form.get("x-goog-date").substr(0, 8)) {
    throw malformed_signature("x-goog-date", "not of its form, or not the credential's");
  }
  check_begun(*date, now);
  const auto raw = hex_decode(form.get("x-goog-signature"));
  if (!raw || raw->empty()) throw malformed_signature("x-goog-signature", "not hexadecimal");
  const std::string_view policy = form.get("policy");
  std::optional<bool> verified;
  if (algorithm == "GOOG4-RSA-SHA256") {
    verified = known.rsa(credential->id, policy, *raw);
  } else if (algorithm == "GOOG4-HMAC-SHA256") {
    verified = known.hmac(credential->id, credential->scope(), policy, *raw);
  } else {
    throw malformed_signature("x-goog-algorithm", "unknown algorithm");
  }
  if (verified && !*verified) throw wrong_signature(std::string{policy});
  return verified ? signature::good : signature::unknown_signer;
}

signature check_form_v2(const upload_form& form, const signers& known) {
  const auto raw = base64_decode(form.get("signature"));
  if (!raw || raw->empty()) throw malformed_signature("signature", "not base64");
  const auto verified = known.rsa(form.get("googleaccessid"), form.get("policy"), *raw);
  if (verified && !*verified) throw wrong_signature(std::string{form.get("policy")});
  return verified ? signature::good : signature::unknown_signer;
}

}  // namespace

signature check_policy(const upload_form& form, std::string_view bucket, const signers& known,
                       stored_object::time_point now) {
  if (!form.has("policy")) return signature::none;
  signature out = signature::none;
  if (form.has("x-goog-signature") || form.has("x-goog-algorithm")) {
    out = check_form_v4(form, known, now);
  } else if (form.has("googleaccessid")) {
    out = check_form_v2(form, known);
  } else {
    throw malformed_signature("policy", "the form has a policy and no signature");
  }
  check_document(form, bucket, now);
  return out;
}

namespace {

/// What the form says of the object, as an upload's headers would say it.
object_metadata metadata_of_form(const upload_form& form) {
  http_request as_headers;
  for (const auto& [name, value] : form.fields) as_headers.headers.push_back({name, value});
  object_metadata out = metadata_of_headers(as_headers);
  if (out.content_type.empty()) out.content_type = form.file_type;
  if (const std::string_view access = form.get("acl"); !access.empty()) {
    out.access = predefined_access(access_of::object, access);
  }
  return out;
}

std::string name_of(const upload_form& form) {
  static constexpr std::string_view mark = "${filename}";
  std::string out{form.get("key")};
  if (const std::size_t at = out.find(mark); at != std::string::npos) {
    out.replace(at, mark.size(), form.file_name);
  }
  if (out.empty()) throw bad_form("it has no field \"key\"");
  return out;
}

http_reply form_reply(const upload_form& form, const http_request& request,
                      const stored_object& object) {
  const std::string etag = "\"" + object.etag() + "\"";
  const std::string place =
      request.base() + "/" + object.bucket + "/" + percent_encode(object.name);
  const std::string_view redirect = form.get("success_action_redirect");
  http_reply reply;
  reply.status = 204;
  const std::string_view status = form.get("success_action_status");
  if (!redirect.empty()) {
    reply.status = 303;
    reply.set("Location", std::string{redirect} +
                              (redirect.find('?') == std::string_view::npos ? "?" : "&") +
                              "bucket=" + object.bucket + "&key=" + percent_encode(object.name) +
                              "&etag=" + percent_encode(etag));
  } else if (status == "201") {
    xml_writer out{"PostResponse"};
    out.leaf("Location", place);
    out.leaf("Bucket", object.bucket);
    out.leaf("Key", object.name);
    out.leaf("ETag", etag);
    reply = out.reply();
    reply.status = 201;
    reply.set("Location", place);
  } else if (status == "200") {
    reply.status = 200;
  }
  set_object_headers(reply, object, true);
  return reply;
}

}  // namespace

http_reply form_api::post(const call& asked, const http_request& request, bool proven) const {
  const upload_form form = upload_form::parse(request);
  const std::string bucket = asked.bucket.empty() ? std::string{form.get("bucket")} : asked.bucket;
  if (bucket.empty()) {
    throw invalid_argument(
        "The emulator finds a form's bucket in its path or its field \"bucket\", "
        "not in the name of the host.");
  }
  const signature found = check_policy(form, bucket, signers_, std::chrono::system_clock::now());
  if (proven && found != signature::good) throw unauthorized(false);
  declared_digests digests;
  if (form.has("content-md5")) digests.md5 = std::string{form.get("content-md5")};
  digests.check(form.file);
  const object_ptr stored = store_.put(
      bucket, {.name = name_of(form), .metadata = metadata_of_form(form), .data = form.file}, {});
  return form_reply(form, request, *stored);
}

}  // namespace emulator
