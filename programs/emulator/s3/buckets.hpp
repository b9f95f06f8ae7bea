#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/s3/options.hpp>

#include <string>

namespace emulator::s3 {

/// S3's verbs on buckets. Each throws service_error when it refuses. Thread safe.
class buckets {
 public:
  buckets(bucket_store& store, const options& how) : store_(store), how_(how) {}

  http_reply list(const call& asked) const;
  http_reply head(const call& asked) const;
  http_reply create(const call& asked, const http_request& request) const;
  http_reply remove(const call& asked) const;
  /// The rest: location, versioning, object lock, encryption and who pays.
  http_reply setting(const call& asked, const http_request& request) const;

 private:
  http_reply show(const call& asked, const bucket_settings& settings) const;
  void change(const call& asked, const http_request& request) const;

  bucket_store& store_;
  const options& how_;
};

/// Where a bucket is; without a choice, where the service is.
std::string region_of(const std::string& location, const options& how);

}  // namespace emulator::s3
