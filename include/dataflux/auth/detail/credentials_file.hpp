#pragma once

#include <dataflux/auth/detail/token_flow.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/http/detail/url.hpp>

#include <string>
#include <string_view>

/// The fields of a credentials file, read strictly. Its errors name the file and the
/// field and never quote a value.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

class credentials_file {
 public:
  static result<credentials_file> parse(std::string_view json, std::string path);

  const std::string& path() const noexcept { return path_; }
  /// A string that must be there and not be empty.
  result<std::string> required(std::string_view field) const;
  /// A string that may be absent, null or empty: `fallback` then.
  result<std::string> optional(std::string_view field, std::string_view fallback = {}) const;
  /// An optional URL of an endpoint that is sent secrets: https, or http to a loopback address.
  result<http::url> endpoint(std::string_view field, std::string_view fallback) const;
  /// The `type` must be this one.
  result<void> expect_type(std::string_view type) const;
  /// The fields that every kind has; `quota_project` goes before the file's, unless empty.
  result<credentials_facts> facts(std::string_view kind, std::string quota_project) const;
  /// invalid_argument: "credentials file PATH: " and what is wrong with it.
  error broken(std::string_view what) const;

 private:
  credentials_file(codec::json_document document, std::string path) noexcept
      : document_(std::move(document)), path_(std::move(path)) {}

  codec::json_document document_;
  std::string path_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/credentials_file.ipp>
#endif
