#pragma once

#include <emulator/message.hpp>
#include <emulator/stored_object.hpp>
#include <emulator/uri.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What Google's and AWS's version 4 of signatures have in common.
namespace emulator {

/// A V4 credential: "ID/DATE/LOCATION/SERVICE/TERMINATOR".
struct v4_credential {
  std::string id{};
  std::string date{};
  std::string location{};
  std::string service{};
  std::string terminator{};

  /// What is behind the id.
  std::string scope() const { return date + "/" + location + "/" + service + "/" + terminator; }
  /// Empty optional for a text of another form.
  static std::optional<v4_credential> parse(std::string_view text);
  /// Empty optional unless it is one of Google's: "ID/DATE/LOCATION/storage/goog4_request".
  static std::optional<v4_credential> parse_google(std::string_view text);
};

/// "20260301T120000Z" as a point of time; empty optional for a text of another form.
std::optional<stored_object::time_point> parse_v4_time(std::string_view text);

/// The texts between the marks; one empty text of an empty one.
std::vector<std::string> split(std::string_view text, char mark);

/// What is signed of a header: its values without needless white space, joined by commas.
std::string v4_header_value(const http_request& request, std::string_view name);

struct v4_canonical_parts {
  std::string_view path{};            ///< percent-encoded
  std::string_view signature_name{};  ///< of the parameter that is left out, in any case
  std::string_view signed_headers{};  ///< "host;x-amz-date"
  std::string_view payload{};
  bool without_port{false};  ///< of the host
};
std::string v4_canonical_request(const http_request& request, const query_parameters& query,
                                 const v4_canonical_parts& parts);

/// `prefix` is "GOOG4" or "AWS4".
std::string v4_signing_key(std::string_view prefix, std::string_view secret,
                           std::string_view scope);

}  // namespace emulator
