#pragma once

#include <dataflux/s3/detail/bucket_places.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

DATAFLUX_INLINE result<std::shared_ptr<const bucket_place>> bucket_places::find(
    std::string_view bucket) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto at = known_.find(bucket); at != known_.end()) return at->second;
  }
  auto made =
      bucket.empty() ? endpoint_.place_of_all(region_) : endpoint_.place_of(bucket, region_);
  if (!made) return std::move(made).error();
  auto place = std::make_shared<const bucket_place>(*std::move(made));
  const std::scoped_lock lock(mutex_);
  if (known_.size() >= most) known_.clear();
  return known_.try_emplace(std::string{bucket}, std::move(place)).first->second;
}

DATAFLUX_INLINE bool bucket_places::learn(std::string_view bucket, std::string_view region) {
  // An ARN says it itself.
  if (bucket.empty() || bucket.starts_with("arn:") || !is_region(region)) return false;
  const auto before = find(bucket);
  if (!before || (*before)->region == region) return false;
  auto made = endpoint_.place_of(bucket, region);
  if (!made) return false;
  auto place = std::make_shared<const bucket_place>(*std::move(made));
  const std::scoped_lock lock(mutex_);
  known_.insert_or_assign(std::string{bucket}, std::move(place));
  return true;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
