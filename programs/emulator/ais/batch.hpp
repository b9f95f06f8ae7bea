#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>

namespace emulator::ais {

/// GetBatch: many objects, members of archives or ranges of them in one answer, in the order of the
/// request. As AIStore was seen to do, a stream that is not to go on past errors just ends early,
/// and so does one with more errors than it bears. Throws service_error when it refuses.
http_reply get_batch(const bucket_store& store, const call& asked, const http_request& request);

/// The bytes of a member of an archive, plain or gzipped by its name; empty optional without one.
std::optional<content> archived_member(const stored_object& archive, std::string_view name);

}  // namespace emulator::ais
