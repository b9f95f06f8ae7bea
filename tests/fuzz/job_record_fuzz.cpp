#include <dataflux/bytes.hpp>
#include <dataflux/service/detail/job_record.hpp>
#include <dataflux/service/detail/job_share.hpp>

#include <fuzz/job_record_fuzz.hpp>
#include <fuzz/require.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace job_record_body {
namespace {

using namespace std::chrono_literals;
namespace service = dataflux::detail::service;

void check_all(std::string_view text) {
  const auto read = service::read_job_record(text);
  if (!read) return;
  require(read->budgets.size() <= service::most_job_budgets);
  const std::string written = service::write_job_record(*read);
  require(written.size() <= service::longest_job_record);
  const auto again = service::read_job_record(written);
  require(again.has_value());
  require(again->rank == read->rank && again->beat == read->beat);
  require(again->budgets.size() <= read->budgets.size());
  const dataflux::time_point now{1000s};
  service::job_share share({.rank = 1, .processes = 4}, now);
  share.saw(text, now);
  dataflux::pacing_snapshot lane{.bucket = "b", .kind = "read", .waiting = 1, .started = 10};
  for (int beat = 1; beat < 4; ++beat) {
    for (const auto& each : share.beat({&lane, 1}, now + beat * 1s)) {
      require(each.rate > 0 && each.rate <= 1e9);
    }
  }
}

}  // namespace
}  // namespace job_record_body

void fuzz_job_record(std::span<const std::byte> input) {
  job_record_body::check_all(dataflux::as_text(input));
}
