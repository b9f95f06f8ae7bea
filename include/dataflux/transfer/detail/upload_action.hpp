#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/one_of.hpp>
#include <dataflux/error.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/bucket_requests.hpp>
#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/requests.hpp>
#include <dataflux/store/resumable.hpp>
#include <dataflux/transfer/detail/upload_share.hpp>
#include <dataflux/transfer/part_checksum.hpp>
#include <dataflux/transfer/upload_request.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// What an upload_machine and its driver, object_upload, say to each other: values.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// An upload in parts that the service has open.
struct begun_upload {
  multipart_upload upload{};
  std::string object{};  ///< the name that it is begun under
  commit_mode mode{commit_mode::staged};
};

/// What a request is for.
enum class upload_step : std::uint8_t {
  stat_target,  ///< what is there when the upload is opened
  // Where the bytes go.
  probe_remove,   ///< of a temporary object that does not exist: is that permitted?
  probe_move,     ///< the same
  ask_bucket,     ///< about retention, holds and versions
  begin,          ///< an upload in parts
  service_time,   ///< a begin was lost: what does the service's clock say?
  find_uploads,   ///< a begin was lost: what has begun?
  find_parts,     ///< a begin was lost: is what was found somebody's at work?
  abort_lost,     ///< a begin was lost: ends what it began
  start_session,  ///< a resumable upload
  // The bytes.
  part,
  chunk,
  insert,
  // The object.
  check_target,  ///< has another written it meanwhile?
  complete,
  compare_temporary,  ///< the reply lacked the checksum
  compare_target,     ///< the same
  move,
  copy,
  // Cleaning up.
  cancel_session,
  abort_upload,
  stat_temporary,    ///< its generation was lost with complete's reply
  remove_temporary,  ///< also after an upload that went well
  remove_bad,        ///< the object itself, which is not what was sent
};

using upload_verb =
    one_of<stat_request, remove_request, move_request, bucket_request, multipart_initiate_request,
           list_page_request, list_uploads_request, list_parts_request, multipart_abort_request,
           resumable_start_request, upload_part_request, resumable_chunk_request, insert_request,
           multipart_complete_request, rewrite_request, resumable_cancel_request>;

using upload_answer =
    one_of<result<void>, result<object_metadata>, result<bucket_metadata>, result<multipart_upload>,
           result<list_page>, result<upload_page>, result<part_page>, result<resumable_session>,
           result<uploaded_part>, result<resumable_progress>>;

// Actions. Those of the first group are answered, each once; the others are not.

/// Send this; its outcome is an upload_answered.
struct upload_call {
  upload_step step{upload_step::stat_target};
  upload_verb request;
  /// Whose bytes go with it; 0 = none.
  std::uint32_t piece{0};
  /// By what is left of the upload's own limits. Else the request says how long it may take.
  bool bounded{true};
};

/// Answer with an upload_waited after this time.
struct upload_wait {
  duration wait{};
};

/// Answer with an upload_recalled.
struct upload_recall {
  std::string folder{};
};

/// Nobody reads the bytes of this piece any more.
struct upload_release {
  std::uint32_t piece{0};
  std::uint64_t taken{0};  ///< of its bytes: by the service
};

/// For later uploads to this folder.
struct upload_remember {
  std::string folder{};
  upload_share::staging_lore lore{};
};

/// An upload in parts has begun.
struct upload_tell_begun {
  begun_upload begun{};
};

/// The service has this part.
struct upload_tell_part {
  uploaded_part part{};
};

/// A warning for the observer.
struct upload_log {
  std::string line{};
};

/// It has failed: stop what is under way, no more pieces are wanted.
struct upload_failed {
  error why;
};

/// Nothing is under way any more, and nothing will be.
struct upload_ended {
  bool committed{false};
};

/// The outcome of open().
struct upload_deliver_open {
  result<void> outcome{};
};

/// The outcome of finish().
struct upload_deliver_commit {
  result<committed_object> outcome;
};

/// The outcome of abort().
struct upload_deliver_abort {
  result<void> outcome{};
};

using upload_action =
    one_of<upload_call, upload_wait, upload_recall, upload_release, upload_remember,
           upload_tell_begun, upload_tell_part, upload_log, upload_failed, upload_ended,
           upload_deliver_open, upload_deliver_commit, upload_deliver_abort>;

// Events: what the caller does, and how actions came out.

/// The first one. The outcome of what needs no request: validation, a plan of parts, memory.
struct upload_opened {
  result<void> checked{};
};

/// Goes on with an earlier upload.
struct upload_resumed {
  begun_upload earlier{};
};

/// The next piece, which the service has already.
struct upload_had {
  uploaded_part part{};
};

/// The next piece.
struct upload_given {
  part_checksum piece{};
};

/// The bytes end, with this piece or without one.
struct upload_finished {
  std::optional<part_checksum> last{};
};

/// For a reason outside: the caller's, its stop, its deadline, memory.
struct upload_refused {
  error why;
};

/// No object is wanted; `timeout` is for each request that cleans up.
struct upload_aborted {
  duration timeout{};
};

struct upload_answered {
  upload_step step{upload_step::stat_target};
  std::uint32_t piece{0};  ///< the call's
  upload_answer answer;
};

struct upload_waited {};

struct upload_recalled {
  /// What is known about that folder.
  std::optional<upload_share::staging_lore> lore{};
  /// A name that nobody else has.
  std::string temporary{};
};

using upload_event =
    one_of<upload_opened, upload_resumed, upload_had, upload_given, upload_finished, upload_refused,
           upload_aborted, upload_answered, upload_waited, upload_recalled>;

}  // namespace dataflux::inline DATAFLUX_ABI::detail
