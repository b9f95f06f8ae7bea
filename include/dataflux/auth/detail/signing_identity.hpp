#pragma once

#include <dataflux/auth/detail/rsa_signer.hpp>
#include <dataflux/http/detail/url.hpp>

#include <memory>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// In whose name credentials sign URLs and policies, and what does it.
struct signing_identity {
  /// E-mail address of the service account; empty: nobody, unless `metadata` tells.
  std::string account{};
  /// Its private key, as long as the credentials. Null: IAM signs for the account (protocol.md
  /// 4.6), and takes their token.
  const rsa_signer* key{nullptr};
  /// The metadata server that knows the account, and by which alias.
  std::shared_ptr<const http::origin> metadata{};
  std::string alias{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
