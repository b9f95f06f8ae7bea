#include <dataflux/auth/credentials.hpp>
#include <dataflux/auth/detail/authorized_user.hpp>
#include <dataflux/auth/detail/service_account.hpp>
#include <dataflux/auth/detail/token_file.hpp>

#include <fuzz/kept_token_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>
#include <support/run_child.hpp>
#include <support/size_limit.hpp>
#include <support/temporary_folder.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "test_key.hpp"

namespace shared_tokens_test {

namespace fs = std::filesystem;
using dataflux::access_token;
using dataflux::credentials_ptr;
using dataflux::errc;
using dataflux::error;
using namespace std::chrono_literals;
namespace auth = dataflux::detail::auth;

namespace {

const dataflux::system_time noon = test::some_time();

credentials_ptr person(const std::string& refresh_token = "\"1//refresh\"") {
  return auth::parse_authorized_user(test::to_json({{"type", "\"authorized_user\""},
                                                    {"client_id", "\"id\""},
                                                    {"client_secret", "\"secret\""},
                                                    {"refresh_token", refresh_token}}),
                                     "/f")
      .value();
}

struct listener final : dataflux::observer {
  void on_log(dataflux::log_level, std::string_view line) noexcept override {
    lines.emplace_back(line);
  }
  std::vector<std::string> lines{};
};

/// A process that has the credentials, whose flows are run by hand.
struct process {
  process(const temporary_folder& at, credentials_ptr of = person())
      : credentials(dataflux::share_tokens(std::move(of), at.path.string(), &log).value()) {}

  /// Runs a flow until it asks the endpoint, waits, or ends.
  struct run {
    std::unique_ptr<auth::token_flow> flow{};
    auth::flow_step step{access_token{}};
    dataflux::system_time now{noon};

    bool asks() const { return std::holds_alternative<auth::http_step>(step); }
    bool waits() const { return std::holds_alternative<auth::wait_step>(step); }
    std::string token() const {
      const auto* const end = std::get_if<access_token>(&step);
      return end != nullptr ? end->value : "none";
    }
    void go(auth::flow_event event) {
      step = flow->resume(std::move(event), {now, 0.5});
      while (auto* const block = std::get_if<auth::blocking_step>(&step)) {
        auto work = std::move(block->work);
        step = flow->resume(work(), {now, 0.5});
      }
    }
    void answer(const std::string& value, int seconds = 3600) {
      go(auth::http_reply{
          200,
          {},
          R"({"access_token":")" + value + R"(","expires_in":)" + std::to_string(seconds) + "}"});
    }
  };
  run begin(dataflux::system_time now = noon) const {
    run made{.flow = credentials->start(), .now = now};
    made.go({});
    return made;
  }

