#pragma once

#include <dataflux/gcs/client.hpp>
#include <dataflux/gcs/detail/verbs.hpp>

#include <emulator/emulator.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Every verb of gcs::client, each ready to be run against the emulator on a stage of its own: what
/// the tests of faults have in common.

/// The first bytes of an endless sequence that `seed` names.
std::string pattern(std::size_t size, unsigned seed);

extern const std::string old_bytes;  ///< of the object that every stage begins with
extern const std::string new_bytes;  ///< of the object that a write makes
inline constexpr std::string_view stage_object = "folder/object \xc3\xa4.bin";

/// What is under stage_object's name.
enum class stage_state {
  old_object,
  patched,  ///< old_object, its metadata changed
  new_object,
  nothing,
  other,  ///< what should never be; so is a move that was done by half
};
std::string_view to_string(stage_state state) noexcept;

/// A bucket with an object, and what a verb needs to have been begun.
struct stage {
  emulator::server& server;
  dataflux::gcs::client& client;  ///< the one under test
  std::string bucket{};
  std::int64_t generation{0};  ///< of the object at the beginning
  std::string upload_id{};
  std::string mark{};
  dataflux::uploaded_part part{};
  dataflux::resumable_session session{};
  bool moves{false};
  bool last_writer_wins{false};

  stage_state state() const;
  /// How often the object was replaced or changed since the beginning.
  std::size_t writes() const;
  /// Uploads of both kinds that are neither finished nor cancelled, in the whole server.
  std::size_t open_uploads() const;
};

/// What a run gave.
struct verb_outcome {
  std::optional<dataflux::error> failure{};
  /// What is wrong with the value of a success; empty when it is right.
  std::string wrong{};
};

struct verb_driver {
  std::string_view verb{};     ///< its row in gcs::repeat_rules
  std::string_view on_wire{};  ///< the emulator's name of it
  /// Run with the precondition (or the generation) that repeat_rules asks for, or, where that asks
  /// for none, with one all the same.
  bool conditional{false};
  /// Run without one, and with last_writer_wins.
  bool last_writer{false};
  bool has_reply_body{true};                   ///< in a success
  stage_state after{stage_state::old_object};  ///< of its success
  std::function<verb_outcome(stage&)> run{};

  const dataflux::detail::gcs::repeat_rule& rule() const {
    return *dataflux::detail::gcs::find_repeat_rule(verb);
  }
  /// It is sent again: twice does no more than once, or it looks in between.
  bool safe() const;
  /// "objects.insert if", "objects.insert last"
  std::string name() const;
  /// How many requests it takes to stat what it has made, when its outcome is not known.
  int looks() const;
};

/// One to three of each verb: without a precondition, then with one where the verb knows any, and
/// with last_writer_wins where it has that.
const std::vector<verb_driver>& verb_drivers();

/// Makes the stage for a run of that verb by `subject`; `helper` is a client without faults.
stage set_stage(emulator::server& server, dataflux::gcs::client& helper,
                dataflux::gcs::client& subject, const verb_driver& verb, std::string bucket);

/// A client of that server which retries soon, and waits for no reply longer than `timeout`.
dataflux::gcs::client_options quick_options(const emulator::server& server,
                                            std::chrono::milliseconds timeout);
