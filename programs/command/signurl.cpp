#include <dataflux/store/sign_requests.hpp>

#include <cstdio>
#include <string_view>
#include <utility>

#include "age_text.hpp"
#include "commands.hpp"
#include "location.hpp"

namespace cli {

namespace {

using dataflux::errc;
using dataflux::error;
using dataflux::result;

/// What all URLs have alike. Of a header only the name is shown: its value may be a key.
result<dataflux::sign_url_request> request_of(const signurl_options& options) {
  dataflux::sign_url_request r;
  r.method = options.method;
  r.host = options.host;
  r.scheme = options.scheme;
  r.account = options.account;
  if (!options.duration.empty()) {
    const auto life = parse_age(options.duration);
    if (!life || life->count() == 0) {
      return error(errc::invalid_argument,
                   "--duration " + options.duration + ": 90s, 30m, 12h, or 7d, which is the most");
    }
    r.life = *life;
  }
  for (const std::string& each : options.headers) {
    const std::size_t colon = each.find(':');
    if (colon == std::string::npos) {
      return error(errc::invalid_argument, "--header: one is no \"NAME: VALUE\"");
    }
    const std::size_t from = each.find_first_not_of(' ', colon + 1);
    r.headers.emplace_back(each.substr(0, colon),
                           from == std::string::npos ? std::string() : each.substr(from));
  }
  for (const std::string& each : options.query) {
    const std::size_t equals = each.find('=');
    if (equals == std::string::npos) {
      return error(errc::invalid_argument, "--query " + each + ": NAME=VALUE");
    }
    r.query.emplace_back(each.substr(0, equals), each.substr(equals + 1));
  }
  constexpr std::string_view styles[]{"path", "virtual_hosted", "bucket_bound"};
  for (std::size_t i = 0; i < std::size(styles); ++i) {
    if (options.style != styles[i]) continue;
    r.style = static_cast<dataflux::url_style>(i);
    return r;
  }
  return error(errc::invalid_argument,
               "--style " + options.style + ": path, virtual_hosted or bucket_bound");
}

}  // namespace

exit_status run_signurl(const session& with, const signurl_options& options) {
  outcome report(nullptr);
  auto asked = request_of(options);
  if (!asked) {
    report.failed(asked.error());
    return exit_status::usage;
  }
  asked->limits.stop = with.stop;
  for (const auto& url : options.urls) {
    const auto where = parse_object_location(url);
    if (!where) {
      report.failed(where.error());
      continue;
    }
    asked->bucket = where->bucket;
    asked->object = where->name;
    const auto made = with.store.run(*asked);
    if (!made) {
      report.failed(made.error());
      continue;
    }
    std::printf("%s\n", made->url.c_str());
    report.done(0);
  }
  if (std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
