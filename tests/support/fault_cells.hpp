#pragma once

#include <support/verb_driver.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

/// One verb under one fault.
struct fault_cell {
  const verb_driver* verb{nullptr};
  std::string fault{};  ///< its name
  emulator::fault::action action{};
  std::uint64_t hits{1};  ///< attempts that it hits, from the first; 0: all
  /// As of emulator::fault_rule: acts when so much of the request's body has come.
  std::optional<std::uint64_t> request_bytes{};
  std::chrono::milliseconds timeout{120'000};      ///< of the client
  std::chrono::milliseconds max_elapsed{300'000};  ///< of the client's retries
};

/// What came of it, as the emulator saw it.
struct cell_outcome {
  verb_outcome verb{};
  std::uint64_t requests{0};  ///< of the verb, resumable.status for a chunk among them
  std::uint64_t looks{0};     ///< objects.get besides
  std::uint64_t hits{0};      ///< of the fault
  stage_state state{stage_state::other};
  std::size_t writes{0};
  std::int64_t opened{0};    ///< uploads now open, less those open before
  std::string told{};        ///< all that an observer was told
  std::string session_id{};  ///< the secret of the stage's session, empty when there is none
};

/// Runs all cells, several at a time, each with a client and a bucket of its own, and gives what
/// `verify` objects to: a line for each, named. `verify` gives nothing for what is right; it is
/// called by several threads.
std::string run_cells(
    const std::vector<fault_cell>& cells,
    const std::function<std::string(const fault_cell&, const cell_outcome&)>& verify);

/// "ok", or the error in one line.
std::string describe(const verb_outcome& outcome);
