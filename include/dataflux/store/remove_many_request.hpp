#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// An object that is to go.
struct removal_target {
  std::string object{};
  /// As the service gave it: only while the object is in that state. Empty = whatever is there.
  std::string etag{};
};

/// An object that a remove_many_request did not remove, and why.
struct kept_object {
  std::size_t index{0};  ///< in remove_many_request::objects
  error why{errc::unknown, "not told"};
};

/// Removes objects of a bucket by one request: as many as store_traits::max_removals says. What was
/// not there counts as removed. The call succeeds when each object was dealt with; its value is
/// those that stay.
///
/// Errors: unimplemented for a store without the verb, and for a name that its request cannot
/// carry. Then remove them one by one.
struct remove_many_request {
  using value = std::vector<kept_object>;

  std::string bucket{};
  /// 1-1,000, each name once.
  std::vector<removal_target> objects{};
  call_limits limits{};
};
/// The names, as of all requests; their number; ETags are text.
result<void> validate(const remove_many_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/detail/validate.hpp>
#endif
