#include <dataflux/http/detail/socket_end.hpp>

#include <support/catch.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace socket_end_test {

// What is known of a socket without asking it.
namespace {

using dataflux::detail::http::socket_end;
using status = socket_end::status;

class socket_pair {
 public:
  socket_pair() {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) == 0);
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  socket_pair(const socket_pair&) = delete;
  socket_pair& operator=(const socket_pair&) = delete;
  ~socket_pair() {
    leave();
    ::close(ends_[0]);
  }
  int ours() const { return ends_[0]; }
  void say(std::string_view text) {
    REQUIRE(::write(ends_[1], text.data(), text.size()) == static_cast<::ssize_t>(text.size()));
  }
  void leave() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace

TEST_CASE("socket_end: a receive that does not fill its memory is the last before an event",
          "[http]") {
  socket_pair pair;
  socket_end end(pair.ours());
  std::array<std::byte, 8> memory{};
  pair.say("abc");
  const auto got = end.receive(memory);
  CHECK(got.status == status::ok);
  CHECK(got.count == 3);
  CHECK(end.drained());
  pair.say("d");
  CHECK(end.receive(memory).status == status::again);
  end.stirred(false);
  CHECK(!end.drained());
  CHECK(end.receive(memory).count == 1);
  end.stirred(false);
  CHECK(end.receive(memory).status == status::again);
  CHECK(end.drained());
}

TEST_CASE("socket_end: a receive that fills its memory says nothing of what follows", "[http]") {
  socket_pair pair;
  socket_end end(pair.ours());
  std::array<std::byte, 3> memory{};
  pair.say("abcd");
  CHECK(end.receive(memory).count == 3);
  CHECK(!end.drained());
  CHECK(end.receive(memory).count == 1);
  CHECK(end.drained());
}

TEST_CASE("socket_end: the last receive looks a byte further", "[http]") {
  for (const std::string_view said : {"ab", "abc", "abcd", "abcde"}) {
    socket_pair pair;
    socket_end end(pair.ours());
    std::array<std::byte, 3> memory{};
    pair.say(said);
    const auto got = end.receive(memory, true);
    CHECK(got.status == status::ok);
    CHECK(got.count == std::min<std::size_t>(said.size(), 3));
    CHECK(got.surplus == (said.size() > 3));
    CHECK(end.drained() == (said.size() <= 3));
  }
}

TEST_CASE("socket_end: an end that an event told of is received behind what came before it",
          "[http]") {
  socket_pair pair;
  socket_end end(pair.ours());
  std::array<std::byte, 8> memory{};
  pair.say("abc");
  pair.leave();
  end.stirred(true);
  CHECK(end.receive(memory).count == 3);
  CHECK(!end.drained());
  CHECK(end.receive(memory).status == status::closed);
  CHECK(end.receive(memory).status == status::closed);
}

TEST_CASE("socket_end: a full socket takes a part, then nothing", "[http]") {
  socket_pair pair;
  socket_end end(pair.ours());
  const std::vector<std::byte> much(std::size_t{4} << 20U);
  const auto part = end.send(much);
  CHECK(part.status == status::ok);
  CHECK(part.count < much.size());
  CHECK(end.send(much).status == status::again);
  pair.leave();
  CHECK(end.send(much).status == status::failed);
  CHECK(end.failure() != 0);
}

}  // namespace socket_end_test
