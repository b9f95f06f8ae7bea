#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/unique_function.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Which conditions of writes a server keeps (s3-protocol.md 7.1). Some take them, answer 200, and
/// overwrite all the same: then of two writers who create one object both believe that they have.
namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

struct kept_conditions {
  std::optional<bool> writes{};    ///< of PutObject and CompleteMultipartUpload
  std::optional<bool> copies{};    ///< of what CopyObject makes
  std::optional<bool> removals{};  ///< of DeleteObject
  std::optional<bool> lists{};     ///< of DeleteObjects, for each object
  std::optional<error> why{};      ///< what kept the others from being found out
};
using kept_condition = std::optional<bool> kept_conditions::*;

/// What a call has to know before it begins. Names are borrowed until ask() returns.
struct condition_question {
  ref<service::client_core> core;
  std::string_view bucket{};
  std::string_view object{};  ///< the one that the call is about
  kept_condition about{};
  scheduler& on;
  call_limits limits{};  ///< of the call
};

class condition_waiter;

/// What is known of each bucket of an endpoint. A bucket is asked once: by the first call that
/// depends on the answer, which waits for it as those do that come meanwhile. What could not be
/// found out is asked again by the next one.
///
/// The question is a scratch object beside the one that the call is about, which is written,
/// copied and removed under conditions that do not hold. It is removed in the end. Of removals it
/// is asked without an object first, since who removes need not be able to write.
///
/// Threads: any may call, but none in the child of a fork. At most 4,096 buckets are remembered;
/// one more forgets all of them.
class condition_book {
 public:
  static constexpr std::size_t most = 4096;
  /// What the call has to know is known.
  using answer = unique_function<void(result<kept_conditions>)>;

  /// What is known; nothing: ask().
  std::optional<kept_conditions> find(std::string_view bucket, kept_condition about) const;
  /// `done` runs on the question's executor. Errors: those of the requests, permission_denied where
  /// nothing may be written beside the object; cancelled and deadline_exceeded of the call.
  void ask(condition_question what, answer done);

 private:
  friend class condition_probe;
  friend class condition_waiter;
  /// Of a bucket. Of removals alone it is asked in another way.
  enum class subject : std::uint8_t { all, removals, lists };
  struct question {
    std::string bucket{};
    subject about{subject::all};
    auto operator<=>(const question&) const = default;
  };
  using waiters = std::vector<std::shared_ptr<condition_waiter>>;

  bool join(const question& which, const std::shared_ptr<condition_waiter>& who);
  void answered(const question& which, const result<kept_conditions>& found);
  void leave(const question& which, const condition_waiter& who) noexcept;
  waiters take(const question& which) noexcept;

  mutable std::mutex mutex_{};
  std::map<std::string, kept_conditions, std::less<>> known_{};
  std::map<question, waiters> waiting_{};
};

/// The error of a call that depends on a condition which the server does not keep. It is no
/// conflict: see store/detail/unmet_condition.hpp.
error not_kept(bool removes);

/// The error of a request that was to begin an upload, which nobody could abort.
error may_have_begun(error why);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