  listener log{};
  credentials_ptr credentials;
};

fs::path own_folder(const temporary_folder& at) {
  return at.path / ("dataflux-tokens-" + std::to_string(::geteuid()));
}

fs::path the_file(const temporary_folder& at, const std::string& extension) {
  fs::path found;
  for (const auto& each : fs::directory_iterator(own_folder(at))) {
    if (each.path().extension() != extension) continue;
    REQUIRE(found.empty());
    found = each.path();
  }
  REQUIRE_FALSE(found.empty());
  return found;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

unsigned mode_of(const fs::path& path) {
  struct stat facts {};
  REQUIRE(::lstat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777U;
}

}  // namespace

TEST_CASE("shared_tokens: one process asks, and the others take its token", "[auth]") {
  const temporary_folder at;
  const process first(at);
  auto asking = first.begin();
  REQUIRE(asking.asks());
  // Meanwhile another one waits for it, and takes what is there then.
  const process second(at);
  auto waiting = second.begin();
  REQUIRE(waiting.waits());
  waiting.go({});
  CHECK(waiting.waits());
  asking.answer("t1");
  CHECK(asking.token() == "t1");
  waiting.go({});
  CHECK(waiting.token() == "t1");
  CHECK(std::get<access_token>(waiting.step).expires == noon + 3600s);
  // So does who comes later; the file is its owner's alone.
  CHECK(process(at).begin(noon + 1h - 286s).token() == "t1");
  CHECK(mode_of(own_folder(at)) == 0700);
  CHECK(mode_of(the_file(at, ".token")) == 0600);
  CHECK(mode_of(the_file(at, ".lock")) == 0600);
  CHECK(first.log.lines.empty());
  // What is stale is asked for, by one.
  auto late = process(at).begin(noon + 1h - 285s);
  CHECK(late.asks());
}

TEST_CASE("shared_tokens: nobody takes the token again that he had", "[auth]") {
  const temporary_folder at;
  const process first(at);
  const process second(at);
  auto run = first.begin();
  run.answer("t1");
  CHECK(second.begin().token() == "t1");
  // The service refuses it to both: one asks anew, and the other takes what came of that.
  auto again = first.begin();
  REQUIRE(again.asks());
  auto other = second.begin();
  CHECK(other.waits());
  again.answer("t2");
  other.go({});
  CHECK(other.token() == "t2");
  CHECK(process(at).begin().token() == "t2");
}

TEST_CASE("shared_tokens: another identity's token is never taken", "[auth]") {
  const temporary_folder at;
  auto run = process(at).begin();
  run.answer("mine");
  const process other(at, person("\"1//another\""));
  CHECK(other.begin().asks());
  // Not even where its file is put in the place of the own one.
  const fs::path mine = the_file(at, ".token");
  auto theirs = other.begin();
  theirs.answer("theirs");
  for (const auto& each : fs::directory_iterator(own_folder(at))) {
    if (each.path().extension() == ".token" && each.path() != mine) {
      fs::copy_file(each.path(), mine, fs::copy_options::overwrite_existing);
    }
  }
  CHECK(process(at).begin().asks());
}

TEST_CASE("shared_tokens: damage is no token", "[auth]") {
  const temporary_folder at;
  {
    auto run = process(at).begin();
    run.answer("t1");
  }
  const fs::path file = the_file(at, ".token");
  const std::string whole = text_of(file);
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x04);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    const process reader(at);
    const auto run = reader.begin();
    INFO(damaged);
    // Names of other members are nobody's.
    CHECK((run.asks() || run.token() == "t1"));
    CHECK(reader.log.lines.empty());
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, whole.size() - 1}) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    CHECK(process(at).begin().asks());
  }
  std::ofstream(file, std::ios::binary | std::ios::trunc) << std::string(100'000, ' ') << whole;
  CHECK(process(at).begin().asks());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << whole;
  CHECK(process(at).begin().token() == "t1");
  // Nor is a token of a time to come, or one that others may read or have made a link to.
  CHECK(process(at).begin(noon - 1h).asks());
  fs::permissions(file, fs::perms::owner_read | fs::perms::group_read);
  CHECK(process(at).begin().asks());
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  const fs::path elsewhere = at.path / "elsewhere";
  fs::create_hard_link(file, elsewhere);
  CHECK(process(at).begin().asks());
  fs::remove(file);
  fs::create_symlink(elsewhere, file);
  CHECK(process(at).begin().asks());
}

TEST_CASE("shared_tokens: a failure frees the lock, and so does whoever gives up or dies",
          "[auth]") {
  const temporary_folder at;
  auto failing = process(at).begin();
  REQUIRE(failing.asks());
  failing.go(auth::http_reply{401, {}, R"({"error":"invalid_client"})"});
  REQUIRE(std::holds_alternative<error>(failing.step));
  {
    auto dropped = process(at).begin();
    CHECK(dropped.asks());
  }
  CHECK(process(at).begin().asks());
  // A child that is killed while it asks.
  CHECK(run_child([&at] {
          auto run = process(at).begin();
          if (!run.asks()) return 1;
          ::kill(::getpid(), SIGKILL);
          return 2;
        }) == 100 + SIGKILL);
  CHECK(process(at).begin().asks());
}

TEST_CASE("shared_tokens: a lock that is never given back is waited for 20 s at most", "[auth]") {
  const temporary_folder at;
  const process stuck(at);
  const auto holding = stuck.begin();
  REQUIRE(holding.asks());
  auto run = process(at).begin();
  dataflux::duration waited{0};
  while (run.waits()) {
    waited += std::get<auth::wait_step>(run.step).wait;
    run.go({});
  }
  CHECK(run.asks());
  CHECK(waited >= 20s);
  CHECK(waited < 21s);
  run.answer("alone");
  CHECK(run.token() == "alone");
}

TEST_CASE("shared_tokens: a folder that fails later is a warning, and each asks by itself",
          "[auth]") {
  const temporary_folder at;
  const process subject(at);
  fs::remove_all(own_folder(at));
  fs::create_symlink("/", own_folder(at));
  auto run = subject.begin();
  REQUIRE(run.asks());
  run.answer("t1");
  CHECK(run.token() == "t1");
  REQUIRE(subject.log.lines.size() == 1);
  CHECK(subject.log.lines[0].starts_with(
      "the cache of tokens fails, so this process asks by itself: "));
}

