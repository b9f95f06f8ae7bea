#include <dataflux/auth/detail/mutual_tls.hpp>
#include <dataflux/auth/detail/token_file.hpp>
#include <dataflux/http/detail/proxy.hpp>
#include <dataflux/http/detail/routes.hpp>

#include <fuzz/kept_token_fuzz.hpp>
#include <fuzz/require.hpp>

#include <string>

namespace auth = dataflux::detail::auth;
namespace http = dataflux::detail::http;

void fuzz_kept_token(std::span<const std::byte> input) {
  const std::string text{dataflux::as_text(input)};
  if (const auto kept = auth::read_kept(text, "abc")) {
    const auto again = auth::read_kept(auth::write_kept(*kept, "abc"), "abc");
    require(again && again->token.value == kept->token.value);
    require(!auth::read_kept(text, "abd"));
  }
  if (const auto found = auth::read_provided_certificate(text)) {
    require(!found->certificate.empty() && !found->key.empty());
    require(found->certificate.size() + found->key.size() + found->key_password.size() <=
            text.size() + 64);
  }
  if (const auto proxy = http::parse_proxy(text)) {
    require(proxy->shown.find('@') == std::string::npos);
  }
  static_cast<void>(http::is_in_no_proxy(text, "10.0.0.1"));
  static_cast<void>(http::is_in_no_proxy(text, "host.example"));
  const auto some = http::routes::parse({.resolve = {text}, .connect_to = {text}});
  require(!some);
  if (const auto one = http::routes::parse({.connect_to = {text}})) {
    static_cast<void>(one->words_for({.host = "a", .port = 1}));
  }
}
