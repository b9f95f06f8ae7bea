#include <dataflux/auth/detail/token_flow.hpp>

#include <support/fault_cells.hpp>
#include <support/listener.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace gcs = dataflux::gcs;

namespace {

constexpr unsigned workers = 48;  // most of them wait most of the time

/// What makes a session's URL a secret.
std::string secret_of(const dataflux::resumable_session& session) {
  const std::string url = session.url();
  return url.substr(url.find("upload_id=") + 10);
}

/// Somebody whose tokens are to be had at once, each another one. IAM knows them.
class ready_credentials final : public dataflux::credentials {
 public:
  explicit ready_credentials(emulator::token_authority& from)
      : credentials({.kind = "ready"}), from_(from) {}
  std::unique_ptr<dataflux::detail::auth::token_flow> start() const override {
    return std::make_unique<flow>(from_.issue());
  }

 private:
  struct flow final : dataflux::detail::auth::token_flow {
    explicit flow(std::string token) : token_(std::move(token)) {}
    dataflux::detail::auth::flow_step resume(
        dataflux::detail::auth::flow_event,
        const dataflux::detail::auth::flow_moment& moment) override {
      return dataflux::access_token{token_, moment.now + std::chrono::hours(1)};
    }
    std::string token_;
  };
  emulator::token_authority& from_;
};

/// An emulator and what goes on there, for one thread.
class worker {
 public:
  worker()
      : helper_(gcs::client::create(quick_options(server_, std::chrono::seconds(30))).value()) {}

  cell_outcome run(const fault_cell& cell) {
    dataflux::test::listener watcher;
    auto options = quick_options(server_, cell.timeout);
    options.retry.max_elapsed = cell.max_elapsed;
    options.observer = &watcher;
    options.credentials = std::make_shared<const ready_credentials>(server_.tokens());
    options.tokens_to_emulator = true;
    // A client of its own, lest a connection that one fault has spoilt surprise the next.
    const auto subject = gcs::client::create(options).value();
    server_.faults().clear();
    stage s =
        set_stage(server_, *helper_, *subject, *cell.verb, "cell-" + std::to_string(++count_));
    const auto requests = seen(*cell.verb);
    const auto looks = seen_looks(*cell.verb);
    const auto open = static_cast<std::int64_t>(s.open_uploads());
    server_.faults().add({.verb = std::string(cell.verb->on_wire),
                          .count = cell.hits,
                          .request_bytes = cell.request_bytes,
                          .action = cell.action});
    cell_outcome out{.verb = cell.verb->run(s)};
    out.hits = server_.faults().hits();
    out.requests = seen(*cell.verb) - requests;
    out.looks = seen_looks(*cell.verb) - looks;
    out.state = s.state();
    out.writes = s.writes();
    out.opened = static_cast<std::int64_t>(s.open_uploads()) - open;
    out.told = watcher.text();
    if (s.session.valid()) out.session_id = secret_of(s.session);
    return out;
  }

 private:
  std::uint64_t seen(const verb_driver& verb) const {
    const auto counters = server_.counters();
    const bool asks = verb.verb == "resumable.chunk";
    return counters.of(verb.on_wire) + (asks ? counters.of("resumable.status") : 0);
  }
  std::uint64_t seen_looks(const verb_driver& verb) const {
    return verb.on_wire == "objects.get" ? 0 : server_.counters().of("objects.get");
  }

  emulator::server server_{{.service = {.log_limit = 0}}};
  std::shared_ptr<gcs::client> helper_;
  int count_{0};
};

}  // namespace

std::string describe(const verb_outcome& outcome) {
  if (outcome.failure) return outcome.failure->to_string();
  return outcome.wrong.empty() ? "ok" : "a wrong value: " + outcome.wrong;
}

std::string run_cells(
    const std::vector<fault_cell>& cells,
    const std::function<std::string(const fault_cell&, const cell_outcome&)>& verify) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::vector<const fault_cell*> again;
  const auto objection_to = [&verify](worker& in, const fault_cell& cell) -> std::string {
    try {
      const cell_outcome outcome = in.run(cell);
      const std::string objection = verify(cell, outcome);
      return objection.empty() ? "" : objection + " (" + describe(outcome.verb) + ")";
    } catch (const std::exception& e) {
      return e.what();
    }
  };
  const auto work = [&] {
    worker mine;
    for (std::size_t i = next++; i < cells.size(); i = next++) {
      if (objection_to(mine, cells[i]).empty()) continue;
      const std::scoped_lock lock(mutex);
      again.push_back(&cells[i]);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < workers; ++i) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  // On a busy machine time limits pass that the fault has nothing to do with.
  std::string objections;
  for (const fault_cell* cell : again) {
    worker alone;
    const std::string objection = objection_to(alone, *cell);
    if (objection.empty()) continue;
    objections += cell->verb->name() + " / " + cell->fault + ": " + objection + "\n";
  }
  return objections;
}
