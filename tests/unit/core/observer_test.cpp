#include <dataflux/observer.hpp>

#include <support/catch.hpp>

namespace observer_test {

TEST_CASE("counters: each billing class has its own count", "[core]") {
  dataflux::counters totals;
  totals.count(dataflux::request_class::a);
  totals.count(dataflux::request_class::a);
  totals.count(dataflux::request_class::b);
  totals.count(dataflux::request_class::free);
  CHECK(totals.requests_a == 2);
  CHECK(totals.requests_b == 1);
  CHECK(totals.requests_free == 1);
}

TEST_CASE("observer: what is not overridden does nothing", "[core]") {
  struct only_log final : dataflux::observer {
    void on_log(dataflux::log_level, std::string_view) noexcept override { ++lines; }
    int lines{0};
  } seen;
  dataflux::observer& o = seen;
  o.on_request({});
  o.on_retry({});
  CHECK(seen.lines == 0);
  o.on_log(dataflux::log_level::info, "x");
  CHECK(seen.lines == 1);
}

}  // namespace observer_test
