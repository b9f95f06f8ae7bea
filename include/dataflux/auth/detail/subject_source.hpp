#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/environment.hpp>
#include <dataflux/auth/detail/token_flow.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Where the tokens of others come from by which Google knows a workload (protocol.md 4.4).
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// A source of subject tokens: its flow ends with an access_token whose value is one. Each flow
/// gets it anew. `facts` name it in errors. Constructing one looks at nothing.
class subject_source : public credentials {
 public:
  using credentials::credentials;
  /// Past what keeps a token for later: the last one was refused.
  virtual std::unique_ptr<token_flow> start_anew() const { return start(); }
  /// False for what says the same each time and is no secret: a chain of certificates.
  virtual bool changes() const noexcept { return true; }
};
using subject_source_ptr = std::shared_ptr<const subject_source>;

/// How a text holds a token: as it is, or in a member of JSON.
struct subject_format {
  bool json{false};
  std::string field{};
};

/// Reads it; line ends behind a text are no part of it. Errors: internal, quoting nothing. Pure.
result<std::string> read_subject(std::string_view text, const subject_format& format);

/// The content of a file. One that is missing for a moment while it is replaced is waited for.
subject_source_ptr make_file_subject(credentials_facts facts, std::string path,
                                     subject_format format, const environment& machine);

/// What a server answers.
struct url_subject_options {
  http::url where{};
  std::vector<std::pair<std::string, std::string>> headers{};
  subject_format format{};
};
subject_source_ptr make_url_subject(credentials_facts facts, url_subject_options options);

/// What a program says.
struct program_subject_options {
  program_call program{};
  /// Where the program keeps its last answer; empty: nowhere.
  std::string output_file{};
};
subject_source_ptr make_program_subject(credentials_facts facts, program_subject_options options,
                                        const environment& machine);

/// Reads the answer of a program, {"version": 1, "success": true, "token_type", "id_token" or
/// "saml_response", "expiration_time"}. `kept`: it comes from a file, and so must have an end.
/// Errors: unauthenticated for a failure that it tells and a token that has expired,
/// invalid_argument for the rest; of what it says they show a short code alone. Pure.
result<access_token> read_program_subject(std::string_view json, system_time now, bool kept);

/// A request for the identity of a caller of AWS, signed, which Google's service then sends.
struct aws_subject_options {
  /// "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"
  std::string verification_url{};
  std::string audience{};
  /// Empty: that of the keys, or else what `place` says.
  std::string region{};
  /// Their flow ends with access_keys.
  credentials_ptr keys{};
  /// Its flow ends with keys that have a region alone; null: there is none to ask.
  credentials_ptr place{};
};
subject_source_ptr make_aws_subject(credentials_facts facts, aws_subject_options options);

/// The subject token for such keys. Errors: invalid_argument for a region or keys that cannot be
/// signed with. Pure.
result<std::string> sign_aws_subject(const aws_subject_options& options, const access_keys& keys,
                                     const std::string& region, system_time now);

/// The certificate that connections to Google's service show, and what led to it.
struct certificate_subject_options {
  std::string certificate_file{};
  /// Empty: the certificate alone.
  std::string chain_file{};
};
subject_source_ptr make_certificate_subject(credentials_facts facts,
                                            certificate_subject_options options,
                                            const environment& machine);

/// The subject token of a certificate, PEM, and its chain: a JSON array of DER in base64. Errors:
/// invalid_argument. Pure.
result<std::string> read_certificate_subject(std::string_view certificate, std::string_view chain);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/aws_subject.ipp>
#include <dataflux/auth/impl/certificate_subject.ipp>
#include <dataflux/auth/impl/program_subject.ipp>
#include <dataflux/auth/impl/subject_source.ipp>
#endif
