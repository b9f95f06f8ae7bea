#pragma once

#include <dataflux/auth/detail/keys_flow.hpp>
#include <dataflux/auth/detail/subject_source.hpp>
#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/json_writer.hpp>

#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// The certificates of a PEM text, each as base64 without line ends; nullopt for one that is none.
inline std::optional<std::vector<std::string>> certificates_in(std::string_view pem) {
  constexpr std::string_view begin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view end = "-----END CERTIFICATE-----";
  std::vector<std::string> found;
  for (;;) {
    const std::size_t from = pem.find(begin);
    if (from == std::string_view::npos) return found;
    const std::size_t to = pem.find(end, from);
    if (to == std::string_view::npos) return std::nullopt;
    std::string text;
    for (const char c : pem.substr(from + begin.size(), to - from - begin.size())) {
      if (c != '\n' && c != '\r' && c != ' ' && c != '\t') text += c;
    }
    if (text.empty() || !codec::decode_base64(text)) return std::nullopt;
    found.push_back(std::move(text));
    pem.remove_prefix(to + end.size());
  }
}

DATAFLUX_INLINE result<std::string> read_certificate_subject(std::string_view certificate,
                                                             std::string_view chain) {
  const auto own = certificates_in(certificate);
  if (!own || own->empty()) {
    return error{errc::invalid_argument, "the certificate's file has no certificate in PEM"};
  }
  const auto issuers = certificates_in(chain);
  if (!issuers || (issuers->empty() && !chain.empty())) {
    return error{errc::invalid_argument, "the chain's file has no certificates in PEM"};
  }
  const std::string& leaf = own->front();
  codec::json_writer out;
  out.begin_array().string(leaf);
  bool first = true;
  for (const std::string& each : *issuers) {
    const bool again = each == leaf;
    if (again && !first) {
      return error{
          errc::invalid_argument,
          "the chain's file has the certificate itself behind another one: it comes first"};
    }
    if (!again) out.string(each);
    first = false;
  }
  out.end_array();
  return std::move(out).take();
}

class certificate_subject_flow final : public keys_flow {
 public:
  certificate_subject_flow(const credentials_facts& facts,
                           const certificate_subject_options& options, const environment& machine)
      : keys_flow(facts, 1), options_(options), machine_(machine) {}

 private:
  flow_step ask(const flow_moment&) override {
    return blocking_step{[options = options_, &machine = machine_]() -> result<std::string> {
      auto certificate = machine.read_file(options.certificate_file);
      if (!certificate) return certificate;
      result<std::string> chain = std::string();
      if (!options.chain_file.empty()) chain = machine.read_file(options.chain_file);
      if (!chain) return chain;
      return read_certificate_subject(*certificate, *chain);
    }};
  }
  flow_step read(result<std::string>&& text, const flow_moment&) override {
    if (text) return access_token{std::move(*text), system_time::max()};
    return end(
        failure(errc::unauthenticated, "the certificate that is shown: " + text.error().message()));
  }
  flow_step replied(const http_reply&, const flow_moment& moment) override { return ask(moment); }

  const certificate_subject_options& options_;
  const environment& machine_;
};

class certificate_subject final : public subject_source {
 public:
  certificate_subject(credentials_facts facts, certificate_subject_options options,
                      const environment& machine)
      : subject_source(std::move(facts)), options_(std::move(options)), machine_(machine) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(
        new certificate_subject_flow(this->facts(), options_, machine_));
  }
  bool changes() const noexcept override { return false; }

 private:
  const certificate_subject_options options_;
  const environment& machine_;
};

DATAFLUX_INLINE subject_source_ptr make_certificate_subject(credentials_facts facts,
                                                            certificate_subject_options options,
                                                            const environment& machine) {
  return std::make_shared<certificate_subject>(std::move(facts), std::move(options), machine);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
