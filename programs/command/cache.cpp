#include <dataflux/cache/cache_contents.hpp>

#include <cinttypes>
#include <cstdio>
#include <stop_token>
#include <string>

#include "commands.hpp"
#include "outcome.hpp"

namespace cli {

namespace cache_of_disk {

using dataflux::cache_contents;
using dataflux::cached_body;

namespace {

void print_body(const cached_body& body) {
  const std::string name(body.object);
  std::printf("%" PRIu64 " %" PRIu64 "-%" PRIu64 " %.*s %.*s/%s#%" PRId64 "%s\n", body.bytes,
              body.offset, body.offset + body.bytes - (body.bytes > 0 ? 1 : 0),
              static_cast<int>(body.service.size()), body.service.data(),
              static_cast<int>(body.bucket.size()), body.bucket.data(), name.c_str(),
              body.generation, body.damaged ? " damaged" : "");
}

void print_sum(const cache_contents& sum) {
  std::printf("%" PRIu64 " bodies, %" PRIu64 " bytes, in %" PRIu64 " segments of %" PRIu64
              " bytes\n",
              sum.bodies, sum.bytes, sum.segments, sum.disk_bytes);
}

exit_status report(const dataflux::error& why) {
  outcome told(nullptr);
  told.failed(file_error(why));
  return told.status();
}

exit_status clear(const std::string& folder) {
  const auto sum = dataflux::clear_cache(folder);
  if (!sum) return report(sum.error());
  std::printf("removed %" PRIu64 " segments of %" PRIu64 " bytes\n", sum->segments,
              sum->disk_bytes);
  return exit_status::ok;
}

exit_status list(const std::string& folder, const std::stop_token& stop) {
  const auto sum = dataflux::read_cache_contents(folder, false, [&](const cached_body& body) {
    print_body(body);
    return !stop.stop_requested();
  });
  if (!sum) return report(sum.error());
  print_sum(*sum);
  return exit_status::ok;
}

exit_status verify(const std::string& folder, const std::stop_token& stop) {
  const auto sum = dataflux::read_cache_contents(folder, true, [&](const cached_body& body) {
    if (body.damaged) print_body(body);
    return !stop.stop_requested();
  });
  if (!sum) return report(sum.error());
  print_sum(*sum);
  if (sum->damaged == 0) return exit_status::ok;
  std::printf("%" PRIu64 " damaged; they are read from the service when they are wanted\n",
              sum->damaged);
  return exit_status::data_loss;
}

}  // namespace

}  // namespace cache_of_disk

exit_status run_cache(const cache_options& options, const std::stop_token& stop) {
  switch (options.action) {
    case cache_action::clear:
      return cache_of_disk::clear(options.folder);
    case cache_action::verify:
      return cache_of_disk::verify(options.folder, stop);
    case cache_action::list:
      break;
  }
  return cache_of_disk::list(options.folder, stop);
}

}  // namespace cli
