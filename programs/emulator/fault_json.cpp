#include <emulator/fault_json.hpp>
#include <emulator/service_error.hpp>
#include <emulator/verbs.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>

namespace emulator {
namespace {

constexpr std::array<std::string_view, 18> action_names{"send",          "cut",
                                                        "stall",         "drip",
                                                        "flip_byte",     "wrong_hash",
                                                        "lose_reply",    "delay",
                                                        "short_page",    "keep_less",
                                                        "execute_twice", "refuse",
                                                        "expire_tokens", "ignore_conditions",
                                                        "skew",          "late_answer",
                                                        "set_headers",   "etag_form"};
static_assert(action_names.size() == std::variant_size_v<fault::action>);

/// Reads members one by one and remembers which were asked for.
class reader {
 public:
  explicit reader(const json_value& document) : document_(document) {
    if (!std::holds_alternative<json_value::object>(document.value)) {
      throw invalid_argument("A fault rule must be a JSON object");
    }
  }

  std::string text(std::string_view name, std::string_view otherwise = {}) {
    if (!known(name)) return std::string{otherwise};
    const auto value = document_.text(name);
    if (!value) refuse(name);
    return *value;
  }
  std::uint64_t number(std::string_view name, std::uint64_t otherwise) {
    if (!known(name)) return otherwise;
    const auto value = document_.integer(name);
    if (!value || *value < 0) refuse(name);
    return static_cast<std::uint64_t>(*value);
  }
  std::int64_t signed_number(std::string_view name, std::int64_t otherwise) {
    if (!known(name)) return otherwise;
    const auto value = document_.integer(name);
    if (!value) refuse(name);
    return *value;
  }
  bool flag(std::string_view name, bool otherwise) {
    if (!known(name)) return otherwise;
    const auto value = document_.flag(name);
    if (!value) refuse(name);
    return *value;
  }
  double share(std::string_view name, double otherwise) {
    if (!known(name)) return otherwise;
    const auto* fraction = std::get_if<double>(&document_.find(name)->value);
    const auto whole = document_.integer(name);
    const double value = fraction != nullptr ? *fraction
                         : whole             ? static_cast<double>(*whole)
                                             : -1.0;
    if (!(value >= 0.0 && value <= 1.0)) refuse(name);
    return value;
  }
  std::chrono::milliseconds ms(std::uint64_t otherwise) {
    return std::chrono::milliseconds{number("ms", otherwise)};
  }
  std::vector<header_line> headers() {
    std::vector<header_line> out;
    if (!known("headers")) return out;
    const auto* members = std::get_if<json_value::object>(&document_.find("headers")->value);
    if (members == nullptr) refuse("headers");
    for (const auto& [name, value] : *members) {
      const auto* line = std::get_if<std::string>(&value.value);
      if (line == nullptr) refuse("headers");
      out.push_back({name, *line});
    }
    return out;
  }
  bool has(std::string_view name) { return known(name); }

  void require_all_known() const {
    for (const auto& [name, value] : std::get<json_value::object>(document_.value)) {
      if (!asked_.contains(name)) refuse(name);
    }
  }
  [[noreturn]] static void refuse(std::string_view name) {
    throw invalid_argument("Fault rule: unknown or invalid \"" + std::string{name} + "\"");
  }
  /// For a member whose value is one of a few words.
  [[noreturn]] static void refuse(std::string_view name, std::string_view value,
                                  std::span<const std::string_view> choices) {
    std::string text = "Fault rule: there is no ";
    text.append(name).append(" \"").append(value).append("\"; it is one of");
    for (const std::string_view choice : choices) {
      text.append(choice == choices.front() ? " " : ", ").append(choice);
    }
    throw invalid_argument(text);
  }

