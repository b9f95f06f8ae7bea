#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/detail/client_core.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Which conditions of writes a server keeps (s3-protocol.md 7.1). Some take them, answer 200, and
/// overwrite all the same: then of two writers who create one object both believe that they have.
namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

struct kept_conditions {
  bool writes{true};    ///< of PutObject and CompleteMultipartUpload
  bool copies{true};    ///< of what CopyObject makes
  bool removals{true};  ///< of DeleteObject
  bool lists{true};     ///< of DeleteObjects, for each object
};

/// What is known of each bucket of an endpoint. A bucket is asked once: by the first call that
/// depends on the answer, which waits for it as those do that come meanwhile.
///
/// The question is a scratch object beside the one that the call is about, which is written,
/// copied and removed under conditions that do not hold. It is removed in the end.
///
/// Threads: any may call. At most 4,096 buckets are remembered; one more forgets all of them.
class condition_book {
 public:
  static constexpr std::size_t most = 4096;
  using answer = unique_function<void(result<kept_conditions>)>;

  /// What is known; nothing: ask().
  std::optional<kept_conditions> find(std::string_view bucket) const;
  /// `done` runs on an executor. Errors: those of the questions, and then the next call asks again:
  /// permission_denied where nothing may be written beside `object`.
  void ask(ref<service::client_core> core, std::string_view bucket, std::string_view object,
           answer done);
  void answered(std::string_view bucket, const result<kept_conditions>& what);

 private:
  mutable std::mutex mutex_{};
  std::map<std::string, kept_conditions, std::less<>> known_{};
  std::map<std::string, std::vector<answer>, std::less<>> waiting_{};
};

/// The error of a call that depends on a condition which the server does not keep.
error not_kept(std::string_view what);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
