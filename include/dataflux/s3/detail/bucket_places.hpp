#pragma once

#include <dataflux/s3/detail/endpoint.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Which bucket is in which region, as far as replies have told, and where its requests go.
///
/// Threads: any may call. Cost: a lock and a tree search. At most 4,096 buckets are remembered; one
/// more forgets all of them, and is told again.
class bucket_places {
 public:
  static constexpr std::size_t most = 4096;

  bucket_places(const s3::endpoint& where, std::string region)
      : endpoint_(where), region_(std::move(region)) {}

  const s3::endpoint& endpoint() const noexcept { return endpoint_; }
  /// Of buckets that no reply has told of.
  const std::string& usual_region() const noexcept { return region_; }

  /// Errors: as endpoint::place_of(); an empty name is place_of_all().
  result<std::shared_ptr<const bucket_place>> find(std::string_view bucket);
  /// A reply tells that the bucket is in `region`. False: it is no region, or the one that the
  /// bucket is known in, so that another attempt would change nothing.
  bool learn(std::string_view bucket, std::string_view region);

 private:
  const s3::endpoint endpoint_;
  const std::string region_;
  std::mutex mutex_{};
  std::map<std::string, std::shared_ptr<const bucket_place>, std::less<>> known_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/bucket_places.ipp>
#endif
