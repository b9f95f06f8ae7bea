#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::s3 {

/// An object that a delete_request did not remove, and why.
struct undeleted_object {
  std::size_t index{0};  ///< in delete_request::objects
  dataflux::error why{errc::unknown, "not told"};
};

/// Removes up to 1,000 objects of a bucket by one request. A verb of s3::client. What was not there
/// counts as removed. The call succeeds when each object was dealt with; its value is those that
/// stay.
struct delete_request {
  using value = std::vector<undeleted_object>;

  std::string bucket{};
  /// 1-1,000 names, each once. A name with a character that XML cannot carry is invalid_argument:
  /// remove such an object by remove_request.
  std::vector<std::string> objects{};
  call_limits limits{};
};
/// The names, as of all requests; their number.
result<void> validate(const delete_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/delete_request.ipp>
#endif
