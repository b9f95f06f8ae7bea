#pragma once

#include <support/fault_cells.hpp>

#include <string>
#include <string_view>
#include <vector>

/// What the client does about each kind of failure of each verb: computed here from the one table,
/// gcs::repeat_rules, held against the client by a test, and printed as docs/retries.md.

enum class failure_kind {
  throttled,  ///< 429: not carried out, whatever the verb
  refused,    ///< 408, 5xx
  reset,      ///< no reply, not carried out
  truncated,  ///< carried out, the reply breaks off in its body
  lost,       ///< carried out, no reply: the connection breaks, or nothing comes in time
};

struct failure_column {
  std::string_view name{};
  failure_kind kind{failure_kind::refused};
  int status{0};
  emulator::fault::action action{};
};
const std::vector<failure_column>& failure_columns();

struct expected_outcome {
  dataflux::errc code{dataflux::errc::ok};
  int attempts{0};  ///< 0: as many as the time allows
  int looks{0};
  bool carried_out{true};
  int left_open{0};  ///< uploads that nobody knows of
};

/// `lasting`: the failure hits every attempt, of which there may be `most` in a row; else it hits
/// the first.
expected_outcome expect(const verb_driver& verb, const failure_column& failure, bool lasting,
                        int most);

/// The cell that shows it.
fault_cell cell_of(const verb_driver& verb, const failure_column& failure, bool lasting);

/// The whole of docs/retries.md.
std::string retry_document();
