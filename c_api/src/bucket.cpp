#include "object.hpp"

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/store/bucket_requests.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace dataflux_c {

namespace {

using dataflux::bucket_metadata;
using dataflux::detail::codec::json_writer;

/// With the names and the forms that the service uses.
void put_bucket(json_writer& w, const bucket_metadata& b) {
  const auto text = [&w](const char* name, const std::string& value) {
    if (!value.empty()) w.key(name).string(value);
  };
  const auto number = [&w](const char* name, std::int64_t value) {
    if (value != 0) w.key(name).decimal_string(value);
  };
  const auto on = [&w](const char* where, const char* name, bool value) {
    if (value) w.key(where).begin_object().key(name).boolean(true).end_object();
  };
  const auto seconds = [&w](const char* where, const char* name, std::int64_t value) {
    if (value != 0) w.key(where).begin_object().key(name).decimal_string(value).end_object();
  };
  w.begin_object();
  text("name", b.name);
  number("projectNumber", b.project_number);
  number("metageneration", b.metageneration);
  text("location", b.location);
  text("locationType", b.location_type);
  text("storageClass", b.storage_class);
  if (b.created) w.key("timeCreated").string(dataflux::to_string(*b.created));
  on("hierarchicalNamespace", "enabled", b.hierarchical);
  on("versioning", "enabled", b.versioning);
  on("billing", "requesterPays", b.requester_pays);
  if (b.uniform_access) {
    w.key("iamConfiguration").begin_object();
    on("uniformBucketLevelAccess", "enabled", true);
    w.end_object();
  }
  seconds("softDeletePolicy", "retentionDurationSeconds", b.soft_delete_seconds);
  seconds("retentionPolicy", "retentionPeriod", b.retention_seconds);
  if (b.default_event_based_hold) w.key("defaultEventBasedHold").boolean(true);
  w.end_object();
}

class bucket_operation final : public typed_operation<bucket_metadata> {
 public:
  using typed_operation::typed_operation;

 protected:
  std::string make_json() const override {
    json_writer w;
    put_bucket(w, *value_);
    return std::move(w).take();
  }
};

class buckets_operation final : public typed_operation<std::vector<bucket_metadata>> {
 public:
  using typed_operation::typed_operation;

 protected:
  void describe(dataflux_record& r) const override { r.size = value_->size(); }
  std::string make_json() const override {
    json_writer w;
    w.begin_object().key("items").begin_array();
    for (const bucket_metadata& each : *value_) put_bucket(w, each);
    w.end_array().end_object();
    return std::move(w).take();
  }
};

class permissions_operation final : public typed_operation<std::vector<std::string>> {
 public:
  using typed_operation::typed_operation;

 protected:
  void describe(dataflux_record& r) const override { r.size = value_->size(); }
  std::string make_json() const override {
    json_writer w;
    w.begin_object().key("permissions").begin_array();
    for (const std::string& each : *value_) w.string(each);
    w.end_array().end_object();
    return std::move(w).take();
  }
};

template <class Request>
result<Request> in_bucket(const dataflux_bucket_options* given) {
  const auto o = options_of(given);
  if (!o) return o.error();
  if (o->bucket == nullptr) return missing("bucket");
  Request r;
  r.bucket = o->bucket;
  r.limits.timeout = duration_of(o->timeout_ns);
  return r;
}

result<dataflux::test_permissions_request> permissions_of(const dataflux_bucket_options* options,
                                                          const char* const* permissions,
                                                          std::size_t count) {
  auto r = in_bucket<dataflux::test_permissions_request>(options);
  if (!r) return r;
  if (permissions == nullptr && count > 0) return missing("permissions");
  for (std::size_t i = 0; i < count; ++i) {
    if (permissions[i] == nullptr) return missing("one of the permissions");
    r->permissions.emplace_back(permissions[i]);
  }
  return r;
}

result<dataflux::list_all_buckets_request> buckets_of(const dataflux_list_buckets_options* given) {
  const auto o = options_of(given);
  if (!o) return o.error();
  dataflux::list_all_buckets_request r;
  r.project = text_of(o->project);
  r.prefix = text_of(o->prefix);
  r.limits.timeout = duration_of(o->timeout_ns);
  return r;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::begin_call;
using dataflux_c::guarded;
using dataflux_c::result;

void dataflux_bucket_options_init(dataflux_bucket_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_list_buckets_options_init(dataflux_list_buckets_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_bucket(dataflux_client* client, const dataflux_bucket_options* options,
                                dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    return begin_call<dataflux_c::bucket_operation>(
        client, dataflux_c::in_bucket<dataflux::bucket_request>(options), queue, tag, out);
  });
}

dataflux_status dataflux_test_permissions(dataflux_client* client,
                                          const dataflux_bucket_options* options,
                                          const char* const* permissions, size_t count,
                                          dataflux_queue* queue, uint64_t tag,
                                          dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    return begin_call<dataflux_c::permissions_operation>(
        client, dataflux_c::permissions_of(options, permissions, count), queue, tag, out);
  });
}

dataflux_status dataflux_list_buckets(dataflux_client* client,
                                      const dataflux_list_buckets_options* options,
                                      dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                      dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    return begin_call<dataflux_c::buckets_operation>(client, dataflux_c::buckets_of(options), queue,
                                                     tag, out);
  });
}
