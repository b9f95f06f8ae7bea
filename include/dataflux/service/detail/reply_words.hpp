#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/error.hpp>
#include <dataflux/service/detail/reply_facts.hpp>
#include <dataflux/service/detail/text.hpp>
#include <dataflux/service/detail/verb.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

/// What services say of failures, in whatever form their bodies come.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// What a body says, whatever its form.
struct reply_words {
  std::string reason{};   ///< for machines, verbatim
  std::string message{};  ///< for a person, not cleaned yet
  int status{0};          ///< an envelope's code
  bool xml{false};
  bool web_page{false};
};

/// The words of a document in JSON; nothing where it is none that says something of a failure.
using json_words = std::optional<reply_words> (*)(bytes_view body);

/// A web page, plain text, XML's `<Error>`, or what `json` knows to read; null = no JSON. Survives
/// any bytes.
reply_words read_words(const reply_facts& facts, bytes_view body, json_words json);

/// True if the body is a web page: something that is not the service has answered, or the service's
/// front end in an outage.
bool is_web_page(const reply_facts& facts, bytes_view body) noexcept;

inline bool contains(std::string_view text, std::string_view part) noexcept {
  return find_ignoring_case(text, part) != std::string_view::npos;
}

/// What a dialect makes of a failure.
struct failure_facts {
  errc code{errc::unknown};
  call_identity about{};
  std::string advice{};  ///< what to do; behind the service's own words
  bool bucket_missing{false};
  bool retryable{false};
};

/// The error; `what` may have views into `words`. `secrets` are blanked out in whatever form the
/// service repeats them, before anything is cut: its text to 2 KiB, with control characters and
/// broken UTF-8 replaced.
error make_error(const failure_facts& what, const reply_facts& facts, const reply_words& words,
                 std::span<const std::string_view> secrets);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/reply_words.ipp>
#endif
