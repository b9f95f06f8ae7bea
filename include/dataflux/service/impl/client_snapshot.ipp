#pragma once

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/service/client_snapshot.hpp>

#include <array>
#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

using named_latency = std::pair<std::string_view, const latency_histogram*>;

inline std::array<named_latency, 3> phases_of(const verb_latency& v) noexcept {
  return {named_latency{"queued", &v.queued}, {"first_byte", &v.first_byte}, {"body", &v.body}};
}

using named_number = std::pair<std::string_view, std::uint64_t>;

inline void add_numbers(codec::json_writer& to, std::initializer_list<named_number> numbers) {
  for (const auto& [name, number] : numbers) to.key(name).natural(number);
}

inline void add_time(codec::json_writer& to, duration time) {
  time == duration::max() ? to.null() : to.integer(time.count());
}

inline void add_latency(codec::json_writer& to, const latency_histogram& from) {
  to.begin_object();
  add_numbers(to, {{"count", from.count()}});
  add_time(to.key("sum_ns"), from.sum);
  add_time(to.key("p50_ns"), from.quantile(0.5));
  add_time(to.key("p90_ns"), from.quantile(0.9));
  add_time(to.key("p99_ns"), from.quantile(0.99));
  to.key("buckets").begin_array();
  for (std::size_t i = 0; i < from.counts.size(); ++i) {
    if (from.counts[i] == 0) continue;
    add_time(to.begin_array(), latency_histogram::limit_of(i));
    to.natural(from.counts[i]).end_array();
  }
  to.end_array().end_object();
}

inline void add_totals(codec::json_writer& to, const counters& totals) {
  to.begin_object();
  add_numbers(to, {{"requests_a", totals.requests_a},
                   {"requests_b", totals.requests_b},
                   {"requests_free", totals.requests_free},
                   {"retries", totals.retries},
                   {"paced", totals.paced},
                   {"bytes_sent", totals.bytes_sent},
                   {"bytes_received", totals.bytes_received},
                   {"failed", totals.failed}});
  to.end_object();
}

inline void add_memory(codec::json_writer& to, const memory_snapshot& m) {
  to.begin_object();
  add_numbers(to, {{"cap", m.cap},
                   {"held", m.held},
                   {"borrowed", m.borrowed},
                   {"upload_cap", m.upload_cap},
                   {"upload_held", m.upload_held}});
  to.end_object();
}

inline void add_cache(codec::json_writer& to, const cache_counters& c) {
  to.begin_object();
  add_numbers(to, {{"hits", c.hits},
                   {"hit_bytes", c.hit_bytes},
                   {"misses", c.misses},
                   {"kept", c.kept},
                   {"kept_bytes", c.kept_bytes},
                   {"refused", c.refused},
                   {"evicted", c.evicted},
                   {"evicted_bytes", c.evicted_bytes},
                   {"damaged", c.damaged},
                   {"errors", c.errors}});
  to.end_object();
}

/// Writes Prometheus' text format: a metric's HELP and TYPE, then its lines.
class metric_writer {
 public:
  using label = std::pair<std::string_view, std::string_view>;
  using labels = std::initializer_list<label>;

  /// `type`: "counter", "gauge" or "histogram".
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    add({"# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n"});
  }
  void value(labels which, double number) { line("", which, {}, number); }
  void value(labels which, std::uint64_t number) { line("", which, {}, number); }
  /// A bucket for each doubling: those between are added to it.
  void histogram(labels which, const latency_histogram& from) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < from.counts.size(); ++i) {
      below += from.counts[i];
      if (i % 4 == 0) {
        line("_bucket", which, shown(seconds_of(latency_histogram::limit_of(i))).view(), below);
      }
    }
    line("_bucket", which, "+Inf", below);
    line("_sum", which, {}, seconds_of(from.sum));
    line("_count", which, {}, below);
  }
  std::string take() && noexcept { return std::move(out_); }

 private:
  struct shown {
    template <class Number>
    explicit shown(Number number) noexcept {
      char* const begin = text_.data();
      size_ =
          static_cast<std::size_t>(std::to_chars(begin, begin + text_.size(), number).ptr - begin);
    }
    std::string_view view() const noexcept { return {text_.data(), size_}; }

    std::array<char, 32> text_{};
    std::size_t size_{0};
  };

  static double seconds_of(duration time) noexcept {
    return std::chrono::duration<double>(time).count();
  }
  void add(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) out_ += text;
  }
  void add_label(char before, const label& one) {
    out_ += before;
    add({one.first, "=\""});
    for (const char c : one.second) {
      if (c == '\\' || c == '"') out_ += '\\';
      c == '\n' ? out_ += "\\n" : out_ += c;
    }
    out_ += '"';
  }
  template <class Number>
  void line(std::string_view suffix, labels which, std::string_view limit, Number number) {
    add({name_, suffix});
    char before = '{';
    for (const label& one : which) add_label(std::exchange(before, ','), one);
    if (!limit.empty()) add_label(std::exchange(before, ','), {"le", limit});
    if (before == ',') out_ += '}';
    add({" ", shown(number).view(), "\n"});
  }

  std::string out_{};
  std::string_view name_{};
};

