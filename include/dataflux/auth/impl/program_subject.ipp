#pragma once

#include <dataflux/auth/detail/keys_flow.hpp>
#include <dataflux/auth/detail/subject_source.hpp>
#include <dataflux/codec/detail/json.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// A code that a program gives, as opposed to anything else that it may put there.
inline std::string program_code(codec::json_value of) {
  const std::string code = of.to_string();
  const bool good =
      !code.empty() && code.size() <= 32 && std::all_of(code.begin(), code.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '-' || c == '.';
      });
  return good ? " (code " + code + ")" : "";
}

inline error bad_answer(std::string_view what) {
  return {errc::invalid_argument, std::string{what}};
}

/// Of the year 2500; the clock ends before that.
inline constexpr std::int64_t last_second = 16'725'225'600;
inline constexpr std::int64_t last_of_clock = 9'000'000'000;

DATAFLUX_INLINE result<access_token> read_program_subject(std::string_view json, system_time now,
                                                          bool kept) {
  auto document = codec::json_document::parse(as_bytes(json));
  if (!document) return bad_answer("it is not valid JSON");
  const codec::json_value root = document->root();
  if (root.find("version").int64() != 1) return bad_answer("its \"version\" is not 1");
  const auto success = root.find("success").boolean();
  if (!success) return bad_answer("its \"success\" is neither true nor false");
  if (!*success) {
    return error{errc::unauthenticated, "it tells of a failure" + program_code(root.find("code")) +
                                            ": run the program by hand to see what it says"};
  }
  const codec::json_value end = root.find("expiration_time");
  const auto second = end.int64();
  if ((end && end.kind() != codec::json_kind::null && (!second || *second > last_second)) ||
      (kept && !second)) {
    return bad_answer("its \"expiration_time\" is no number of seconds since 1970");
  }
  access_token token{{}, system_time::max()};
  if (second && *second < last_of_clock) {
    token.expires = system_time{std::chrono::seconds(std::max<std::int64_t>(*second, 0))};
  }
  if (token.expires <= now) return error{errc::unauthenticated, "its token has expired"};
  const auto type = root.find("token_type").text().value_or("");
  constexpr std::string_view types = "urn:ietf:params:oauth:token-type:";
  const std::string_view kind = type.starts_with(types) ? type.substr(types.size()) : "";
  const bool saml = kind == "saml2";
  if (!saml && kind != "jwt" && kind != "id_token") {
    return bad_answer("its \"token_type\" is none that is known");
  }
  token.value = root.find(saml ? "saml_response" : "id_token").text().value_or("");
  if (!token.value.empty()) return token;
  return bad_answer(saml ? "it has no \"saml_response\"" : "it has no \"id_token\"");
}

/// On the thread for blocking steps: the answer that the program has kept, while it is good, else
/// what it says now.
inline result<std::string> ask_program(const program_subject_options& options,
                                       const environment& machine, system_time now, bool anew) {
  const std::string& file = options.output_file;
  if (!file.empty() && !anew) {
    auto kept = machine.read_file(file);
    if (kept && read_program_subject(*kept, now, true)) return kept;
  }
  auto said = machine.run(options.program);
  if (said && said->empty() && !file.empty()) return machine.read_file(file);
  return said;
}

class program_subject_flow final : public keys_flow {
 public:
  program_subject_flow(const credentials_facts& facts, const program_subject_options& options,
                       const environment& machine, bool anew)
      : keys_flow(facts, 1), options_(options), machine_(machine), anew_(anew) {}

 private:
  flow_step ask(const flow_moment& moment) override {
    return blocking_step{[options = options_, &machine = machine_, now = moment.now, anew = anew_] {
      return ask_program(options, machine, now, anew);
    }};
  }
  flow_step read(result<std::string>&& text, const flow_moment& moment) override {
    if (!text) return end(failure(text.error().code(), text.error().message()));
    auto token = read_program_subject(*text, moment.now, false);
    if (token) return std::move(*token);
    return end(failure(token.error().code(), "the output of program \"" +
                                                 options_.program.words.front() +
                                                 "\": " + token.error().message()));
  }
  flow_step replied(const http_reply&, const flow_moment& moment) override { return ask(moment); }

  const program_subject_options& options_;
  const environment& machine_;
  const bool anew_;
};

class program_subject final : public subject_source {
 public:
  program_subject(credentials_facts facts, program_subject_options options,
                  const environment& machine)
      : subject_source(std::move(facts)), options_(std::move(options)), machine_(machine) {}
  std::unique_ptr<token_flow> start() const override { return begin(false); }
  std::unique_ptr<token_flow> start_anew() const override { return begin(true); }

 private:
  std::unique_ptr<token_flow> begin(bool anew) const {
    return std::unique_ptr<token_flow>(
        new program_subject_flow(this->facts(), options_, machine_, anew));
  }

  const program_subject_options options_;
  const environment& machine_;
};

DATAFLUX_INLINE subject_source_ptr make_program_subject(credentials_facts facts,
                                                        program_subject_options options,
                                                        const environment& machine) {
  return std::make_shared<program_subject>(std::move(facts), std::move(options), machine);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
