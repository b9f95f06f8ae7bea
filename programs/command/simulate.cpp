#include <dataflux/list/manifest.hpp>
#include <dataflux/simulate/simulate_epoch.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "outcome.hpp"
#include "quantity_text.hpp"

namespace cli {

namespace simulated {

using dataflux::epoch_forecast;
using dataflux::epoch_model;
using dataflux::errc;
using dataflux::error;
using dataflux::objects_of_size;
using dataflux::result;

namespace {

error unclear(const char* option, const std::string& given, const char* wanted) {
  return {errc::invalid_argument, std::string(option) + " " + given + ": give " + wanted};
}

/// Quantities as texts become members of a model; the first that is no quantity is told.
class reader {
 public:
  void rate(const char* option, const std::string& text, double& to) {
    read(option, text, parse_rate(text), "a rate such as 200MB/s or 10Gbit/s", to);
  }
  void time(const char* option, const std::string& text, dataflux::duration& to) {
    double seconds = 0;
    read(option, text, parse_seconds(text), "a time with its unit, such as 20ms", seconds);
    constexpr double most = 1e9;
    if (seconds > 0) {
      to = std::chrono::duration_cast<dataflux::duration>(
          std::chrono::duration<double>(std::fmin(seconds, most)));
    }
  }
  void bytes(const char* option, const std::string& text, std::uint64_t& to) {
    double given = 0;
    read(option, text, parse_bytes(text), "a size such as 100KiB or 3MB", given);
    constexpr double most = 0x1p62;
    to = static_cast<std::uint64_t>(std::fmin(given, most));
  }
  std::optional<error> wrong{};

