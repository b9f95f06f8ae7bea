#pragma once

#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>

#include <memory>
#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: begins a multipart upload, and again after failures that may pass. The store repeats
/// none of them, since a request whose reply is lost may have begun one, which would stay open and
/// be billed (protocol.md 2). So what has begun meanwhile is looked up and aborted first: with
/// `own_name` every upload of that object; else one that is the only candidate, is not older than
/// the first try and has no part yet, because others may be somebody's at work.
///
/// The caller's stop does not end it, for without its id nobody could abort what was begun; each
/// request has its own limit. Errors: those of the first failure. `*left` is set when an upload may
/// have begun and stays.
class upload_begin final : public std::enable_shared_from_this<upload_begin> {
 public:
  using completion = object_store::completion<multipart_upload>;

  upload_begin(object_store& store, scheduler& home, multipart_initiate_request request,
               bool own_name, std::shared_ptr<bool> left, completion done);
  void start();

 private:
  void look();
  void look_for(std::optional<timestamp> earliest);
  void looked(const result<upload_page>& page, std::optional<timestamp> earliest);
  void look_at_parts(const std::string& upload_id);
  void remove(std::vector<std::string> upload_ids);
  void again();
  void leave();
  /// A completion that goes on at home.
  template <class T, class Step>
  object_store::completion<T> then(Step step);

  object_store& store_;
  scheduler& home_;
  multipart_initiate_request request_;
  const bool own_name_;
  const std::shared_ptr<bool> left_;
  completion done_;
  time_point began_{};
  int tries_{0};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/upload_begin.ipp>
#endif
