#include <dataflux/exec/detail/blocking_worker.hpp>

#include <support/catch.hpp>
#include <support/flag.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <thread>
#include <vector>

namespace blocking_worker_test {

TEST_CASE("blocking_worker: one other thread, tasks in order, one at a time", "[exec]") {
  std::vector<int> order;
  std::thread::id first{};
  std::thread::id last{};
  flag done;
  REQUIRE(dataflux::detail::run_blocking([&] { first = std::this_thread::get_id(); }));
  for (int i = 0; i < 100; ++i) {
    REQUIRE(dataflux::detail::run_blocking([&, i] { order.push_back(i); }));
  }
  REQUIRE(dataflux::detail::run_blocking([&] {
    last = std::this_thread::get_id();
    done.raise();
  }));
  done.wait();
  CHECK(first == last);
  CHECK(first != std::this_thread::get_id());
  REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("blocking_worker: a task may ask for another one", "[exec]") {
  flag done;
  REQUIRE(dataflux::detail::run_blocking(
      [&] { static_cast<void>(dataflux::detail::run_blocking([&] { done.raise(); })); }));
  done.wait();
}

TEST_CASE("blocking_worker: a task that is short of memory ends itself alone", "[exec]") {
  flag done;
  REQUIRE(dataflux::detail::run_blocking([] { throw std::bad_alloc(); }));
  REQUIRE(dataflux::detail::run_blocking([&] { done.raise(); }));
  done.wait();
}

TEST_CASE("blocking_worker: the thread takes no signals", "[exec]") {
  bool blocked = false;
  flag done;
  REQUIRE(dataflux::detail::run_blocking([&] {
    sigset_t mask;
    blocked = ::pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0 &&
              ::sigismember(&mask, SIGTERM) == 1 && ::sigismember(&mask, SIGCHLD) == 1;
    done.raise();
  }));
  done.wait();
  CHECK(blocked);
}

TEST_CASE("blocking_worker: steps on files go on beside one that hangs", "[exec]") {
  flag go;
  std::vector<flag> hung(7);
  for (flag& each : hung) {
    REQUIRE(dataflux::detail::run_file_step([&] {
      go.wait();
      each.raise();
    }));
  }
  // One thread is left for all others, and credentials have theirs.
  std::vector<int> order;
  flag done;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(dataflux::detail::run_file_step([&, i] { order.push_back(i); }));
  }
  REQUIRE(dataflux::detail::run_file_step([&] { done.raise(); }));
  done.wait();
  flag other;
  REQUIRE(dataflux::detail::run_blocking([&] { other.raise(); }));
  other.wait();
  go.raise();
  for (flag& each : hung) each.wait();
  REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

#if !defined(__SANITIZE_THREAD__)  // it loses count of threads that a forked child makes
TEST_CASE("blocking_worker: a forked child has a thread of its own", "[exec][fork]") {
  flag done;
  REQUIRE(dataflux::detail::run_blocking([&] { done.raise(); }));
  done.wait();
  // The parent's thread holds a task while the child is made.
  flag begun;
  flag go;
  flag gone;
  REQUIRE(dataflux::detail::run_blocking([&] {
    begun.raise();
    go.wait();
    gone.raise();
  }));
  begun.wait();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<void>(dataflux::detail::run_blocking([&] {
      const char byte = 'x';
      ::_exit(::write(ends[1], &byte, 1) == 1 ? 0 : 2);
    }));
    ::alarm(20);
    for (;;) ::pause();
  }
  go.raise();
  gone.wait();
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 1);
  CHECK(byte == 'x');
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  ::close(ends[0]);
  ::close(ends[1]);
}
#endif

}  // namespace blocking_worker_test