inline void add_totals(metric_writer& to, const counters& totals) {
  to.begin("dataflux_requests_total", "counter",
           "Requests that were answered, by the class they are billed as.");
  to.value({{"class", "a"}}, totals.requests_a.load());
  to.value({{"class", "b"}}, totals.requests_b.load());
  to.value({{"class", "free"}}, totals.requests_free.load());
  to.begin("dataflux_retries_total", "counter", "Attempts that followed a failure.");
  to.value({}, totals.retries.load());
  to.begin("dataflux_paced_total", "counter", "Requests that were refused for their rate.");
  to.value({}, totals.paced.load());
  to.begin("dataflux_failed_calls_total", "counter", "Calls that ended with an error.");
  to.value({}, totals.failed.load());
  to.begin("dataflux_body_bytes_total", "counter", "Bytes of bodies.");
  to.value({{"direction", "sent"}}, totals.bytes_sent.load());
  to.value({{"direction", "received"}}, totals.bytes_received.load());
}

inline void add_latencies(metric_writer& to, const client_snapshot& seen) {
  to.begin("dataflux_request_seconds", "histogram", "Time of attempts, by verb and phase.");
  for (const verb_latency& verb : seen.verbs) {
    for (const auto& [phase, latency] : phases_of(verb)) {
      to.histogram({{"verb", verb.verb}, {"phase", phase}}, *latency);
    }
  }
  to.begin("dataflux_connect_seconds", "histogram", "Time of connecting, TLS included.");
  to.histogram({}, seen.connections.connect);
}

inline void add_connections(metric_writer& to, const connection_snapshot& c) {
  to.begin("dataflux_connections", "gauge", "Connections, by what they do.");
  const std::size_t resting = c.idle + c.connecting;  // read one after the other
  to.value({{"state", "busy"}}, std::uint64_t{c.open - std::min(c.open, resting)});
  to.value({{"state", "idle"}}, std::uint64_t{c.idle});
  to.value({{"state", "connecting"}}, std::uint64_t{c.connecting});
  to.begin("dataflux_connection_waiters", "gauge", "Requests in line for a connection.");
  to.value({}, std::uint64_t{c.waiting});
}

inline void add_pacing(metric_writer& to, const std::vector<pacing_snapshot>& lanes) {
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help,
                        auto number) {
    to.begin(name, type, help);
    for (const pacing_snapshot& lane : lanes) {
      to.value({{"bucket", lane.bucket}, {"kind", lane.kind}}, number(lane));
    }
  };
  using lane = const pacing_snapshot&;
  each("dataflux_pacing_limited", "gauge", "1 while rate and concurrency hold.",
       [](lane l) { return std::uint64_t{l.limited ? 1U : 0U}; });
  each("dataflux_pacing_rate", "gauge", "Starts a second that are allowed; 0 = any.",
       [](lane l) { return l.rate; });
  each("dataflux_pacing_concurrency", "gauge", "Requests in flight that are allowed; 0 = any.",
       [](lane l) { return l.concurrency; });
  each("dataflux_pacing_in_flight", "gauge", "Requests in flight.",
       [](lane l) { return std::uint64_t{l.in_flight}; });
  each("dataflux_pacing_waiting", "gauge", "Calls in line for their turn.",
       [](lane l) { return std::uint64_t{l.waiting}; });
  each("dataflux_pacing_started_total", "counter", "Requests that were started.",
       [](lane l) { return l.started; });
  each("dataflux_pacing_rejected_total", "counter", "Of them, those refused for their rate.",
       [](lane l) { return l.rejected; });
}

