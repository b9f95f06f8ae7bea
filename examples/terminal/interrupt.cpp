#include "interrupt.hpp"

#include <pthread.h>
#include <unistd.h>

interrupt::interrupt() {
  ::sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    ::sigaction(number, nullptr, &current);
    if (current.sa_handler != SIG_IGN) ::sigaddset(&signals_, number);
  }
  ::sigaddset(&signals_, SIGUSR2);  // wakes the watcher when the program ends
  ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  watcher_ = std::jthread([this](const std::stop_token& end) { watch(end); });
}

interrupt::~interrupt() {
  watcher_.request_stop();
  ::pthread_kill(watcher_.native_handle(), SIGUSR2);
}

void interrupt::watch(const std::stop_token& end) {
  int number = 0;
  while (::sigwait(&signals_, &number) == 0 && !end.stop_requested()) {
    if (number == SIGUSR2) continue;
    if (stop_.stop_requested()) ::_exit(128 + number);
    status_ = 128 + number;
    stop_.request_stop();
  }
}
