#pragma once

#include <emulator/message.hpp>
#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace emulator {

/// What a request asks for, read from its method, target and headers alone.
struct call {
  /// "objects.list", "objects.get" (also XML HEAD), "objects.media" (also XML GET),
  /// "objects.insert" (also XML PUT), "objects.delete", "buckets.get", "buckets.insert",
  /// "multipart.initiate", ".part", ".complete", ".abort", ".list_parts", ".list", "token",
  /// "metadata" (the metadata server), "unknown".
  std::string_view verb{"unknown"};
  error_form form{error_form::json};
  std::string bucket{};
  std::string object{};  ///< decoded; empty when the call names none
  int part{0};           ///< of multipart.part
  query_parameters query{};
  bool xml{false};  ///< of the XML API
  /// Set by a fault: a listing page ends after that many results.
  std::optional<std::uint64_t> page_limit{};

  bool pretty() const noexcept { return query.get("prettyPrint") != "false"; }
};

call route(const http_request& request);

}  // namespace emulator
