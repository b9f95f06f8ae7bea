#include <dataflux/exec/interrupt_source.hpp>

#include <support/catch.hpp>
#include <support/run_child.hpp>
#include <support/sanitized.hpp>

#include <atomic>
#include <csignal>
#include <stop_token>
#include <utility>

namespace interrupt_source_test {
namespace {

using dataflux::interrupt_source;

/// Until the token is stopped; the alarm of run_child ends it otherwise.
void wait_for_stop(const std::stop_token& token) {
  std::atomic<bool> stopped{false};
  const std::stop_callback tell(token, [&] {
    stopped = true;
    stopped.notify_all();
  });
  stopped.wait(false);
}

/// As run_child, without what the test's own framework does with signals.
template <class Child>
int run_plain_child(Child child) {
  return run_child([&] {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
    return child();
  });
}

}  // namespace

TEST_CASE("interrupt_source: the first signal is a request, the second the end (mend 16)",
          "[exec]") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    CHECK(run_plain_child([&] {
            auto source = interrupt_source::create().value();
            if (source.token().stop_requested() || source.signal() != 0) return 1;
            auto moved = std::move(source);
            ::raise(number);
            wait_for_stop(moved.token());
            return moved.signal() == number ? 0 : 2;
          }) == 0);
  }
  CHECK(run_plain_child([] {
          const auto source = interrupt_source::create().value();
          ::raise(SIGTERM);
          wait_for_stop(source.token());
          ::raise(SIGINT);
          return 1;
        }) == 100 + SIGINT);
}

TEST_CASE("interrupt_source: one in a process, signals as before when it is gone (mend 16)",
          "[exec]") {
  CHECK(run_plain_child([] {
          {
            const auto source = interrupt_source::create().value();
            const auto second = interrupt_source::create();
            if (second || second.error().code() != dataflux::errc::failed_precondition) return 1;
          }
          auto again = interrupt_source::create();
          if (!again) return 2;
          again = dataflux::error(dataflux::errc::unknown, "let go");
          ::raise(SIGTERM);
          return 3;
        }) == 100 + SIGTERM);
}

TEST_CASE("interrupt_source: what was ignored stays so (mend 16)", "[exec]") {
  CHECK(run_plain_child([] {
          std::signal(SIGHUP, SIG_IGN);
          const auto source = interrupt_source::create().value();
          ::raise(SIGHUP);
          if (source.signal() != 0) return 1;
          ::raise(SIGINT);
          wait_for_stop(source.token());
          return source.signal() == SIGINT ? 0 : 2;
        }) == 0);
}

TEST_CASE("interrupt_source: in the child of a fork signals are as before (mend 16)", "[exec]") {
  // ThreadSanitizer puts handlers off there, and lets no thread begin.
  if (sanitized) return;
  CHECK(run_plain_child([] {
          const auto source = interrupt_source::create().value();
          const int killed = run_child([] {
            ::raise(SIGINT);
            return 1;
          });
          if (killed != 100 + SIGINT) return 2;
          const int handled = run_child([] {
            const auto own = interrupt_source::create().value();
            ::raise(SIGINT);
            wait_for_stop(own.token());
            return own.signal() == SIGINT ? 0 : 1;
          });
          if (handled != 0) return 3;
          return source.token().stop_requested() ? 4 : 0;
        }) == 0);
}

}  // namespace interrupt_source_test
