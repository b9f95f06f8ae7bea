#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/http/detail/connector.hpp>
#include <dataflux/http/detail/descriptors.hpp>
#include <dataflux/http/detail/proxy.hpp>
#include <dataflux/http/detail/resolver.hpp>
#include <dataflux/http/detail/socket_watch.hpp>
#include <dataflux/http/detail/trust_store.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <new>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <curl/curl.h>
#include <openssl/crypto.h>

/// Why libcurl connects and we converse: names, happy eyeballs, proxies, TLS and client
/// certificates are libcurl's work, once per connection. Requests and replies are ours (http1),
/// from and into the caller's memory, at half of the CPU that a transfer of libcurl takes.
///
/// Over TLS libcurl shakes hands and receives the beginning of the first reply, because its session
/// cache takes tickets inside its own calls only. Then we call OpenSSL (tls_stream). Through a
/// proxy all bytes move by libcurl.
///
/// When a transfer begins, libcurl closes connections without a transfer that look dead or old. So
/// adopt() receives once on a plain connection, which gives it a transfer; a TLS connection has one
/// from its first reply on.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Once per process, before the first handle; never undone: others may use curl.
inline void initialise_curl() {
  static const bool done = [] {
    // Threads may still be inside TLS while the process exits.
    ::OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
    return ::curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  }();
  static_cast<void>(done);
}

inline stream::outcome stream_outcome(CURLcode code, std::size_t count, bool receiving) noexcept {
  if (code == CURLE_OK && count > 0) return {stream::status::ok, count};
  if (code == CURLE_OK) return {receiving ? stream::status::closed : stream::status::again, 0};
  if (code == CURLE_AGAIN) return {stream::status::again, 0};
  return {stream::status::failed, 0};
}

DATAFLUX_INLINE stream::outcome stream::send_by_curl(bytes_view bytes) noexcept {
  std::size_t count = 0;
  const CURLcode code = ::curl_easy_send(easy_, bytes.data(), bytes.size(), &count);
  curl_code_ = code;
  return stream_outcome(code, count, false);
}

DATAFLUX_INLINE stream::outcome stream::receive_by_curl(bytes_span memory) noexcept {
  std::size_t count = 0;
  const CURLcode code = ::curl_easy_recv(easy_, memory.data(), memory.size(), &count);
  curl_code_ = code;
  return stream_outcome(code, count, true);
}

DATAFLUX_INLINE std::string stream::curl_failure() const {
  return ::curl_easy_strerror(static_cast<CURLcode>(curl_code_));
}

inline const ::curl_version_info_data& curl_facts() noexcept {
  return *::curl_version_info(CURLVERSION_NOW);
}

/// The context that curl hands out is OpenSSL's only then.
inline bool curl_speaks_openssl() {
  const char* const version = curl_facts().ssl_version;
  return version != nullptr && std::string_view(version).starts_with("OpenSSL/3");
}

inline transport_failure failure_of(CURLcode code) noexcept {
  switch (code) {
    case CURLE_OK:
      return transport_failure::none;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return transport_failure::resolve;
    case CURLE_OUT_OF_MEMORY:
      return transport_failure::memory;
    case CURLE_OPERATION_TIMEDOUT:
      return transport_failure::timeout_connect;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_ENGINE_NOTFOUND:
      return transport_failure::tls;
    default:
      return transport_failure::connect;
  }
}

struct connector::state {
  /// curl finds a handle's connection by a walk over all connections of its multi, at every send
  /// and receive. So a multi gets a few streams only, and there are as many as it takes.
  struct group {
    explicit group(state& s) noexcept : owner(s) {}
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group() { ::curl_multi_cleanup(multi); }

    state& owner;
    ::CURLM* multi{nullptr};
    std::size_t streams{0};
    time_point timer{never};
  };
  static constexpr std::size_t group_size = 8;

  struct attempt {
    group* in{nullptr};
    bool connecting{true};
    void* user{nullptr};
    bool proxied{false};
    bool by_tls{false};      ///< to a proxy that the caller names
    int handshakes{0};       ///< begun, where there is one
    std::string route{};     ///< for errors: what leads elsewhere
    ::ssl_st* tls{nullptr};  ///< once it has shaken hands; not through a proxy
    ::curl_slist* addresses{nullptr};
    ::curl_slist* detour{nullptr};
    std::array<char, CURL_ERROR_SIZE> text{};
    bool no_descriptor{false};
    bool no_memory{false};
    std::string trouble{};  ///< what we found ourselves, before curl's text

