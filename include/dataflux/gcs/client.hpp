#pragma once

#include <dataflux/auth/credentials.hpp>
#include <dataflux/gcs/client_options.hpp>
#include <dataflux/gcs/endpoint.hpp>
#include <dataflux/gcs/requests.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/ref.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::gcs {

namespace detail {
class client_core;
}

/// Google Cloud Storage as an object_store: the JSON API, and the XML API for multipart uploads.
///
///     auto client = gcs::client::create().value();
///     auto page = client->list_page({.bucket = "data", .prefix = "train/"}).value();
///
/// What may be retried is retried (gcs/repeat_rules.hpp): reads resume at the byte reached with the
/// generation pinned, lost replies of writes are resolved by looking at the object, a refused token
/// is refreshed once, refused rates (429) slow the whole client down instead of using up attempts.
/// Whole objects read and everything written is compared by CRC32C.
///
/// Thread safety: all members from any thread; one client serves a whole process. Destruction
/// cancels what is under way and waits for the completions (milliseconds). Inside a completion, as
/// where that holds the last reference, it cannot wait: the end then comes soon after it, on a
/// thread for that, until when the observer is used. After fork() the child makes a client of its
/// own: every verb of the inherited one fails with failed_precondition there, its completion being
/// called inside start_x.
class client final : public object_store {
 public:
  /// Starts the I/O threads; sends nothing. Errors: what finding credentials says (auth/adc.hpp);
  /// invalid_argument for a bad endpoint or file; resource_exhausted without threads or
  /// descriptors.
  static result<std::shared_ptr<client>> create(client_options options = {});
  ~client() override;

  const gcs::endpoint& endpoint() const noexcept;
  /// What has been done so far; also valid to read while calls are under way.
  const counters& totals() const noexcept;
  /// An access token that the application acquired itself; replaces the current one.
  result<void> set_token(const auth::access_token& token);

  store_traits traits() const noexcept override;
  scheduler& executor() noexcept override;

  void start(const read_request& request, byte_sink& sink, completion<read_summary> done) override;
  void start(const list_page_request& request, completion<dataflux::list_page> done) override;
  void start(const stat_request& request, completion<object_metadata> done) override;
  void start(const insert_request& request, completion<object_metadata> done) override;
  void start(const remove_request& request, completion<void> done) override;
  void start(const compose_request& request, completion<object_metadata> done) override;
  void start(const move_request& request, completion<object_metadata> done) override;
  void start(const multipart_initiate_request& request, completion<multipart_upload> done) override;
  void start(const upload_part_request& request, completion<uploaded_part> done) override;
  void start(const multipart_complete_request& request, completion<object_metadata> done) override;
  void start(const multipart_abort_request& request, completion<void> done) override;
  void start(const list_parts_request& request, completion<part_page> done) override;
  void start(const list_uploads_request& request, completion<upload_page> done) override;
  void start(const rewrite_request& request, completion<object_metadata> done) override;
  void start(const bucket_request& request, completion<bucket_metadata> done) override;
  void start(const resumable_start_request& request, completion<resumable_session> done) override;
  void start(const resumable_chunk_request& request, completion<resumable_progress> done) override;
  void start(const resumable_status_request& request, completion<resumable_progress> done) override;
  void start(const resumable_cancel_request& request, completion<void> done) override;

  // What other stores do not have: gcs/requests.hpp.
  void start(const patch_request& request, completion<object_metadata> done);
  void start(const storage_layout_request& request, completion<storage_layout> done);
  void start(const test_permissions_request& request, completion<std::vector<std::string>> done);

  /// As of object_store, for all of the above.
  using object_store::run;
  using object_store::submit;
  template <class Request>
  operation<typename Request::value> submit(Request request) {
    return submit_to(*this, std::move(request));
  }
  template <class Request>
  result<typename Request::value> run(Request request) {
    return submit(std::move(request)).take();
  }

 private:
  explicit client(ref<detail::client_core> core) noexcept;
  ref<detail::client_core> core_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/call.ipp>
#include <dataflux/gcs/impl/client.ipp>
#include <dataflux/gcs/impl/client_core.ipp>
#include <dataflux/gcs/impl/pace_line.ipp>
#include <dataflux/gcs/impl/read_call.ipp>
#endif
