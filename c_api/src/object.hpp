#pragma once

#include "operation.hpp"

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/store/encryption_key.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/requests.hpp>
#include <dataflux/transfer/upload_request.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dataflux_c {

/// With the names and the forms that the service uses, as a value.
void write_object(dataflux::detail::codec::json_writer& w, const dataflux::object_metadata& o);
std::string json_of(const dataflux::object_metadata& o);
result<dataflux::preconditions> conditions_of(const dataflux_conditions* given);
result<dataflux::object_attributes> attributes_of(const dataflux_attributes* given);
/// Of a time in options; 0 = none.
inline std::optional<dataflux::timestamp> time_of(std::int64_t ns) {
  if (ns == 0) return std::nullopt;
  return dataflux::timestamp(std::chrono::nanoseconds(ns));
}
/// What an upload makes, and of the conditions the one that it knows.
result<void> put_target(const dataflux_attributes* attributes,
                        const dataflux_conditions* conditions, dataflux::upload_request& into);

/// A call that gives what is known of an object.
class object_operation final : public typed_operation<dataflux::object_metadata> {
 public:
  using typed_operation::typed_operation;

 protected:
  void describe(dataflux_record& r) const override;
  std::string make_json() const override { return value_ ? json_of(*value_) : std::string(); }
};

/// A key of dataflux_copy(); nothing = the client's.
result<std::optional<dataflux::encryption_key>> copy_key_of(const dataflux_object_options* given);

/// What the options say, into a request; conditions are for those that have them, keys for the two
/// sides of a copy.
template <class Request, bool Copies = false>
result<Request> request_of(const dataflux_object_options* given) {
  const auto o = options_of(given);
  if (!o) return o.error();
  if (o->bucket == nullptr) return missing("bucket");
  if (o->object == nullptr) return missing("object");
  Request r;
  r.bucket = o->bucket;
  r.object = o->object;
  r.limits.timeout = duration_of(o->timeout_ns);
  if constexpr (requires { r.generation; }) {
    r.generation = o->generation;
  } else if (o->generation != 0) {
    return error(errc::invalid_argument, "the call makes a generation: name none");
  }
  if constexpr (requires { r.conditions; }) {
    auto conditions = conditions_of(o->conditions);
    if (!conditions) return std::move(conditions).error();
    r.conditions = *std::move(conditions);
  } else if (o->conditions != nullptr) {
    return error(errc::unimplemented, "a read takes no conditions: name the generation");
  }
  if constexpr (requires { r.fields; }) {
    if (o->fields >= 2 * DATAFLUX_FIELD_METADATA) {
      return error(errc::invalid_argument, "`fields` names one that is not known");
    }
    r.fields = static_cast<dataflux::metadata_fields>(o->fields);
  } else if (o->fields != 0) {
    return error(errc::invalid_argument, "`fields` are for dataflux_stat()");
  }
  if constexpr (requires { r.member; }) {
    r.member = text_of(o->member);
  } else if (o->member != nullptr) {
    return error(errc::invalid_argument, "`member` is for dataflux_get()");
  }
  if (!Copies && (o->encryption_key != nullptr || o->no_encryption_key != 0)) {
    return error(errc::invalid_argument,
                 "`encryption_key` is for dataflux_copy(): other calls have the client's");
  }
  if constexpr (requires { r.last_writer_wins; }) r.last_writer_wins = true;
  return r;
}

/// A call of the store whose request is all in the options.
template <class Operation, class Request>
result<void> begin_call(dataflux_client* client, result<Request> request, dataflux_queue* queue,
                        std::uint64_t tag, dataflux_operation** out) {
  if (!request) return std::move(request).error();
  return begin_operation<Operation>(client, queue, tag, out,
                                    [&](client_state& c) { return c.submit(*std::move(request)); });
}

}  // namespace dataflux_c
