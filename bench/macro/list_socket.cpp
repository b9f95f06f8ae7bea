// One listing of a bucket whose names are computed, over a socket, with a service that takes its
// time (list_server.hpp), in a process and on a core of its own.
//
//   bench_list_socket MODE SHAPE NAMES SLOTS MILLISECONDS [RATE]
//
// MODE: fast        fast_list()
//       small       fast_list() with pages of 250 names
//       ordered     fast_lister in the order of names, each page dropped
//       slow        the same with a memory cap of 8 MiB; the reader sleeps a second after a page
//       sequential  page after page into columns
//       floor       page after page, decoded and dropped (page_floor.hpp)
//       serve       nothing: prints the port and serves until its standard input ends
// RATE: calls a second that the service accepts. Prints one JSON line about the client.
// tests/support/name_shapes.hpp says what the shapes are.

#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>

#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <support/name_shapes.hpp>

#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "list_server.hpp"
#include "measure.hpp"
#include "page_floor.hpp"

namespace {

using bench::fail;
using bench::number;

constexpr std::uint64_t slow_cap = std::uint64_t{8} << 20;

/// On its own core, and before whatever else would run there if the system allows it: wall time
/// counts here, and a reply that waits for another program's turn takes milliseconds.
void take_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  sched_setaffinity(0, sizeof set, &set);
  const sched_param first{.sched_priority = 1};
  static_cast<void>(sched_setscheduler(0, SCHED_FIFO, &first));
}

/// Bytes of the process in memory now. The listing's peak is taken above it.
std::uint64_t resident() {
  std::uint64_t size = 0;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> size >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double cpu_of(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

std::string member(std::string_view key, std::uint64_t value) {
  return std::string(", \"").append(key).append("\": ").append(std::to_string(value));
}

std::shared_ptr<dataflux::gcs::client> connect(std::uint16_t port) {
  dataflux::gcs::client_options o;
  o.endpoint = "http://127.0.0.1:" + std::to_string(port);
  o.emulator = true;
  return dataflux::gcs::client::create(std::move(o)).value();
}

bench::tally list_fast(dataflux::gcs::client& client, std::uint32_t slots, std::uint32_t page_size,
                       std::string& more) {
  auto all =
      dataflux::fast_list(client, {.bucket = "bench", .parallelism = slots, .page_size = page_size})
          .value();
  std::size_t names = 0;
  for (std::size_t i = 0; i < all.objects.chunk_count(); ++i) {
    names += all.objects.chunk(i).names.size();
  }
  more = member("kept_bytes", all.objects.memory_bytes()) + member("name_bytes", names) +
         member("probes", all.summary.probes) + member("ranges", all.summary.ranges);
  return {all.summary.calls, 0, all.objects.size(), -1};
}

/// As a stream in the order of names, of which nothing is kept. A slow reader takes the first page
/// and then waits until the listing has come to rest.
bench::tally list_in_order(dataflux::gcs::client& client, std::uint32_t slots, bool slow,
                           std::string& more) {
  dataflux::fast_lister lister(client, {.bucket = "bench",
                                        .parallelism = slots,
                                        .memory_cap = slow ? slow_cap : 0,
                                        .order = dataflux::list_order::by_name});
  bench::tally done;
  std::uint64_t names = 0;
  for (auto page = lister.next_page(); page.value(); page = lister.next_page()) {
    const bool first = done.items == 0;
    done.items += (*page)->objects.size();
    for (std::size_t i = 0; i < (*page)->objects.chunk_count(); ++i) {
      names += (*page)->objects.chunk(i).names.size();
    }
    if (slow && first) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      more += member("held_rss", resident());
    }
  }
  done.requests = lister.summary().calls;
  more += member("name_bytes", names);
  return done;
}

bench::tally list_pages(dataflux::gcs::client& client) {
  dataflux::object_columns all;
  bench::tally done;
  dataflux::list_page_request request{.bucket = "bench"};
  do {
    auto page = client.list_page(request).value();
    ++done.requests;
    request.page_token = std::move(page.next_page_token);
    all.append(std::move(page.objects));
  } while (!request.page_token.empty());
  done.items = all.size();
  return done;
}

/// What the bytes cost to receive and decode, and nothing else.
bench::tally decode_pages(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("cannot connect");
  }
  bench::page_floor floor;
  bench::tally done;
  std::string token;
  std::string memory(std::size_t{1} << 20, '\0');
  do {
    std::string ask = "GET /storage/v1/b/bench/o?maxResults=1000";
    if (!token.empty()) ask.append("&pageToken=").append(token);
    ask += " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if (send(fd, ask.data(), ask.size(), MSG_NOSIGNAL) < 0) fail("cannot send");
    std::size_t have = 0;
    std::size_t want = 1;
    std::size_t body = 0;
    while (have < want) {
      const ssize_t got = recv(fd, memory.data() + have, memory.size() - have, 0);
      if (got <= 0) fail("the server is gone");
      have += static_cast<std::size_t>(got);
      const std::size_t end = std::string_view(memory).substr(0, have).find("\r\n\r\n");
      if (body == 0 && end != std::string_view::npos) {
        body = end + 4;
        want = body + number(std::string_view(memory).substr(memory.find("Length: ") + 8), 0);
      }
      if (body == 0) want = have + 1;
    }
    token = floor.decode(std::string_view(memory).substr(body, want - body));
    done.items += floor.size();
    ++done.requests;
  } while (!token.empty());
  close(fd);
  return done;
}

