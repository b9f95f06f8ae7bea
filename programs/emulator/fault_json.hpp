#pragma once

#include <emulator/faults.hpp>
#include <emulator/json_value.hpp>
#include <emulator/json_writer.hpp>

#include <string_view>

namespace emulator {

/// A rule as the control endpoint takes it:
///
///     {"verb": "objects.media", "bucket": "*", "object": "data/*", "part": 0, "from": 1, "count":
///     1,
///      "probability": 1, "seed": 1, "requestBytes": 0, "action": "send", ...}
///
/// All but "action" may be left out; the meanings are those of fault_rule. The actions and their
/// further members, with defaults:
///
///     send          status 503, body "", contentType "text/plain", headers {}
///     refuse        status 503
///     cut           where "before_reply" | "in_head" | "in_body", bodyBytes 0, reset true
///     stall         where, bodyBytes 0, ms 0 (until the peer leaves)
///     drip          bytes 1, ms 10
///     flip_byte     offset 0
///     wrong_hash
///     lose_reply    reset true
///     delay         ms 0
///     short_page    results 0
///     keep_less     bytes 0
///     execute_twice
///     expire_tokens
///
/// Throws service_error 400 that names the member at fault; unknown members are refused.
fault_rule read_fault(const json_value& document);

/// The name of the action, as above.
std::string_view name_of(const fault::action& action);

}  // namespace emulator
