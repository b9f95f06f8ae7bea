#pragma once

#include <dataflux/unique_function.hpp>

#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Where trusted authorities lie: a PEM file, folders of hashed names (openssl rehash; separated by
/// colons), or both.
struct trust_places {
  std::string file{};
  std::string folders{};
  /// Who named them, for messages: "SSL_CERT_FILE", ...; empty: the caller, or the system.
  std::string named_by{};
};

/// What the search may ask of the machine; a test passes its own.
struct trust_machine {
  /// An environment variable; nothing if it is not set.
  unique_function<std::optional<std::string>(const char* name)> variable{};
  /// Is there something at this path that the process may read?
  unique_function<bool(const std::string& path)> readable{};
  /// Where the TLS library's builder had them; empty where he did not say.
  std::string built_in_file{};
  std::string built_in_folder{};
};

/// Where to look, in this order: `given`; SSL_CERT_FILE and SSL_CERT_DIR, as OpenSSL's own programs
/// take them; where the builder of libcurl had them, if there is something; and the places of the
/// usual systems, since a library that comes with a libcurl of its own (a wheel, a crate) runs on
/// another system than the builder's. Empty places if there is nothing anywhere.
///
/// What the caller or a variable names is taken as it is, and nobody else is trusted where it
/// cannot be read: of a file that is an error of its own, of a folder, in which a connect looks for
/// one name, the connect's.
trust_places find_trust_places(const std::string& given, trust_machine& machine);
/// The same on this machine; where the builder had them may be null.
trust_places find_trust_places(const std::string& given, const char* built_in_file,
                               const char* built_in_folder);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/trust_places.ipp>
#endif