int listen_on_loopback(std::uint16_t& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(fd, 256) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    fail("cannot listen");
  }
  port = ntohs(address.sin_port);
  return fd;
}

/// The server in a process of its own; the shape's memory is not the client's.
pid_t serve(int listener, char shape, std::uint64_t names, bench::list_service service,
            bench::list_counts& counts) {
  const pid_t server = fork();
  if (server != 0) return server;
  prctl(PR_SET_NAME, "list_server");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  take_core(0);
  const auto made = make_shape(shape, names, 1);
  bench::list_server(listener, *made, service, counts).run();
}

void measure(std::string_view mode, std::uint16_t port, std::uint64_t names, std::uint32_t slots,
             pid_t server, const bench::list_counts& counts) {
  const auto client = connect(port);
  static_cast<void>(client->list_page({.bucket = "bench", .max_results = 1}));  // it is there
  const std::uint64_t accepted = counts.accepted;
  const std::uint64_t held = resident();
  const double served = cpu_of(server);
  std::string more;
  const bench::stopwatch watch;
  const bench::tally done = mode == "fast"         ? list_fast(*client, slots, 0, more)
                            : mode == "small"      ? list_fast(*client, slots, 250, more)
                            : mode == "ordered"    ? list_in_order(*client, slots, false, more)
                            : mode == "slow"       ? list_in_order(*client, slots, true, more)
                            : mode == "sequential" ? list_pages(*client)
                            : mode == "floor"      ? decode_pages(port)
                                                   : bench::tally{};
  if (done.items != names) fail("names are missing", std::to_string(done.items));
  more += member("base_rss", held) + member("accepted", counts.accepted - accepted) +
          member("rejected", counts.rejected);
  more.append(", \"server_cpu_s\": ").append(std::to_string(cpu_of(server) - served));
  watch.print(done, more);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) fail("usage: MODE SHAPE NAMES SLOTS MILLISECONDS [RATE]");
  const std::string_view mode = argv[1];
  const std::uint64_t names = number(argv[3], 0);
  const auto slots = static_cast<std::uint32_t>(number(argv[4], 0));
  const bench::list_service service{
      .wait = std::chrono::milliseconds(static_cast<std::int64_t>(number(argv[5], 0))),
      .rate = argc == 7 ? static_cast<double>(number(argv[6], 0)) : 0};
  void* shared = mmap(nullptr, sizeof(bench::list_counts), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fail("out of memory");
  auto& counts = *new (shared) bench::list_counts;
  std::uint16_t port = 0;
  const int listener = listen_on_loopback(port);
  const pid_t server = serve(listener, argv[2][0], names, service, counts);
  close(listener);
  take_core(1);
  if (mode == "serve") {
    std::printf("{\"port\": %u}\n", static_cast<unsigned>(port));
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
  } else {
    measure(mode, port, names, slots, server, counts);
  }
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
}
