#pragma once

#include <dataflux/http/impl/connector.ipp>

#include <chrono>
#include <climits>
#include <new>
#include <string>
#include <string_view>
#include <vector>

/// What curl is told of a connection before it begins, and what is told of one that failed.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

inline void set_option(::CURL* easy, ::CURLoption option, const auto& value) noexcept {
  static_cast<void>(::curl_easy_setopt(easy, option, value));
}

/// A text, which curl copies.
inline void set_blob(::CURL* easy, ::CURLoption option, const std::string& text) noexcept {
  ::curl_blob blob{};
  blob.data = const_cast<char*>(text.data());
  blob.len = text.size();
  blob.flags = CURL_BLOB_COPY;
  static_cast<void>(::curl_easy_setopt(easy, option, &blob));
}

DATAFLUX_INLINE std::string connector::state::route_of(const origin& to) const {
  std::string text = detours.words_for(to);
  if (options.proxy.empty() || !proxy_configured(to, options)) return text;
  return text + " (proxy: " + parse_proxy(options.proxy)->shown + ")";
}

DATAFLUX_INLINE void connector::state::configure(::CURL* easy, attempt& a, const origin& to,
                                                 const std::vector<std::string>& addresses,
                                                 duration timeout) const {
  const auto set = [easy](::CURLoption option, auto value) {
    static_cast<void>(::curl_easy_setopt(easy, option, value));
  };
  set(CURLOPT_URL, to.to_string().c_str());
  set(CURLOPT_CONNECT_ONLY, 1L);
  set(CURLOPT_FRESH_CONNECT, 1L);
  set(CURLOPT_SHARE, sessions);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_SSL_ENABLE_ALPN, 0L);
  set(CURLOPT_HTTPPROXYTUNNEL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  // What curl_easy_recv gives at most. Only its size is used, so its pages are never touched.
  set(CURLOPT_BUFFERSIZE, 512L << 10U);
  set(CURLOPT_PRIVATE, static_cast<void*>(&a));
  set(CURLOPT_ERRORBUFFER, a.text.data());
  set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(&a));
  set(CURLOPT_CLOSESOCKETFUNCTION, &close_socket);
  set(CURLOPT_CLOSESOCKETDATA, static_cast<void*>(a.in));
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limit > 0 ? limit : INT_MAX));
  configure_route(easy, a, to, addresses);
  if (to.tls || a.by_tls) configure_tls(easy, a, to.certificate ? *to.certificate : options.client);
}

DATAFLUX_INLINE void connector::state::configure_route(
    ::CURL* easy, attempt& a, const origin& to, const std::vector<std::string>& addresses) const {
  if (!a.proxied) {
    set_option(easy, CURLOPT_NOPROXY, "*");
  } else if (!options.proxy.empty()) {
    set_option(easy, CURLOPT_PROXY, options.proxy.c_str());
    set_option(easy, CURLOPT_NOPROXY, "");
    a.by_tls = parse_proxy(options.proxy)->tls;
  }
  a.route = route_of(to);
  const routes::place where = detours.place_of(to);
  if (where != routes::place{to.host, to.port}) {
    const std::string entry = routes::text_of({to.host, to.port}) + ":" + routes::text_of(where);
    a.detour = ::curl_slist_append(nullptr, entry.c_str());
    if (a.detour == nullptr) throw std::bad_alloc();
    set_option(easy, CURLOPT_CONNECT_TO, a.detour);
  }
  const auto told = detours.addresses_of(to);
  const std::vector<std::string>& known = told != nullptr && addresses.empty() ? *told : addresses;
  if (known.empty() || where.host.find(':') != std::string::npos)
    return;  // a literal needs no entry
  const std::string entry = addresses_text(where.host, where.port, known);
  a.addresses = ::curl_slist_append(nullptr, entry.c_str());
  if (a.addresses == nullptr) throw std::bad_alloc();
  set_option(easy, CURLOPT_RESOLVE, a.addresses);
}

DATAFLUX_INLINE void connector::state::configure_tls(::CURL* easy, attempt& a,
                                                     const client_certificate& shown) const {
  const auto set = [easy](::CURLoption option, auto value) {
    static_cast<void>(::curl_easy_setopt(easy, option, value));
  };
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  // curl parses a bundle once for each multi, and with a path for each connection.
  set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  if (curl_speaks_openssl()) {
    set(CURLOPT_SSL_CTX_FUNCTION, &prepare_tls);
    set(CURLOPT_SSL_CTX_DATA, static_cast<void*>(&a));
    // An HTTPS proxy's authorities come the same way.
    for (const auto file : {CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH})
      set(file, static_cast<const char*>(nullptr));
  } else {
    if (!trusted.file.empty()) set(CURLOPT_CAINFO, trusted.file.c_str());
    if (!trusted.folders.empty()) set(CURLOPT_CAPATH, trusted.folders.c_str());
    const std::string& proxy_file = options.proxy_ca_file;
    if (!proxy_file.empty()) set(CURLOPT_PROXY_CAINFO, proxy_file.c_str());
  }
  if (shown.empty()) return;
  // Else OpenSSL would ask for it at the terminal.
  set(CURLOPT_KEYPASSWD, shown.key_password.c_str());
  if (shown.certificate_file.empty()) {
    set_blob(easy, CURLOPT_SSLCERT_BLOB, shown.certificate);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, shown.key);
  } else {
    set(CURLOPT_SSLCERT, shown.certificate_file.c_str());
    set(CURLOPT_SSLKEY, shown.key_file.c_str());
  }
}

/// What a proxy said to CONNECT; 0 where none was asked, or none answered.
inline long proxy_status(::CURL* easy) noexcept {
  long status = 0;
  static_cast<void>(::curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status));
  return status;
}

/// What must not pass for a server's fault: curl does not tell a file that cannot be opened for
/// lack of descriptors from one that is not there.
DATAFLUX_INLINE void connector::state::attempt::explain(::CURL* easy, CURLcode code,
                                                        finished& out) const {
  out.failure = no_memory ? transport_failure::memory : failure_of(code);
  out.detail.clear();
  if (out.failure == transport_failure::none) return;
  const bool opens_files = code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CERTPROBLEM ||
                           out.failure == transport_failure::resolve;
  if (no_descriptor || (opens_files && trouble.empty() && out_of_descriptors())) {
    out.failure = transport_failure::connect;
    out.detail = std::string(no_descriptor_text) + "; " + std::string(descriptor_advice);
    return;
  }
  const std::string said = text[0] != '\0' ? text.data() : ::curl_easy_strerror(code);
  const long by_proxy = proxy_status(easy);
  std::string_view advice = by_proxy / 100 > 2 ? proxy_advice : connect_advice;
  if (by_proxy == 407) advice = proxy_user_advice;
  out.detail = (trouble.empty() ? said : trouble) + route + "; " + std::string(advice);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