 private:
  void read(const char* option, const std::string& text, std::optional<double> value,
            const char* wanted, double& to) {
    if (text.empty()) return;
    if (value) {
      to = *value;
    } else if (!wrong) {
      wrong = unclear(option, text, wanted);
    }
  }
};

/// "10KiB:9,1MiB:1" of so many objects. What does not go around is of the last size.
result<std::vector<objects_of_size>> sizes_of(const std::string& text, std::uint64_t count) {
  constexpr const char* wanted = "a size such as 100KiB, or several: 10KiB:9,1MiB:1";
  std::vector<std::pair<std::uint64_t, double>> parts;
  double all = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const auto comma = rest.find(',');
    std::string_view each = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    double part = 1;
    if (const auto colon = each.find(':'); colon != std::string_view::npos) {
      const std::string_view number = each.substr(colon + 1);
      const auto read = std::from_chars(number.data(), number.data() + number.size(), part);
      const bool whole = read.ec == std::errc{} && read.ptr == number.data() + number.size();
      if (!whole || !(part > 0) || part > 1e9) return unclear("--size", text, wanted);
      each = each.substr(0, colon);
    }
    const auto bytes = parse_bytes(each);
    if (!bytes || *bytes > 0x1p62) return unclear("--size", text, wanted);
    parts.emplace_back(static_cast<std::uint64_t>(*bytes), part);
    all += part;
  }
  std::vector<objects_of_size> found;
  std::uint64_t left = count;
  for (const auto& [bytes, part] : parts) {
    const bool last = found.size() + 1 == parts.size();
    const double share = std::floor(static_cast<double>(count) * (part / all));
    const std::uint64_t these =
        last ? left : std::min(left, static_cast<std::uint64_t>(std::fmin(share, 0x1p63)));
    found.push_back({bytes, these});
    left -= these;
  }
  return found;
}

result<std::vector<objects_of_size>> objects_asked(const simulate_options& options) {
  if (options.manifest.empty()) {
    if (options.size.empty() || options.objects == 0) {
      return error(
          errc::invalid_argument,
          "which objects? --objects and --size, or --manifest (`dataflux manifest create`)");
    }
    return sizes_of(options.size, options.objects);
  }
  const auto saved = dataflux::manifest::open(options.manifest);
  if (!saved) return saved.error();
  const auto rows = saved->rows();
  if (!rows) return rows.error();
  return dataflux::objects_of(*rows);
}

result<epoch_model> model_of(const simulate_options& o) {
  epoch_model model;
  auto objects = objects_asked(o);
  if (!objects) return std::move(objects).error();
  model.objects = *std::move(objects);
  reader read;
  read.rate("--link", o.link, model.link);
  read.rate("--connection", o.connection, model.connection_rate);
  read.time("--rtt", o.round_trip, model.round_trip);
  read.bytes("--memory", o.memory, model.memory);
  read.time("--request-time", o.request_time, model.request_time);
  read.time("--decode", o.decode, model.decode);
  read.time("--step", o.step, model.step);
  if (read.wrong) return *std::move(read.wrong);
  model.epochs = o.epochs;
  model.listed = o.list;
  if (o.spread) model.spread = *o.spread > 0 ? *o.spread : -1;
  model.connecting_trips = o.connecting;
  model.processors = o.processors;
  model.workers = o.workers;
  model.concurrency = o.in_flight;
  model.byte_nanoseconds = o.byte_nanoseconds;
  model.decode_threads = o.decode_threads;
  model.order = o.as_ready ? dataflux::get_order::as_ready : dataflux::get_order::as_asked;
  model.batch = o.batch;
  model.seed = o.seed;
  model.prices.class_a = o.price_a.value_or(model.prices.class_a);
  model.prices.class_b = o.price_b.value_or(model.prices.class_b);
  model.prices.gib = o.price_gib.value_or(model.prices.gib);
  return model;
}

/// "1,234,567".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string percent(double share) {
  std::array<char, 32> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.1f %%", share * 100);
  return {text.data(), static_cast<std::size_t>(size)};
}

void line(const char* what, const std::string& value) {
  std::printf("%-18s %s\n", what, value.c_str());
}

void print_table(const epoch_forecast& told) {
  std::array<char, 64> price{};
  std::snprintf(price.data(), price.size(), "$%.*f", told.price < 1 ? 4 : 2, told.price);
  line("samples", grouped(told.samples) + ", " + bytes_text(static_cast<double>(told.bytes)));
  line("time", seconds_text(told.seconds));
  line("first batch", seconds_text(told.first_batch));
  std::array<char, 32> pace{};
  std::snprintf(pace.data(), pace.size(), "%.4g", told.samples_per_second);
  line("samples a second", pace.data());
  line("bytes a second", rate_text(told.bytes_per_second));
  line("share of the link", percent(told.link_share));
  line("of processors", percent(told.processors_share));
  line("training waits", percent(told.waited) + " of the time");
  line("requests", grouped(told.class_b) + " of class B (" + grouped(told.hedged) +
                       " of them asked again), " + grouped(told.class_a) + " of class A");
  line("price", price.data());
  line("memory for reads", bytes_text(static_cast<double>(told.peak_memory)) + " at most");
  std::array<char, 32> reads{};
  std::snprintf(reads.data(), reads.size(), "%.1f", told.in_flight);
  line("reads in flight", reads.data());
  const std::string bound(explain(told.bound));
  std::printf("\n%s\n", bound.c_str());
  if (told.simulated < 1) {
    std::printf("(%s of the samples were simulated; the rest is reckoned to go on so)\n",
                told.simulated < 0.001 ? "less than 0.1 %" : percent(told.simulated).c_str());
  }
}

void print_json(const epoch_forecast& told) {
  std::string out = "{";
  const auto add = [&](const char* name, const std::string& value) {
    out.append(out.size() > 1 ? ", \"" : "\"").append(name).append("\": ").append(value);
  };
  const auto number = [&](const char* name, double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.9g", value);
    add(name, text.data());
  };
  number("seconds", told.seconds);
  number("first_batch", told.first_batch);
  number("samples_per_second", told.samples_per_second);
  number("bytes_per_second", told.bytes_per_second);
  number("link_share", told.link_share);
  number("processors_share", told.processors_share);
  number("waited", told.waited);
  add("samples", std::to_string(told.samples));
  add("bytes", std::to_string(told.bytes));
  add("class_a", std::to_string(told.class_a));
  add("class_b", std::to_string(told.class_b));
  add("hedged", std::to_string(told.hedged));
  number("price", told.price);
  add("peak_memory", std::to_string(told.peak_memory));
  number("in_flight", told.in_flight);
  add("bound", '"' + std::string(to_string(told.bound)) + '"');
  number("simulated", told.simulated);
  std::printf("%s}\n", out.c_str());
}

exit_status report(const error& why) {
  outcome told(nullptr);
  told.failed(why);
  return told.status();
}

}  // namespace

}  // namespace simulated

exit_status run_simulate(const simulate_options& options, const std::stop_token& stop) {
  const auto model = simulated::model_of(options);
  if (!model) return simulated::report(model.error());
  const auto told = dataflux::simulate_epoch(*model, stop);
  if (!told) return simulated::report(told.error());
  if (options.json) {
    simulated::print_json(*told);
  } else {
    simulated::print_table(*told);
  }
  return exit_status::ok;
}

}  // namespace cli
