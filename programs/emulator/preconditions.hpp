#pragma once

#include <emulator/message.hpp>
#include <emulator/stored_object.hpp>
#include <emulator/uri.hpp>

#include <cstdint>
#include <optional>

namespace emulator {

/// The conditions of one call, of the query (JSON API) or of headers (XML API).
struct preconditions {
  std::optional<std::int64_t> generation{};  ///< which generation is meant, not a condition
  bool soft_deleted{false};                  ///< that generation among the soft-deleted ones
  std::optional<std::int64_t> if_generation_match{};
  std::optional<std::int64_t> if_generation_not_match{};
  std::optional<std::int64_t> if_metageneration_match{};
  std::optional<std::int64_t> if_metageneration_not_match{};
  std::string if_match{};       ///< ETag, for reads
  std::string if_none_match{};  ///< ETag, for reads
  bool by_s3{false};            ///< ETags are S3's, and count for writes, too
  /// Of the XML API's reads, to the second; each counts where the ETag condition beside it is
  /// absent (RFC 9110, 13.2.2).
  std::optional<stored_object::time_point> if_modified_since{};
  std::optional<stored_object::time_point> if_unmodified_since{};

  /// Both throw service_error 400 on a value that is no number.
  static preconditions of_query(const query_parameters& query, const http_request& request);
  /// sourceGeneration and ifSource*, of the source of a copy.
  static preconditions of_source(const query_parameters& query);
  static preconditions of_xml(const query_parameters& query, const http_request& request);
  /// S3's, in headers whose names begin so: "" or, of the source of a copy, "x-amz-copy-source-".
  static preconditions of_s3(const http_request& request, const std::string& prefix = {});

  /// For get and media: throws not_modified (304) or condition_not_met (412).
  void check_read(const stored_object& live) const;
  /// For insert and delete; `live` is nullptr when the name is free. Throws condition_not_met, and
  /// by S3's conditions no_such_key.
  void check_write(const stored_object* live) const;
};

}  // namespace emulator