inline void add_memory(metric_writer& to, const memory_snapshot& m) {
  to.begin("dataflux_memory_cap_bytes", "gauge", "Most memory of transfers.");
  to.value({{"use", "read"}}, m.cap);
  to.value({{"use", "upload"}}, m.upload_cap);
  to.begin("dataflux_memory_held_bytes", "gauge", "Memory that transfers hold under their cap.");
  to.value({{"use", "read"}}, m.held);
  to.value({{"use", "upload"}}, m.upload_held);
  to.begin("dataflux_memory_borrowed_bytes", "gauge", "Memory that readers have.");
  to.value({}, m.borrowed);
}

inline void add_cache(metric_writer& to, const cache_counters& c) {
  to.begin("dataflux_cache_reads_total", "counter", "Reads that a cache on a disk may answer.");
  to.value({{"result", "hit"}}, c.hits);
  to.value({{"result", "miss"}}, c.misses);
  to.begin("dataflux_cache_records_total", "counter", "What was read past it, and may be kept.");
  to.value({{"result", "kept"}}, c.kept);
  to.value({{"result", "refused"}}, c.refused);
  to.begin("dataflux_cache_body_bytes_total", "counter", "Bytes of bodies from and to the cache.");
  to.value({{"direction", "read"}}, c.hit_bytes);
  to.value({{"direction", "written"}}, c.kept_bytes);
  to.begin("dataflux_cache_evictions_total", "counter", "Segments that made room for others.");
  to.value({}, c.evicted);
  to.begin("dataflux_cache_evicted_bytes_total", "counter", "Bytes of these segments.");
  to.value({}, c.evicted_bytes);
  to.begin("dataflux_cache_damaged_total", "counter", "Records that were found to be damaged.");
  to.value({}, c.damaged);
  to.begin("dataflux_cache_errors_total", "counter", "Errors of the file system.");
  to.value({}, c.errors);
}

}  // namespace detail

DATAFLUX_INLINE std::string to_json(const client_snapshot& seen) {
  detail::codec::json_writer to;
  detail::add_totals(to.begin_object().key("totals"), seen.totals);
  to.key("verbs").begin_array();
  for (const verb_latency& verb : seen.verbs) {
    to.begin_object().key("verb").string(verb.verb);
    for (const auto& [phase, latency] : detail::phases_of(verb)) {
      detail::add_latency(to.key(phase), *latency);
    }
    to.end_object();
  }
  to.end_array().key("connections").begin_object();
  const connection_snapshot& c = seen.connections;
  detail::add_numbers(
      to,
      {{"open", c.open}, {"idle", c.idle}, {"connecting", c.connecting}, {"waiting", c.waiting}});
  detail::add_latency(to.key("connect"), c.connect);
  to.end_object().key("pacing").begin_array();
  for (const pacing_snapshot& lane : seen.pacing) {
    to.begin_object().key("bucket").string(lane.bucket).key("kind").string(lane.kind);
    to.key("limited").boolean(lane.limited).key("rate").number(lane.rate);
    to.key("concurrency").number(lane.concurrency);
    detail::add_numbers(to, {{"in_flight", lane.in_flight},
                             {"waiting", lane.waiting},
                             {"started", lane.started},
                             {"rejected", lane.rejected}});
    to.end_object();
  }
  to.end_array().key("memory");
  seen.memory ? detail::add_memory(to, *seen.memory) : void(to.null());
  to.key("cache");
  seen.cache ? detail::add_cache(to, *seen.cache) : void(to.null());
  return std::move(to.end_object()).take();
}

DATAFLUX_INLINE std::string detail::json_of(const cache_counters& seen) {
  detail::codec::json_writer to;
  detail::add_cache(to, seen);
  return std::move(to).take();
}

DATAFLUX_INLINE std::string to_prometheus(const client_snapshot& seen) {
  detail::metric_writer to;
  detail::add_totals(to, seen.totals);
  detail::add_latencies(to, seen);
  detail::add_connections(to, seen.connections);
  detail::add_pacing(to, seen.pacing);
  if (seen.memory) detail::add_memory(to, *seen.memory);
  if (seen.cache) detail::add_cache(to, *seen.cache);
  return std::move(to).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI
