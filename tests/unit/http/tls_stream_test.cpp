#include <dataflux/http/detail/tls_stream.hpp>

#include <emulator/certificate.hpp>
#include <support/catch.hpp>

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tls_stream_test {

// A stream of ours at one end of a pair of sockets; at the other a server, in the same thread,
// whose records are handed over as the test says.
namespace {

namespace detail = dataflux::detail::http;
using dataflux::as_bytes;
using detail::tls_stream;
using status = detail::socket_end::status;

const emulator::certificate& own() {
  static const auto made = emulator::make_certificate(emulator::tls_mode::valid);
  return made;
}

template <class T, class Free>
std::unique_ptr<T, Free> owned(T* made, Free how) {
  REQUIRE(made != nullptr);
  return {made, how};
}

class tls_pair {
 public:
  explicit tls_pair(int most = TLS1_3_VERSION, int type = SOCK_STREAM) {
    REQUIRE(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends_.data()) == 0);
    for (const int end : ends_) ::fcntl(end, F_SETFL, O_NONBLOCK);
    const auto server = owned(::SSL_CTX_new(::TLS_server_method()), &::SSL_CTX_free);
    const auto client = owned(::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free);
    SSL_CTX_set_max_proto_version(server.get(), most);
    use_certificate(server.get());
    SSL_CTX_set_read_ahead(client.get(), 1);
    ::SSL_CTX_set_default_read_buffer_len(client.get(), std::size_t{64} << 10U);
    detail::note_handshake(client.get(), noted_);
    server_.reset(::SSL_new(server.get()));
    client_.reset(::SSL_new(client.get()));
    ::SSL_set_bio(server_.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
    ::SSL_set_bio(client_.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
    ::SSL_set_accept_state(server_.get());
    ::SSL_set_connect_state(client_.get());
    // In memory: of a packet OpenSSL may take the beginning alone, and the rest of it is lost.
    for (int turn = 0; turn < 20; ++turn) {
      ::SSL_do_handshake(client_.get());
      move(client_.get(), server_.get());
      ::SSL_do_handshake(server_.get());
      if (SSL_is_init_finished(client_.get())) break;
      move(server_.get(), client_.get());
    }
    REQUIRE(noted_ == client_.get());
    ours = tls_stream::attach(noted_, ends_[0], memory_);
    REQUIRE(ours != nullptr);
    if (const std::string tickets = take(server_.get()); !tickets.empty()) say(tickets);
    CHECK(receive().empty());
  }
  tls_pair(const tls_pair&) = delete;
  tls_pair& operator=(const tls_pair&) = delete;
  ~tls_pair() {
    client_.reset();
    for (const int end : ends_) ::close(end);
  }

  /// What the server would send.
  std::string seal(std::string_view text) {
    for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(text.size(), 16384))) {
      ::SSL_write(server_.get(), text.data(),
                  static_cast<int>(std::min<std::size_t>(text.size(), 16384)));
    }
    return take();
  }
  std::string seal(std::string_view first, std::string_view second) {
    const std::string sealed = seal(first);
    return sealed + seal(second);
  }
  /// With the word that nothing follows.
  std::string seal_last(std::string_view text) {
    const std::string sealed = seal(text);
    ::SSL_shutdown(server_.get());
    return sealed + take();
  }
  void ask_for_new_keys() {
    ::SSL_key_update(server_.get(), SSL_KEY_UPDATE_REQUESTED);
    ::SSL_do_handshake(server_.get());
  }
  void say(std::string_view sealed) {
    REQUIRE(::write(ends_[1], sealed.data(), sealed.size()) ==
            static_cast<::ssize_t>(sealed.size()));
    if (ours != nullptr) ours->stirred(false);
  }
  void leave() { ::shutdown(ends_[1], SHUT_WR); }
  /// All that has come to us.
  std::string receive() {
    std::string out;
    std::array<std::byte, 5000> piece{};
    for (;;) {
      const auto got = ours->receive(piece);
      last = got.status;
      if (got.status != status::ok) return out;
      out += dataflux::as_text(dataflux::bytes_view(piece).first(got.count));
    }
  }
  /// All that has come to the server; `most` = of the socket's bytes.
  std::string heard(std::size_t most = std::size_t{1} << 30U) {
    hear(most);
    std::string out;
    std::array<char, 5000> piece{};
    for (;;) {
      const int n = ::SSL_read(server_.get(), piece.data(), static_cast<int>(piece.size()));
      if (n <= 0) return out;
      out.append(piece.data(), static_cast<std::size_t>(n));
    }
  }

  tls_stream* ours{nullptr};
  status last{status::ok};
  std::size_t reads{0};  ///< of the server's that gave something

 private:
  static void use_certificate(::SSL_CTX* server) {
    const auto memory = [](const std::string& pem) {
      return owned(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &::BIO_free_all);
    };
    const auto leaf =
        owned(::PEM_read_bio_X509(memory(own().certificate_pem).get(), nullptr, nullptr, nullptr),
              &::X509_free);
    const auto key =
        owned(::PEM_read_bio_PrivateKey(memory(own().key_pem).get(), nullptr, nullptr, nullptr),
              &::EVP_PKEY_free);
    ::SSL_CTX_use_certificate(server, leaf.get());
    ::SSL_CTX_use_PrivateKey(server, key.get());
  }
  void hear(std::size_t most = std::size_t{1} << 30U) {
    std::vector<char> piece(std::size_t{128} << 10U);
    while (most > 0) {
      const auto n = ::read(ends_[1], piece.data(), std::min(piece.size(), most));
      if (n <= 0) return;
      ++reads;
      most -= static_cast<std::size_t>(n);
      ::BIO_write(::SSL_get_rbio(server_.get()), piece.data(), static_cast<int>(n));
    }
  }
  static void move(::SSL* from, ::SSL* to) {
    const std::string sealed = take(from);
    ::BIO_write(::SSL_get_rbio(to), sealed.data(), static_cast<int>(sealed.size()));
  }
  std::string take() { return take(server_.get()); }
  static std::string take(::SSL* from) {
    char* data = nullptr;
    ::BIO* const out = ::SSL_get_wbio(from);
    const long size = BIO_get_mem_data(out, &data);
    std::string sealed(data, size > 0 ? static_cast<std::size_t>(size) : 0);
    static_cast<void>(BIO_reset(out));
    return sealed;
  }

  std::array<int, 2> ends_{-1, -1};
  detail::record_memory memory_{};
  std::unique_ptr<::SSL, decltype(&::SSL_free)> server_{nullptr, &::SSL_free};
  std::unique_ptr<::SSL, decltype(&::SSL_free)> client_{nullptr, &::SSL_free};
  ::SSL* noted_{nullptr};
};

std::string text_of(std::size_t size) {
  std::string out(size, ' ');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>('a' + i * i % 23);
  return out;
}

}  // namespace

TEST_CASE("tls_stream: what is said arrives, by both versions of TLS", "[http]") {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    tls_pair pair(version);
    for (const std::size_t size : {std::size_t{1}, std::size_t{300}, std::size_t{40000}}) {
      const std::string text = text_of(size);
      const auto sent = pair.ours->send(as_bytes(text));
      CHECK(sent.status == status::ok);
      CHECK(sent.count == size);
      CHECK(pair.heard() == text);
      pair.say(pair.seal(text));
      CHECK(pair.receive() == text);
      CHECK(pair.last == status::again);
      CHECK(pair.ours->drained());
    }
  }
}

TEST_CASE("tls_stream: records of one send go out by one call", "[http]") {
  tls_pair pair(TLS1_3_VERSION, SOCK_SEQPACKET);
  const std::string text = text_of(4 * 16384);
  pair.reads = 0;
  CHECK(pair.ours->send(as_bytes(text)).count == text.size());
  CHECK((pair.heard() == text));
  CHECK(pair.reads == 1);
}

TEST_CASE("tls_stream: a socket that takes a part of the records gets the rest later", "[http]") {
  tls_pair pair;
  const std::string text = text_of(std::size_t{3} << 20U);
  std::string heard;
  std::size_t told = 0;
  bool was_full = false;
  bool told_a_part = false;
  while (told < text.size()) {
    const auto sent = pair.ours->send(as_bytes(text).subspan(told));
    REQUIRE(sent.status != status::failed);
    was_full = was_full || sent.status == status::again;
    told_a_part = told_a_part || sent.count % detail::record_memory::content != 0;
    if (sent.status == status::ok) told += sent.count;
    // Never ahead of what the peer can have, but for the record that is on its way.
    if (sent.status == status::again) heard += pair.heard(7001);
    CHECK(told <= text.size());
  }
  heard += pair.heard();
  CHECK(was_full);
  CHECK(told_a_part);
  CHECK((heard == text));
}

