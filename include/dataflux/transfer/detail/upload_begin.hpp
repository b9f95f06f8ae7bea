#pragma once

#include <dataflux/transfer/detail/page_walk.hpp>
#include <dataflux/transfer/detail/upload_action.hpp>

#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Begins a multipart upload, and again after failures that may pass. Pure: it says what
/// to do next, as token_flow does, and is told how that came out.
///
/// The store repeats no begin, since a request whose reply is lost may have begun an upload, which
/// would stay open and be billed (protocol.md 2). So what has begun meanwhile is listed and
/// aborted first: with `own_name` every upload of that object; else one that is the only candidate,
/// is not older than the first try and has no part yet, because others may be somebody's at work.
///
///     begin -lost-> service_time -> find_uploads -> find_parts -> abort_lost -> wait -> begin
///                   (not with own_name)             (the same)    (of each)
///
/// A listing or an abort that fails ends it, and left() says so; with `own_name` it goes on beside
/// what may be left open, since not every server lists uploads. The caller's stop does not:
/// without its id nobody could abort what was begun. Each request has a limit of its own. Errors:
/// those of the first failure.
class upload_begin {
 public:
  /// What to do next; the upload or an error is the end.
  using step = one_of<upload_call, upload_wait, result<multipart_upload>>;

  upload_begin(multipart_initiate_request request, bool own_name, time_point now);

  /// Begins, and goes on after a wait.
  step start();
  /// How the call came out that the last step asked for.
  step answered(upload_answer answer, time_point now);
  /// An upload may have begun and stays.
  bool left() const noexcept { return left_; }

 private:
  step call(upload_step what, upload_verb request);
  step begun(result<multipart_upload> made);
  step find_uploads(std::optional<timestamp> earliest);
  step found(const result<upload_page>& page);
  step abort_next();
  step begin_beside();
  step leave();

  multipart_initiate_request request_;
  const bool own_name_;
  const time_point began_;
  int tries_{0};
  upload_step asked_{upload_step::begin};
  std::optional<timestamp> earliest_{};
  std::optional<upload_walk> walk_{};
  std::vector<std::string> lost_{};  ///< ids of what is to be aborted
  std::optional<error> failure_{};
  bool left_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/upload_begin.ipp>
#endif
