#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/auth/detail/trusted_hosts.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The fields of a credentials file, read strictly. Its errors name the file and the
/// field and never quote a value but a host's name.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What counts beside a file.
struct file_context {
  trusted_hosts hosts{};
  /// In place of the file's, unless empty.
  std::string project{};
};

class credentials_file {
 public:
  static result<credentials_file> parse(std::string_view json, std::string path,
                                        file_context context = {});

  const std::string& path() const noexcept { return path_; }
  /// Is there such a field, other than null?
  bool has(std::string_view field) const noexcept;
  /// A string that must be there and not be empty.
  result<std::string> required(std::string_view field) const;
  /// A string that may be absent, null or empty: `fallback` then.
  result<std::string> optional(std::string_view field, std::string_view fallback = {}) const;
  /// An optional number within bounds; `fallback` where it is absent or null.
  result<std::int64_t> number(std::string_view field, std::int64_t fallback, std::int64_t least,
                              std::int64_t most) const;
  /// Whether a field says true; absent or null: it does not.
  result<bool> flag(std::string_view field) const;
  /// An optional array of strings; none of them may be empty.
  result<std::vector<std::string>> texts(std::string_view field) const;
  /// The members of an optional object, all of them strings.
  result<std::vector<std::pair<std::string, std::string>>> pairs(std::string_view field) const;
  /// An object that must be there, whose errors name the field.
  result<credentials_file> object(std::string_view field) const;

  /// An optional URL of an endpoint that is sent secrets: https at a host that may get them, or
  /// http to a loopback address. Without a fallback it must be there.
  result<http::url> endpoint(std::string_view field, std::string_view fallback) const;
  /// A URL that secrets come from: https anywhere, or http to this machine, to an address that its
  /// network hands out (169.254.0.0/16, fd00:ec2::254) or to a host that somebody has named.
  result<http::url> source(std::string_view field) const;
  /// The `type` must be this one.
  result<void> expect_type(std::string_view type) const;
  /// The fields that every kind has; `quota_project` goes before the file's, unless empty.
  result<credentials_facts> facts(std::string_view kind, std::string quota_project) const;
  /// The file's, or the default.
  result<std::string> universe() const;
  /// invalid_argument: "credentials file PATH: " and what is wrong with it.
  error broken(std::string_view what) const;
  /// The same of a field.
  error broken_field(std::string_view field, std::string_view what) const;

 private:
  credentials_file(codec::json_document document, std::string path, file_context context) noexcept
      : document_(std::move(document)), path_(std::move(path)), context_(std::move(context)) {}

  codec::json_document document_;
  std::string path_;
  file_context context_;
  /// Of an object in the file: "credential_source.".
  std::string inside_{};
  /// Of the whole file.
  std::string universe_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/credentials_file.ipp>
#endif
