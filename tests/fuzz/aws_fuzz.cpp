#include <dataflux/auth/detail/aws_profiles.hpp>
#include <dataflux/auth/detail/command_line.hpp>
#include <dataflux/auth/detail/keys_reply.hpp>

#include <fuzz/aws_fuzz.hpp>
#include <fuzz/require.hpp>

namespace auth = dataflux::detail::auth;
using dataflux::errc;

namespace {

void check_keys(const dataflux::result<dataflux::access_keys>& outcome) {
  if (!outcome) {
    require(outcome.error().code() == errc::internal);
    return;
  }
  require(!outcome->id.empty() && !outcome->secret.empty());
  for (const std::string* text : {&outcome->id, &outcome->secret, &outcome->session_token}) {
    require(text->size() <= std::size_t{16} << 10);
    for (const char c : *text) require(c > 0x20 && c < 0x7f);
  }
}

void check_files(const std::string& text) {
  auth::aws_profiles profiles;
  if (!profiles.add_config(text) || !profiles.add_credentials(text)) return;
  const auth::aws_section* const found = profiles.profile("p");
  if (found == nullptr) return;
  for (const auto& [name, value] : *found) {
    require(!name.empty());
    require(value.find('\n') == std::string::npos);
  }
}

}  // namespace

void fuzz_aws(std::span<const std::byte> input) {
  const std::string text{dataflux::as_text(input)};
  check_files(text);
  if (const auto words = auth::split_command(text)) {
    std::size_t size = 0;
    for (const std::string& word : *words) size += word.size();
    require(!words->empty() && size <= text.size());
  }
  const auth::answer_time when{};
  check_keys(auth::read_process_keys(text, when.now));
  check_keys(auth::read_role_keys(text, "AssumeRole", when));
  if (auto document = dataflux::detail::codec::json_document::parse(input)) {
    check_keys(auth::read_keys(document->root(), {}, when));
  }
  const auto said = auth::read_sts_refusal(text);
  require(said.code.size() <= text.size() && said.message.size() <= text.size());
}