 private:
  bool known(std::string_view name) {
    asked_.emplace(name);
    return document_.find(name) != nullptr;
  }
  const json_value& document_;
  std::set<std::string, std::less<>> asked_{};
};

fault::point point_of(reader& from) {
  const std::string text = from.text("where", "before_reply");
  static constexpr std::array<std::string_view, 3> points{"before_reply", "in_head", "in_body"};
  if (text == "in_head") return fault::point::in_head;
  if (text == "in_body") return fault::point::in_body;
  if (text != "before_reply") reader::refuse("where", text, points);
  return fault::point::before_reply;
}

fault::etag_form::kind etag_kind_of(reader& from) {
  using kind = fault::etag_form::kind;
  const std::string text = from.text("form", "unquoted");
  static constexpr std::array<std::string_view, 3> forms{"unquoted", "empty", "absent"};
  if (text == "empty") return kind::empty;
  if (text == "absent") return kind::absent;
  if (text != "unquoted") reader::refuse("form", text, forms);
  return kind::unquoted;
}

fault::action read_action(reader& from) {
  const std::string name = from.text("action");
  const auto status = [&from] { return static_cast<int>(from.number("status", 503)); };
  if (name == "send") {
    return fault::send{.status = status(),
                       .body = from.text("body"),
                       .content_type = from.text("contentType", "text/plain"),
                       .headers = from.headers()};
  }
  if (name == "refuse") return fault::refuse{status()};
  if (name == "cut") {
    return fault::cut{.where = point_of(from),
                      .body_bytes = from.number("bodyBytes", 0),
                      .reset = from.flag("reset", true)};
  }
  if (name == "stall") {
    return fault::stall{
        .where = point_of(from), .body_bytes = from.number("bodyBytes", 0), .duration = from.ms(0)};
  }
  if (name == "drip") {
    return fault::drip{.bytes = static_cast<std::size_t>(from.number("bytes", 1)),
                       .interval = from.ms(10)};
  }
  if (name == "flip_byte") return fault::flip_byte{from.number("offset", 0)};
  if (name == "wrong_hash") return fault::wrong_hash{};
  if (name == "lose_reply") return fault::lose_reply{from.flag("reset", true)};
  if (name == "delay") return fault::delay{from.ms(0)};
  if (name == "short_page") return fault::short_page{from.number("results", 0)};
  if (name == "keep_less") return fault::keep_less{from.number("bytes", 0)};
  if (name == "execute_twice") return fault::execute_twice{};
  if (name == "expire_tokens") return fault::expire_tokens{};
  if (name == "ignore_conditions") return fault::ignore_conditions{};
  if (name == "skew") return fault::skew{std::chrono::milliseconds{from.signed_number("ms", 0)}};
  if (name == "late_answer") {
    return fault::late_answer{.code = from.text("code"),
                              .spaces = static_cast<std::size_t>(from.number("spaces", 1)),
                              .before_all = from.flag("beforeAll", false),
                              .interval = from.ms(0)};
  }
  if (name == "set_headers") return fault::set_headers{from.headers()};
  if (name == "etag_form") return fault::etag_form{etag_kind_of(from)};
  reader::refuse("action", name, action_names);
}

}  // namespace

fault_rule read_fault(const json_value& document) {
  reader from{document};
  fault_rule out;
  out.verb = from.text("verb");
  // A rule that can never hit would pass for a service that does well.
  if (!out.verb.empty() && find_verb(out.verb) == nullptr) {
    std::vector<std::string_view> names;
    for (const verb_row& row : verb_rows()) names.push_back(row.name);
    reader::refuse("verb", out.verb, names);
  }
  out.bucket = from.text("bucket");
  out.object = from.text("object");
  out.part = static_cast<int>(from.number("part", 0));
  out.from = from.number("from", 1);
  out.count = from.number("count", 1);
  out.probability = from.share("probability", 1.0);
  out.seed = from.number("seed", 1);
  if (from.has("requestBytes")) out.request_bytes = from.number("requestBytes", 0);
  out.action = read_action(from);
  from.require_all_known();
  return out;
}

std::string_view name_of(const fault::action& action) { return action_names.at(action.index()); }

}  // namespace emulator