TEST_CASE("shared_tokens: where the disk is full the token is used, and not kept", "[auth]") {
  const temporary_folder at;
  const process subject(at);
  auto run = subject.begin();
  REQUIRE(run.asks());
  {
    const size_limit full(0);
    run.answer("t1");
  }
  CHECK(run.token() == "t1");
  CHECK(subject.log.lines.size() == 1);
  CHECK(process(at).begin().asks());
}

TEST_CASE("shared_tokens: folders that are not this user's alone are refused", "[auth]") {
  const temporary_folder at;
  const auto refused = [&at] {
    const auto made = dataflux::share_tokens(person(), at.path.string());
    REQUIRE_FALSE(made);
    CHECK(made.error().message().starts_with("the cache of tokens: "));
    return made.error();
  };
  fs::create_directory(own_folder(at));
  fs::permissions(own_folder(at), fs::perms::owner_all | fs::perms::group_read);
  CHECK(refused().code() == errc::failed_precondition);
  fs::remove(own_folder(at));
  fs::create_directory_symlink(at.path, own_folder(at));
  CHECK(refused().message().find("Not a directory") != std::string::npos);
  CHECK(refused().code() == errc::failed_precondition);
  fs::remove(own_folder(at));
  fs::permissions(at.path, fs::perms::all);
  const error others = refused();
  CHECK(others.code() == errc::failed_precondition);
  CHECK(others.message().find("chmod go-w") != std::string::npos);
  fs::permissions(at.path, fs::perms::all | fs::perms::sticky_bit);
  CHECK(dataflux::share_tokens(person(), at.path.string()));
  fs::permissions(at.path, fs::perms::owner_all);
  if (::geteuid() != 0) return;
  REQUIRE(::chown(own_folder(at).c_str(), 65534, 65534) == 0);
  CHECK(refused().code() == errc::failed_precondition);
}

TEST_CASE("shared_tokens: what costs no request, or has no known principal, is given back",
          "[auth]") {
  const temporary_folder at;
  const auto same = [&at](const credentials_ptr& of) {
    return dataflux::share_tokens(of, at.path.string()).value() == of;
  };
  CHECK(same(dataflux::make_anonymous_credentials()));
  CHECK(same(dataflux::make_token_provider([] { return access_token{}; })));
  const std::string key = test::to_json(test::service_account_file());
  CHECK(same(auth::parse_service_account(key, "/k", {.exchange = false}).value()));
  const auto robot = auth::parse_service_account(key, "/k", {.exchange = true}).value();
  CHECK_FALSE(same(robot));
  // What its tokens depend on tells it from others.
  const auto identity = [&key](auth::service_account_options how) {
    how.exchange = true;
    return auth::parse_service_account(key, "/k", how).value()->token_identity();
  };
  CHECK(identity({}) == robot->token_identity());
  CHECK(identity({.scopes = "a"}) != robot->token_identity());
  CHECK(person()->token_identity() != person("\"x\"")->token_identity());
}

TEST_CASE("token_file: what is read is what was written, and nothing else", "[auth]") {
  const auth::kept_token kept{{"token/+=", noon + 1h}, noon};
  const std::string text = auth::write_kept(kept, "abc");
  const auto read = auth::read_kept(text, "abc");
  REQUIRE(read);
  CHECK(read->token.value == "token/+=");
  CHECK(read->token.expires == noon + 1h);
  CHECK(read->given == noon);
  CHECK_FALSE(auth::read_kept(text, "abd"));
  CHECK_FALSE(auth::read_kept("", "abc"));
  CHECK_FALSE(auth::read_kept("[]", "abc"));
  // Of a short life half is enough.
  CHECK(kept.is_fresh(noon + 1h - 286s));
  CHECK_FALSE(kept.is_fresh(noon + 1h - 285s));
  const auth::kept_token brief{{"t", noon + 100s}, noon};
  CHECK(brief.is_fresh(noon + 49s));
  CHECK_FALSE(brief.is_fresh(noon + 50s));
}

TEST_CASE("kept_token_fuzz: files, programs, options and mutations keep the invariants", "[auth]") {
  const std::string pem =
      "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n-----BEGIN ENCRYPTED PRIVATE "
      "KEY-----\nB\n-----END ENCRYPTED PRIVATE KEY-----\n-----BEGIN PASSPHRASE-----\nC\n-----END "
      "PASSPHRASE-----\n";
  for_each_mutation({auth::write_kept({{"token", noon + 1h}, noon}, "abc"), pem,
                     "http://user:password@proxy.example:3128", "a:443:[::1]:443",
                     "a:443:10.0.0.1,::2", "10.0.0.0/8,.example , *"},
                    1000, [](std::span<const std::byte> input) { fuzz_kept_token(input); });
}

}  // namespace shared_tokens_test
