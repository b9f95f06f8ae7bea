#pragma once

#include <dataflux/exec/operation.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>
#include <support/threaded_virtual_clock.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

/// A store on a virtual clock, and how operations on it are brought to their end: what the fixtures
/// of the layers stand on. Clock: a virtual_scheduler, or a threaded_virtual_clock where real
/// threads take part.
template <class Clock = dataflux::virtual_scheduler>
struct store_fixture {
  explicit store_fixture(dataflux::memory_store_options options = {})
      : store(clock, std::move(options)) {}
  store_fixture(const store_fixture&) = delete;
  store_fixture& operator=(const store_fixture&) = delete;

  /// Goes on until the operation has ended, and no further.
  template <class T>
  dataflux::result<T> end(dataflux::operation<T>& op) {
    while (!op.poll()) REQUIRE(step());
    return op.take();
  }
  template <class T>
  dataflux::result<T> end(dataflux::operation<T>&& op) {
    return end(op);
  }
  /// Goes on until nothing is left to do; the operation must have ended by then.
  template <class T>
  dataflux::result<T> finish(dataflux::operation<T> op) {
    clock.run();
    REQUIRE(op.poll());
    return op.take();
  }

  std::uint64_t count(dataflux::store_verb verb) const { return store.counters().of(verb); }
  std::uint64_t reads() const { return count(dataflux::store_verb::read); }
  /// The requests of a verb fail, from its `nth` on `times` of them. `lost`: they are carried out,
  /// and nobody hears of it.
  void fail(dataflux::store_verb verb, std::uint64_t nth, const dataflux::error& why,
            bool lost = false, std::uint64_t times = 1) {
    store.set_faults([=, hits = std::uint64_t{0}](dataflux::store_verb v, std::string_view,
                                                  std::uint64_t) mutable {
      std::optional<dataflux::injected_fault> fault;
      if (v != verb) return fault;
      ++hits;
      if (hits < nth || hits >= nth + times) return fault;
      fault.emplace();
      fault->failure = why;
      fault->reply_lost = lost;
      return fault;
    });
  }

  Clock clock{};
  dataflux::memory_store store;

 private:
  bool step() {
    if constexpr (requires { clock.step(); }) {
      return clock.step();
    } else {
      return clock.run_one();
    }
  }
};

/// With a transfer_context.
template <class Clock = dataflux::virtual_scheduler>
struct transfer_fixture : store_fixture<Clock> {
  explicit transfer_fixture(dataflux::memory_store_options link = {},
                            dataflux::transfer_options options = {})
      : store_fixture<Clock>(std::move(link)), context(this->store, options) {}

  dataflux::transfer_context context;
};

/// With a folder, on whose files real threads work.
struct folder_fixture : transfer_fixture<threaded_virtual_clock> {
  using transfer_fixture::transfer_fixture;

  /// The names in it, hidden ones included.
  std::set<std::string> names_in_folder() const {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      all.insert(entry.path().filename().string());
    }
    return all;
  }

  const temporary_folder scratch{};
  const std::filesystem::path& folder{scratch.path};
};
