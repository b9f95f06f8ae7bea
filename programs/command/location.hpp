#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

namespace cli {

/// What a person names on the command line: gs://bucket[/name],
/// s3://bucket[/name], ais://bucket[/name], a path, or - for a standard stream.
struct location {
  enum class kind { object, file, stream };

  kind where{kind::file};
  /// Of the service: "gs", "s3" or "ais".
  std::string_view scheme{"gs"};
  /// Empty unless it is in a bucket.
  std::string bucket{};
  /// The object's name or a prefix, bytes as written: nothing is decoded, "//" stays.
  std::string name{};
  /// Behind "#" at the end of the name, where that may be one; see find_object().
  std::int64_t generation() const noexcept;
  /// Of a file or folder.
  std::string path{};

  // The analyzer does not see what `result` moves by placement new.
  bool is_object() const noexcept { return where == kind::object; }  // NOLINT(clang-analyzer-*)
  /// "gs://bucket/name", the path, or "-".
  std::string to_string() const;
};

/// Errors: invalid_argument for an empty text, gs:// without a bucket, a bucket's name that cannot
/// be one, and other schemes (https://).
dataflux::result<location> parse_location(std::string_view text);

/// "gs", "s3" or "ais" of a URL; empty for any other text.
std::string_view scheme_of(std::string_view text) noexcept;

/// parse_location() that takes only URLs of buckets. Errors: as above, and invalid_argument for the
/// others.
dataflux::result<location> parse_object_location(std::string_view text);

/// The object of that very name; where none is, and the name ends in "#" and a generation (of at
/// least ten digits), that generation, as `ls -a` shows it. Errors: those of the store; what is a
/// bucket or a folder is told as one, with the command that takes it.
dataflux::result<dataflux::object_metadata> find_object(
    dataflux::object_store& store, const location& where, const std::stop_token& stop,
    std::string_view of_folders = "`ls` shows what is in it");

/// A manifest or an index, of which scheme_of() said no more than where it lies itself, is of use
/// to a client of its own service. Errors: invalid_argument.
dataflux::result<void> check_own(const dataflux::object_store& store, std::string_view scheme,
                                 std::string_view what);

/// `name` with a '/' at its end, unless it is empty or has one: the prefix of what is below it.
std::string folder_prefix(std::string_view name);

/// What stands behind the last '/', one at the very end aside; empty for "", "/", "." and "..".
std::string last_component(std::string_view name);

/// A name with control characters escaped, for people's eyes.
std::string shown_name(std::string_view name);
/// The same of "gs://bucket/name".
std::string shown_url(std::string_view scheme, std::string_view bucket, std::string_view name);

}  // namespace cli
