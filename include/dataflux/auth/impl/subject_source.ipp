#pragma once

#include <dataflux/auth/detail/keys_flow.hpp>
#include <dataflux/auth/detail/subject_source.hpp>
#include <dataflux/codec/detail/json.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

inline constexpr int subject_tries = 3;

/// Nothing says when it ends: it is used at once.
inline access_token subject_of(std::string text) { return {std::move(text), system_time::max()}; }

DATAFLUX_INLINE result<std::string> read_subject(std::string_view text,
                                                 const subject_format& format) {
  std::string found;
  if (format.json) {
    auto document = codec::json_document::parse(as_bytes(text));
    if (!document) return error{errc::internal, "it is not valid JSON"};
    found = document->root().find(format.field).text().value_or("");
    if (found.empty()) {
      return error{errc::internal, "it has no text \"" + format.field + "\""};
    }
    return found;
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty()) return error{errc::internal, "it is empty"};
  return std::string{text};
}

class file_subject_flow final : public keys_flow {
 public:
  file_subject_flow(const credentials_facts& facts, const std::string& path,
                    const subject_format& format, const environment& machine)
      : keys_flow(facts, subject_tries), path_(path), format_(format), machine_(machine) {}

 private:
  flow_step ask(const flow_moment&) override {
    return blocking_step{[path = path_, &machine = machine_] { return machine.read_file(path); }};
  }
  flow_step read(result<std::string>&& text, const flow_moment& moment) override {
    if (!text) {
      error why =
          failure(errc::unauthenticated, "cannot read the subject token " + text.error().message());
      return again_or(why.with_retryable(text.error().code() == errc::not_found), moment);
    }
    auto token = read_subject(*text, format_);
    if (token) return subject_of(std::move(*token));
    // It may be just being written.
    error why = failure(errc::unauthenticated,
                        "the subject token in " + path_ + ": " + token.error().message());
    return again_or(why.with_retryable(true), moment);
  }
  flow_step replied(const http_reply&, const flow_moment& moment) override { return ask(moment); }

  const std::string& path_;
  const subject_format& format_;
  const environment& machine_;
};

class file_subject final : public subject_source {
 public:
  file_subject(credentials_facts facts, std::string path, subject_format format,
               const environment& machine)
      : subject_source(std::move(facts)),
        path_(std::move(path)),
        format_(std::move(format)),
        machine_(machine) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(
        new file_subject_flow(this->facts(), path_, format_, machine_));
  }

 private:
  const std::string path_;
  const subject_format format_;
  const environment& machine_;
};

class url_subject_flow final : public keys_flow {
 public:
  url_subject_flow(const credentials_facts& facts, const url_subject_options& options)
      : keys_flow(facts, subject_tries), options_(options) {}

 private:
  flow_step ask(const flow_moment&) override {
    http_step step;
    step.request.origin = std::make_shared<const http::origin>(options_.where.origin);
    step.request.target = options_.where.target;
    for (const auto& [name, value] : options_.headers) step.request.headers.add(name, value);
    return step;
  }
  flow_step replied(const http_reply& reply, const flow_moment& moment) override {
    const std::string server = options_.where.origin.authority();
    if (reply.status != 200) {
      return again_or(refused_by(server, reply.status, "subject token"), moment);
    }
    auto token = read_subject(reply.body, options_.format);
    if (token) return subject_of(std::move(*token));
    return end(failure(errc::unauthenticated,
                       "the subject token that " + server + " gave: " + token.error().message()));
  }

  const url_subject_options& options_;
};

class url_subject final : public subject_source {
 public:
  url_subject(credentials_facts facts, url_subject_options options)
      : subject_source(std::move(facts)), options_(std::move(options)) {}
  std::unique_ptr<token_flow> start() const override {
    return std::unique_ptr<token_flow>(new url_subject_flow(this->facts(), options_));
  }

 private:
  const url_subject_options options_;
};

DATAFLUX_INLINE subject_source_ptr make_file_subject(credentials_facts facts, std::string path,
                                                     subject_format format,
                                                     const environment& machine) {
  return std::make_shared<file_subject>(std::move(facts), std::move(path), std::move(format),
                                        machine);
}

DATAFLUX_INLINE subject_source_ptr make_url_subject(credentials_facts facts,
                                                    url_subject_options options) {
  return std::make_shared<url_subject>(std::move(facts), std::move(options));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
