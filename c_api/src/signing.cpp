#include "operation.hpp"

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/store/sign_requests.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace dataflux_c {

namespace {

using text_pairs = std::vector<std::pair<std::string, std::string>>;

void write_end(dataflux::detail::codec::json_writer& w, dataflux::system_time end) {
  const auto since = std::chrono::floor<std::chrono::seconds>(end.time_since_epoch());
  w.key("expires").string(dataflux::to_string(dataflux::timestamp(since))).end_object();
}

std::string json_of(const dataflux::signed_url& made) {
  dataflux::detail::codec::json_writer w;
  w.begin_object().key("url").string(made.url);
  write_end(w, made.expires);
  return std::move(w).take();
}

std::string json_of(const dataflux::signed_form& made) {
  dataflux::detail::codec::json_writer w;
  w.begin_object().key("url").string(made.url).key("fields").begin_array();
  for (const auto& [name, value] : made.fields) {
    w.begin_array().string(name).string(value).end_array();
  }
  w.end_array();
  write_end(w, made.expires);
  return std::move(w).take();
}

template <class Made>
class signing_operation final : public typed_operation<Made> {
 public:
  using typed_operation<Made>::typed_operation;

 protected:
  std::string make_json() const override {
    return this->value_ ? json_of(*this->value_) : std::string();
  }
};

result<text_pairs> pairs_of(const char* const* names, const char* const* values, std::size_t count,
                            const char* what) {
  text_pairs pairs;
  if (count > 0 && (names == nullptr || values == nullptr)) return missing(what);
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == nullptr || values[i] == nullptr) return missing(what);
    pairs.emplace_back(names[i], values[i]);
  }
  return pairs;
}

template <class Request>
result<Request> request_to_sign(const dataflux_sign_options* given) {
  const auto o = options_of(given);
  if (!o) return o.error();
  if (o->bucket == nullptr) return missing("bucket");
  if (o->style > DATAFLUX_URL_BUCKET_BOUND) {
    return error(errc::invalid_argument, "style is no DATAFLUX_URL_*");
  }
  Request r;
  r.bucket = o->bucket;
  r.object = text_of(o->object);
  r.life = duration_of(o->life_ns);
  r.style = static_cast<dataflux::url_style>(o->style);
  r.host = text_of(o->host);
  r.scheme = text_of(o->scheme);
  r.account = text_of(o->account);
  r.key.id = text_of(o->access_key_id);
  r.key.secret = text_of(o->secret_access_key);
  r.limits.timeout = duration_of(o->timeout_ns);
  if constexpr (requires { r.generation; }) {
    r.generation = o->generation;
  } else if (o->generation != 0) {
    return error(errc::invalid_argument, "a form makes a generation: name none");
  }
  return r;
}

result<dataflux::sign_url_request> url_of(const dataflux_sign_options* options,
                                          const dataflux_signed_request* request) {
  auto r = request_to_sign<dataflux::sign_url_request>(options);
  if (!r) return r;
  const auto known = options_of(request);
  if (!known) return known.error();
  if (known->method != nullptr) r->method = known->method;
  auto headers = pairs_of(known->header_names, known->header_values, known->header_count,
                          "header_names or header_values, or one of them");
  if (!headers) return std::move(headers).error();
  r->headers = *std::move(headers);
  auto query = pairs_of(known->parameter_names, known->parameter_values, known->parameter_count,
                        "parameter_names or parameter_values, or one of them");
  if (!query) return std::move(query).error();
  r->query = *std::move(query);
  return r;
}

result<std::vector<dataflux::form_condition>> conditions_of(
    const dataflux_form_condition* conditions, std::size_t count) {
  std::vector<dataflux::form_condition> out;
  if (count > 0 && conditions == nullptr) return missing("conditions");
  for (std::size_t i = 0; i < count; ++i) {
    const dataflux_form_condition& each = conditions[i];
    if (each.rule > DATAFLUX_FORM_SIZE) {
      return error(errc::invalid_argument, "rule is no DATAFLUX_FORM_*");
    }
    out.push_back({.rule = static_cast<dataflux::form_rule>(each.rule),
                   .field = text_of(each.field),
                   .value = text_of(each.value),
                   .least = each.least,
                   .most = each.most});
  }
  return out;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::client_state;
using dataflux_c::guarded;
using dataflux_c::result;

void dataflux_sign_options_init(dataflux_sign_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_signed_request_init(dataflux_signed_request* request, size_t size) {
  dataflux_c::init_options(request, size);
}

dataflux_status dataflux_sign_url(dataflux_client* client, const dataflux_sign_options* options,
                                  const dataflux_signed_request* request, dataflux_queue* queue,
                                  uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    auto r = dataflux_c::url_of(options, request);
    if (!r) return std::move(r).error();
    return dataflux_c::begin_operation<dataflux_c::signing_operation<dataflux::signed_url>>(
        client, queue, tag, out, [&](client_state& c) { return c.submit(*std::move(r)); });
  });
}

dataflux_status dataflux_sign_form(dataflux_client* client, const dataflux_sign_options* options,
                                   const char* const* names, const char* const* values,
                                   size_t count, const dataflux_form_condition* conditions,
                                   size_t condition_count, dataflux_queue* queue, uint64_t tag,
                                   dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    auto r = dataflux_c::request_to_sign<dataflux::sign_form_request>(options);
    if (!r) return std::move(r).error();
    auto fields = dataflux_c::pairs_of(names, values, count, "names or values, or one of them");
    if (!fields) return std::move(fields).error();
    r->fields = *std::move(fields);
    auto rules = dataflux_c::conditions_of(conditions, condition_count);
    if (!rules) return std::move(rules).error();
    r->conditions = *std::move(rules);
    return dataflux_c::begin_operation<dataflux_c::signing_operation<dataflux::signed_form>>(
        client, queue, tag, out, [&](client_state& c) { return c.submit(*std::move(r)); });
  });
}
