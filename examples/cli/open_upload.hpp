#pragma once

#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/unique_function.hpp>

#include <chrono>
#include <string>

#include "job.hpp"

/// The two ends of a multipart upload that make sure that none is left open: nobody would know of
/// it, and it is billed until somebody aborts it (protocol.md 2).
namespace cli {

/// For beginning and aborting an upload, which an interrupt does not cut off: without the id of
/// what was begun nobody could abort it.
inline dataflux::call_limits to_the_end() { return {.timeout = std::chrono::seconds(30)}; }

/// Begins an upload, and again after failures that may pass. The client repeats none of them, since
/// a request whose reply is lost may have begun one. So that is looked up before the next try: an
/// upload of this very name that began at `now` or later, is the only one of them and has no part
/// yet is taken for the lost one and aborted. With more of them nothing is aborted, since they may
/// be somebody's at work: the whole fails, and says what to look at.
void begin_upload(job& from, dataflux::multipart_initiate_request request, dataflux::timestamp now,
                  dataflux::object_store::completion<dataflux::multipart_upload> done);

/// The time of begin_upload(), by this machine's clock.
dataflux::timestamp system_now();

/// Aborts an upload, whose parts must have ended. One that stays is reported.
void abort_upload(job& from, const std::string& bucket, const std::string& object,
                  const std::string& upload_id, dataflux::unique_function<void()> done);

}  // namespace cli