TEST_CASE("tls_stream: records arrive whatever they are cut into", "[http]") {
  tls_pair pair;
  for (const std::size_t size : {std::size_t{40}, std::size_t{16384}, std::size_t{16390}}) {
    const std::string first = text_of(size);
    const std::string whole = pair.seal(first, "second");
    const std::size_t step = size > 100 ? 1021 : 1;
    bool alive = true;
    for (std::size_t cut = 1; alive && cut < whole.size(); cut += step) {
      // Each turn takes records of its own: their numbers count.
      const std::string sealed = cut == 1 ? whole : pair.seal(first, "second");
      pair.say(std::string_view(sealed).substr(0, cut));
      std::string came = pair.receive();
      CHECK(pair.last == status::again);
      pair.say(std::string_view(sealed).substr(cut));
      came += pair.receive();
      alive = came == first + "second" && pair.ours->drained();
      CHECK(alive);
    }
  }
}

TEST_CASE("tls_stream: it is not drained while a record waits in it, or a piece of one", "[http]") {
  tls_pair pair;
  const std::string both = pair.seal("one", "two");
  std::array<std::byte, 3> room{};
  pair.say(both);
  CHECK(pair.ours->receive(room).count == 3);
  CHECK(!pair.ours->drained());
  CHECK(pair.ours->receive(room).count == 3);
  CHECK(pair.ours->drained());
  const std::string more = pair.seal("one", "two");
  pair.say(more.substr(0, more.size() - 1));
  CHECK(pair.ours->receive(room).count == 3);
  CHECK(!pair.ours->drained());
  // A record that is longer than the memory.
  pair.say(more.substr(more.size() - 1));
  pair.say(pair.seal("three"));
  CHECK(pair.receive() == "twothree");
  pair.say(pair.seal("three"));
  CHECK(pair.ours->receive(room).count == 3);
  CHECK(!pair.ours->drained());
}

TEST_CASE("tls_stream: the end is told from a break and from what is no TLS", "[http]") {
  {
    tls_pair pair;
    pair.say(pair.seal_last("last"));
    CHECK(pair.receive() == "last");
    CHECK(pair.last == status::closed);
  }
  {
    tls_pair pair;
    pair.say(pair.seal("last"));
    pair.leave();
    pair.ours->stirred(true);
    CHECK(pair.receive() == "last");
    CHECK(pair.last == status::failed);
    CHECK(pair.ours->last_failure() == "the server ended the connection without a close of TLS");
  }
  {
    tls_pair pair;
    std::string broken = pair.seal("last");
    broken.back() = static_cast<char>(broken.back() ^ 1);
    pair.say(broken);
    CHECK(pair.receive().empty());
    CHECK(pair.last == status::failed);
    CHECK(pair.ours->last_failure().starts_with("TLS: "));
  }
}

TEST_CASE("tls_stream: new keys that the peer asks for go behind what is half sent", "[http]") {
  tls_pair pair;
  const std::string text = text_of(std::size_t{2} << 20U);
  std::string heard;
  std::size_t told = 0;
  bool asked = false;
  while (told < text.size()) {
    const auto sent = pair.ours->send(as_bytes(text).subspan(told));
    REQUIRE(sent.status != status::failed);
    if (sent.status == status::ok) told += sent.count;
    if (sent.status != status::again) continue;
    if (!std::exchange(asked, true)) {
      pair.ask_for_new_keys();
      pair.say(pair.seal("new"));
      CHECK(pair.receive() == "new");
    }
    heard += pair.heard(50000);
  }
  heard += pair.heard();
  CHECK(asked);
  CHECK((heard == text));
  CHECK(pair.ours->send(as_bytes("more")).count == 4);
  CHECK(pair.heard() == "more");
}

TEST_CASE("record_memory: what was given back is given out again", "[http]") {
  detail::record_memory memory;
  auto first = memory.take();
  const void* const where = first.get();
  memory.give(std::move(first));
  CHECK(memory.take().get() == where);
}

}  // namespace tls_stream_test
