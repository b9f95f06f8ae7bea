#pragma once

#include <emulator/message.hpp>
#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// What a request asks for, read from its method, target and headers alone.
struct call {
  /// The name of a row in verbs.cpp, or "retry_test" (that of Google's testbench), "control" (the
  /// emulator's own), "unmodelled" (what the service has and we have not: see `lacking`),
  /// "unknown". The XML API's HEAD, GET, PUT, copying PUT, bucket GET and form are objects.get,
  /// .media, .insert, .copy, .list and .form.
  std::string_view verb{"unknown"};
  error_form form{error_form::json};
  std::string bucket{};
  std::string object{};     ///< decoded; empty when the call names none; of a copy, the source
  std::string to_bucket{};  ///< of rewrite, copy and move
  std::string to_object{};  ///< of rewrite, copy and move
  int part{0};              ///< of multipart.part
  std::string item{};       ///< an entity, a notification's or key's id, a retry test's id
  std::string project{};    ///< of hmacKeys and serviceAccount
  query_parameters query{};
  std::string_view path{};     ///< as sent; borrowed from the request
  bool xml{false};             ///< of the XML API
  std::string_view lacking{};  ///< of "unmodelled": what it is, for people
  /// Set by the service: the bucket knows no access control lists, so that none are shown.
  bool uniform_access{false};
  /// Set by a retry test: buckets that could not be reached.
  std::vector<std::string> unreachable{};
  /// Set by a fault: a listing page ends after that many results.
  std::optional<std::uint64_t> page_limit{};
  /// Set by a fault: conditions count for nothing, as with servers that imitate S3.
  bool ignore_conditions{false};
  /// Set by a fault: how far the service's clock is ahead.
  std::chrono::milliseconds skew{0};
  /// Set by a fault: of a chunk no more than so many bytes are kept.
  std::optional<std::uint64_t> persist_limit{};

  bool pretty() const noexcept { return query.get("prettyPrint") != "false"; }
};

call route(const http_request& request);

}  // namespace emulator
