#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/auth/detail/subject_source.hpp>
#include <dataflux/auth/detail/token_exchange.hpp>

#include <fuzz/credentials_fuzz.hpp>
#include <fuzz/require.hpp>

namespace auth = dataflux::detail::auth;
using dataflux::errc;

namespace {

/// A machine whose every file has the given content.
class one_file_machine final : public auth::environment {
 public:
  explicit one_file_machine(std::string content) : content_(std::move(content)) {}
  std::optional<std::string> variable(const char*) const override { return std::nullopt; }
  dataflux::result<std::string> read_file(const std::string&) const override { return content_; }
  dataflux::result<void> replace_file(const std::string&, std::string_view) const override {
    return {};
  }
  dataflux::result<std::string> run(const auth::program_call&) const override { return content_; }

 private:
  std::string content_;
};

void check_file(const std::string& text) {
  const auto loaded = dataflux::load_credentials_file("/f", {}, one_file_machine{text});
  if (loaded) {
    const auto& facts = (*loaded)->facts();
    require(facts.kind.find("account") != std::string::npos || facts.kind == "authorized_user");
    require(facts.path == "/f" && facts.universe_domain == dataflux::default_universe);
    return;
  }
  const errc code = loaded.error().code();
  require(code == errc::invalid_argument || code == errc::unimplemented ||
          code == errc::failed_precondition);
  require(loaded.error().message().starts_with("credentials file /f: "));
}

void check_reply(const std::string& text) {
  static const auto person = auth::parse_authorized_user(
      R"({"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"})", "");
  for (const int status : {200, 400}) {
    const auto flow = (*person)->start();
    const auth::flow_moment moment{};
    require(std::holds_alternative<auth::http_step>(flow->resume({}, moment)));
    auth::http_reply reply;
    reply.status = status;
    reply.body = text;
    const auto step = flow->resume(dataflux::result<auth::http_reply>{std::move(reply)}, moment);
    if (const auto* token = std::get_if<dataflux::access_token>(&step)) {
      require(status == 200 && !token->value.empty() && token->expires > moment.now);
      for (const char c : token->value) require(c > 0x20 && c < 0x7f);
    } else {
      require(std::holds_alternative<dataflux::error>(step) ||
              std::holds_alternative<auth::wait_step>(step));
    }
  }
}

/// What others answer by whom Google knows a workload.
void check_answers(const std::string& text) {
  const auth::flow_moment moment{};
  if (const auto said = auth::read_program_subject(text, moment.now, true)) {
    require(!said->value.empty() && said->expires > moment.now);
  }
  for (const bool json : {false, true}) {
    const auto subject = auth::read_subject(text, {.json = json, .field = "access_token"});
    if (subject) require(!subject->empty());
  }
  static_cast<void>(auth::read_certificate_subject(text, text));
  auth::http_reply reply;
  reply.status = 200;
  reply.body = text;
  if (const auto token = auth::read_impersonated_token(reply, moment.now, {})) {
    require(!token->value.empty() && token->expires > moment.now);
    for (const char c : token->value) require(c > 0x20 && c < 0x7f);
  }
}

}  // namespace

void fuzz_credentials(std::span<const std::byte> input) {
  const std::string text{dataflux::as_text(input)};
  check_file(text);
  check_reply(text);
  check_answers(text);
  if (const auto origin = dataflux::parse_emulator_host(text)) require(!origin->host.empty());
}