    void explain(::CURL* easy, CURLcode code, finished& out) const;
  };

  state(const curl_transport_options& o, int epoll)
      : options(o),
        connects(epoll),
        detours(routes::parse(o).value()),
        trusted(find_trust_places(o.ca_file, curl_facts().cainfo, curl_facts().capath)),
        authorities(trusted),
        proxy_authorities(o.proxy_ca_file.empty() ? trusted
                                                  : trust_places{.file = o.proxy_ca_file}),
        sessions(::curl_share_init()) {
    if (sessions == nullptr) throw std::bad_alloc();
    // One thread uses it: no lock functions.
    static_cast<void>(::curl_share_setopt(sessions, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION));
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    groups.clear();
    static_cast<void>(::curl_share_cleanup(sessions));
  }

  curl_transport_options options;
  socket_watch connects;
  const routes detours;
  const trust_places trusted;
  trust_store authorities;
  trust_store proxy_authorities;
  record_memory records{};
  /// TLS sessions, so that reconnects resume whatever group they land in.
  ::CURLSH* sessions;
  std::vector<std::unique_ptr<group>> groups{};
  std::size_t connecting{0};
  attempt* starved{nullptr};  ///< one whose socket could not be watched for want of memory

  group& group_with_room();
  static int on_timer(::CURLM*, long milliseconds, void* self) noexcept {
    auto& here = *static_cast<group*>(self);
    here.timer = milliseconds < 0 ? never : clock::now() + std::chrono::milliseconds(milliseconds);
    return 0;
  }
  /// The child of a fork must close what it inherits: every socket is made and closed here.
  static curl_socket_t open_socket(void* self, curlsocktype, ::curl_sockaddr* to) noexcept {
    auto& a = *static_cast<attempt*>(self);
    const int s = http::open_socket(to->family, to->socktype, a.in->owner.options.peer_timeout);
    if (s < 0) a.no_descriptor |= is_descriptor_shortage(errno);
    if (s < 0) a.no_memory |= errno == ENOMEM;
    return s < 0 ? CURL_SOCKET_BAD : s;
  }
  static CURLcode prepare_tls(::CURL*, void* context, void* self) noexcept {
    auto& a = *static_cast<attempt*>(self);
    try {
      auto* const made = static_cast<::ssl_ctx_st*>(context);
      if (!a.proxied) note_handshake(made, a.tls);
      // First with the proxy, then with the server: where there are more it is not sure with whom.
      const bool to_proxy = a.by_tls && a.handshakes == 0;
      if (a.by_tls && ++a.handshakes > 2) return CURLE_SSL_CONNECT_ERROR;
      auto& owner = a.in->owner;
      const auto attached =
          (to_proxy ? owner.proxy_authorities : owner.authorities).attach(made, clock::now());
      if (attached) return CURLE_OK;
      a.no_descriptor |= attached.error().retryable();
      a.trouble = attached.error().message();
      return CURLE_SSL_CACERT_BADFILE;
    } catch (...) {
      return CURLE_OUT_OF_MEMORY;
    }
  }
  static int close_socket(void* self, curl_socket_t s) noexcept {
    static_cast<group*>(self)->owner.connects.unwatch(s);
    untrack_descriptor(s);
    return ::close(s);
  }

  static attempt& attempt_of(::CURL* easy) noexcept {
    void* pointer = nullptr;
    static_cast<void>(::curl_easy_getinfo(easy, CURLINFO_PRIVATE, &pointer));
    return *static_cast<attempt*>(pointer);
  }
  void end_connecting(attempt& a) noexcept {
    if (std::exchange(a.connecting, false)) --connecting;
  }
  /// curl 7 closes an unconnected socket without close_socket() and says REMOVE only then. A
  /// failure would end all of the multi.
  static int on_socket(::CURL* easy, curl_socket_t s, int what, void* self, void*) noexcept {
    auto& from = *static_cast<group*>(self);
    std::uint32_t events = 0;
    if ((what & CURL_POLL_IN) != 0) events |= EPOLLIN;
    if ((what & CURL_POLL_OUT) != 0) events |= EPOLLOUT;
    detail::within_memory(
        [&] {
          what == CURL_POLL_REMOVE ? from.owner.connects.forget(s)
                                   : from.owner.connects.watch(s, events, &from);
        },
        [&] { from.owner.starved = &attempt_of(easy); });
    return 0;
  }

