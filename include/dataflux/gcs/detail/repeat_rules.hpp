#pragma once

#include <dataflux/service/detail/repeat_rule.hpp>

#include <cstddef>
#include <string_view>

/// Which verb may be sent again after an attempt of unknown outcome, and how that outcome is found
/// out: the table of protocol.md 3.1 as data. The retry decision and the documentation read it.
namespace dataflux::inline DATAFLUX_ABI::gcs {

using service::last_writer_removes;
using service::last_writer_replaces;
using service::repeat_condition;
using service::repeat_meaning;
using service::repeat_rule;

/// One row for each verb of the client.
inline constexpr repeat_rule repeat_rules[] = {
    {"objects.list", repeat_condition::always},
    {"objects.get", repeat_condition::always},
    {"objects.media", repeat_condition::always},
    {"objects.insert", repeat_condition::generation_match, repeat_meaning::failed,
     repeat_meaning::compare, true, last_writer_replaces},
    {"objects.delete", repeat_condition::generation, repeat_meaning::done, repeat_meaning::failed,
     false, last_writer_removes},
    {"objects.compose", repeat_condition::generation_match, repeat_meaning::failed,
     repeat_meaning::compare, true, last_writer_replaces},
    // Its source is gone once it has succeeded.
    {"objects.move", repeat_condition::generation_match, repeat_meaning::compare,
     repeat_meaning::compare, true, last_writer_replaces},
    {"objects.patch", repeat_condition::metageneration_match, repeat_meaning::failed,
     repeat_meaning::compare, true, last_writer_replaces},
    // From its second request on, which carries a token, it may always be repeated.
    {"objects.rewrite", repeat_condition::generation_match, repeat_meaning::failed,
     repeat_meaning::compare, true, last_writer_replaces},
    // A second one would leave an upload behind that nobody knows and that is billed for ever.
    {"multipart.initiate", repeat_condition::never},
    {"multipart.part", repeat_condition::always},
    {"multipart.complete", repeat_condition::always, repeat_meaning::compare,
     repeat_meaning::failed, true},
    {"multipart.abort", repeat_condition::always, repeat_meaning::done},
    {"multipart.parts", repeat_condition::always},
    {"multipart.uploads", repeat_condition::always},
    {"resumable.start", repeat_condition::generation_match},
    // What is sent next is what the session says, never what was sent before.
    {"resumable.chunk", repeat_condition::always, repeat_meaning::compare, repeat_meaning::failed,
     true},
    {"resumable.status", repeat_condition::always},
    {"resumable.cancel", repeat_condition::always, repeat_meaning::done},
    {"buckets.get", repeat_condition::always},
    {"buckets.list", repeat_condition::always},
    {"buckets.storageLayout", repeat_condition::always},
    {"buckets.testIamPermissions", repeat_condition::always},
};

/// The row of a verb; null when there is none.
constexpr const repeat_rule* find_repeat_rule(std::string_view verb) noexcept {
  for (const repeat_rule& rule : repeat_rules) {
    if (rule.verb == verb) return &rule;
  }
  return nullptr;
}

/// A verb without a row does not compile.
template <class Verb>
inline constexpr repeat_rule repeat_rule_of = *find_repeat_rule(Verb::info.name);

/// The place of its row.
template <class Verb>
inline constexpr std::size_t verb_number =
    static_cast<std::size_t>(find_repeat_rule(Verb::info.name) - repeat_rules);

}  // namespace dataflux::inline DATAFLUX_ABI::gcs
