#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/detail/page_bound.hpp>
#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/requests.hpp>

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>

/// How whatever lists a prefix one page after the other goes from page to page: what to ask for
/// next, and whether the reply goes forward. Pure: its owner sends the requests. The parallel
/// listing has rules of its own (list/fast_list.hpp).
namespace dataflux::inline DATAFLUX_ABI::detail {

/// A walk over objects.
///
/// Errors of take(): internal for a page with other names than were asked for, or one that does not
/// go on behind the page before it. A walk that were to believe such pages might never end, or
/// miss objects in silence. They name the bucket, and the object at which it happened.
class page_walk {
 public:
  explicit page_walk(list_page_request what) : request_(std::move(what)) {}

  /// What to ask for.
  const list_page_request& next(call_limits limits) {
    request_.limits = std::move(limits);
    return request_;
  }
  /// The reply to it: names begin with the prefix and ascend; with versions, generations within a
  /// name do. An empty page is good if it names another one, but not for ever (page_bound).
  result<void> take(const list_page& page);
  /// The last page was taken.
  bool ended() const noexcept { return ended_; }

 private:
  list_page_request request_;
  std::string last_{};
  std::int64_t last_generation_{0};
  page_bound bound_{};
  bool ended_{false};
};

/// A walk over open uploads: the same of their listing.
class upload_walk {
 public:
  explicit upload_walk(list_uploads_request what) : request_(std::move(what)) {}

  const list_uploads_request& next(call_limits limits) {
    request_.limits = std::move(limits);
    return request_;
  }
  /// Names begin with the prefix, no upload comes twice, and the page names one behind itself as
  /// the next. At most 1,000 pages are of one object.
  result<void> take(const upload_page& page);
  bool ended() const noexcept { return ended_; }

 private:
  list_uploads_request request_;
  std::unordered_set<std::string> known_{};  ///< "object\0upload id"
  page_bound bound_{};
  std::uint32_t of_one_object_{0};  ///< pages in a row
  bool ended_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/page_walk.ipp>
#endif