  /// Everything that a connection to `to` needs; `a` outlives the handle's connect phase.
  void configure(::CURL* easy, attempt& a, const origin& to,
                 const std::vector<std::string>& addresses, duration timeout) const;
  std::string route_of(const origin& to) const;
  void configure_route(::CURL* easy, attempt& a, const origin& to,
                       const std::vector<std::string>& addresses) const;
  void configure_tls(::CURL* easy, attempt& a, const client_certificate& shown) const;
};

DATAFLUX_INLINE connector::state::group& connector::state::group_with_room() {
  for (const auto& g : groups) {
    if (g->streams < group_size) return *g;
  }
  // curl 7 makes two sockets to wake its multi up, which programs that are started would inherit.
  const std::vector<int> before = inheritable_descriptors();
  auto made = std::make_unique<group>(*this);
  ::CURLM* const multi = made->multi = ::curl_multi_init();
  if (multi == nullptr) throw std::bad_alloc();
  const std::vector<int> ours = quiet_sockets_since(before);
  if (!ours.empty() && ::curl_multi_wakeup(multi) == CURLM_OK) keep_busy_sockets(ours);
  groups.push_back(std::move(made));
  const auto set = [multi](::CURLMoption option, auto value) {
    static_cast<void>(::curl_multi_setopt(multi, option, value));
  };
  set(CURLMOPT_SOCKETFUNCTION, &on_socket);
  set(CURLMOPT_SOCKETDATA, static_cast<void*>(groups.back().get()));
  set(CURLMOPT_TIMERFUNCTION, &on_timer);
  set(CURLMOPT_TIMERDATA, static_cast<void*>(groups.back().get()));
  // The cache must never prune a connection that is ours.
  set(CURLMOPT_MAXCONNECTS, static_cast<long>(4 * group_size));
  return *groups.back();
}

DATAFLUX_INLINE connector::connector(const curl_transport_options& options, int epoll) {
  initialise_curl();
  state_ = std::make_unique<state>(options, epoll);
}

DATAFLUX_INLINE connector::~connector() = default;

DATAFLUX_INLINE const routes& connector::detours() const noexcept { return state_->detours; }

DATAFLUX_INLINE std::string connector::route_of(const origin& to) const {
  return state_->route_of(to);
}

DATAFLUX_INLINE bool connector::open(stream& s, const origin& to,
                                     const std::vector<std::string>& addresses, duration timeout,
                                     void* user) {
  auto a = std::make_unique<state::attempt>();
  a->user = user, a->in = &state_->group_with_room();
  a->proxied = proxy_configured(to, state_->options);
  std::unique_ptr<::CURL, decltype(&::curl_easy_cleanup)> made(::curl_easy_init(),
                                                               &::curl_easy_cleanup);
  ::CURL* const easy = made.get();
  if (easy == nullptr) throw std::bad_alloc();
  state_->configure(easy, *a, to, addresses, timeout);
  s.easy_ = made.release();
  if (!to.tls && !a->proxied) s.receives_ = stream::way::socket;
  ++a->in->streams;
  ++state_->connecting;
  // curl's private pointer owns it until close().
  return ::curl_multi_add_handle(a.release()->in->multi, easy) == CURLM_OK;
}

DATAFLUX_INLINE void connector::close(stream& s) noexcept {
  if (s.easy_ == nullptr) return;
  const std::unique_ptr<state::attempt> a(&state::attempt_of(s.easy_));
  state_->end_connecting(*a);
  if (state_->starved == a.get()) state_->starved = nullptr;
  static_cast<void>(::curl_multi_remove_handle(a->in->multi, s.easy_));
  ::curl_easy_cleanup(s.easy_);
  ::curl_slist_free_all(a->addresses);
  ::curl_slist_free_all(a->detour);
  --a->in->streams;
  s = {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http
