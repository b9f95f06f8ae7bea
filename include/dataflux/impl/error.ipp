#pragma once

#include <dataflux/detail/text.hpp>
#include <dataflux/error.hpp>

#include <atomic>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

struct error::rep {
  std::atomic<int> references{1};
  errc code{errc::unknown};
  int http_status{0};
  int attempts{0};
  bool retryable{false};
  bool outcome_unknown{false};
  bool bucket_missing{false};
  std::int64_t generation{0};
  std::chrono::milliseconds retry_after{0};
  std::string message{};
  std::string verb{};
  std::string scheme{"gs"};
  std::string bucket{};
  std::string object{};
  std::string reason{};
  std::string request_id{};

  rep() = default;
  rep(const rep& o)
      : code(o.code),
        http_status(o.http_status),
        attempts(o.attempts),
        retryable(o.retryable),
        outcome_unknown(o.outcome_unknown),
        bucket_missing(o.bucket_missing),
        generation(o.generation),
        retry_after(o.retry_after),
        message(o.message),
        verb(o.verb),
        scheme(o.scheme),
        bucket(o.bucket),
        object(o.object),
        reason(o.reason),
        request_id(o.request_id) {}
  rep& operator=(const rep&) = delete;

  void release() noexcept {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

DATAFLUX_INLINE std::string_view to_string(errc code) noexcept {
  switch (code) {
    case errc::ok:
      return "ok";
    case errc::cancelled:
      return "cancelled";
    case errc::unknown:
      return "unknown";
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::deadline_exceeded:
      return "deadline_exceeded";
    case errc::not_found:
      return "not_found";
    case errc::already_exists:
      return "already_exists";
    case errc::permission_denied:
      return "permission_denied";
    case errc::resource_exhausted:
      return "resource_exhausted";
    case errc::failed_precondition:
      return "failed_precondition";
    case errc::aborted:
      return "aborted";
    case errc::out_of_range:
      return "out_of_range";
    case errc::unimplemented:
      return "unimplemented";
    case errc::internal:
      return "internal";
    case errc::unavailable:
      return "unavailable";
    case errc::data_loss:
      return "data_loss";
    case errc::unauthenticated:
      return "unauthenticated";
  }
  return "unknown";
}

DATAFLUX_INLINE errc errc_from_http_status(int status) noexcept {
  switch (status) {
    case 304:
      return errc::failed_precondition;
    case 400:
      return errc::invalid_argument;
    case 401:
      return errc::unauthenticated;
    case 403:
      return errc::permission_denied;
    case 404:
    case 410:
      return errc::not_found;
    case 408:
      return errc::unavailable;
    case 409:
      return errc::aborted;
    case 412:
      return errc::failed_precondition;
    case 416:
      return errc::out_of_range;
    case 429:
      return errc::resource_exhausted;
    case 499:
      return errc::cancelled;
    case 501:
      return errc::unimplemented;
    default:
      break;
  }
  if (status >= 500 && status <= 599) return errc::unavailable;
  if (status >= 400 && status <= 499) return errc::invalid_argument;
  return errc::unknown;
}

DATAFLUX_INLINE error::error(errc code, std::string message) : rep_(new rep) {
  rep_->code = code == errc::ok ? errc::internal : code;
  rep_->message = std::move(message);
}
DATAFLUX_INLINE error::error(const error& other) noexcept : rep_(other.rep_) {
  if (rep_ != nullptr) rep_->references.fetch_add(1, std::memory_order_relaxed);
}
DATAFLUX_INLINE error::~error() {
  if (rep_ != nullptr) rep_->release();
}

DATAFLUX_INLINE error::rep& error::own() {
  if (rep_->references.load(std::memory_order_acquire) != 1) {
    auto* copy = new rep(*rep_);
    rep_->release();
    rep_ = copy;
  }
  return *rep_;
}

DATAFLUX_INLINE errc error::code() const noexcept { return rep_->code; }
DATAFLUX_INLINE const std::string& error::message() const noexcept { return rep_->message; }
DATAFLUX_INLINE int error::http_status() const noexcept { return rep_->http_status; }
DATAFLUX_INLINE const std::string& error::verb() const noexcept { return rep_->verb; }
DATAFLUX_INLINE const std::string& error::scheme() const noexcept { return rep_->scheme; }
DATAFLUX_INLINE const std::string& error::bucket() const noexcept { return rep_->bucket; }
DATAFLUX_INLINE const std::string& error::object() const noexcept { return rep_->object; }
DATAFLUX_INLINE std::int64_t error::generation() const noexcept { return rep_->generation; }
DATAFLUX_INLINE const std::string& error::reason() const noexcept { return rep_->reason; }
DATAFLUX_INLINE const std::string& error::request_id() const noexcept { return rep_->request_id; }
DATAFLUX_INLINE int error::attempts() const noexcept { return rep_->attempts; }
DATAFLUX_INLINE bool error::outcome_unknown() const noexcept { return rep_->outcome_unknown; }
DATAFLUX_INLINE bool error::retryable() const noexcept { return rep_->retryable; }
DATAFLUX_INLINE bool error::bucket_missing() const noexcept { return rep_->bucket_missing; }
DATAFLUX_INLINE std::chrono::milliseconds error::retry_after() const noexcept {
  return rep_->retry_after;
}

DATAFLUX_INLINE error& error::with_code(errc code) {
  own().code = code;
  return *this;
}
DATAFLUX_INLINE error& error::with_message(std::string text) {
  own().message = std::move(text);
  return *this;
}
DATAFLUX_INLINE error& error::with_http_status(int status) {
  own().http_status = status;
  return *this;
}
DATAFLUX_INLINE error& error::with_verb(std::string_view verb) {
  own().verb = verb;
  return *this;
}
DATAFLUX_INLINE error& error::with_scheme(std::string_view scheme) {
  if (rep_->scheme != scheme) own().scheme = scheme;
  return *this;
}
DATAFLUX_INLINE error& error::with_bucket(std::string_view bucket) {
  own().bucket = bucket;
  return *this;
}
DATAFLUX_INLINE error& error::with_object(std::string_view object) {
  own().object = object;
  return *this;
}
DATAFLUX_INLINE error& error::with_generation(std::int64_t generation) {
  own().generation = generation;
  return *this;
}
DATAFLUX_INLINE error& error::with_reason(std::string_view reason) {
  own().reason = reason;
  return *this;
}
DATAFLUX_INLINE error& error::with_request_id(std::string_view id) {
  own().request_id = id;
  return *this;
}
DATAFLUX_INLINE error& error::with_attempts(int attempts) {
  own().attempts = attempts;
  return *this;
}
DATAFLUX_INLINE error& error::with_outcome_unknown(bool unknown) {
  own().outcome_unknown = unknown;
  return *this;
}
DATAFLUX_INLINE error& error::with_retryable(bool retryable) {
  own().retryable = retryable;
  return *this;
}
DATAFLUX_INLINE error& error::with_bucket_missing(bool missing) {
  own().bucket_missing = missing;
  return *this;
}
DATAFLUX_INLINE error& error::with_retry_after(std::chrono::milliseconds wait) {
  own().retry_after = wait;
  return *this;
}

DATAFLUX_INLINE std::string error::to_string() const {
  const rep& r = *rep_;
  std::string out{dataflux::to_string(r.code)};
  if (!r.verb.empty()) out.append(" in ").append(r.verb);
  if (!r.bucket.empty()) {
    out.append(" of ").append(r.scheme).append("://");
    detail::append_escaped(out, r.bucket);
    if (!r.object.empty()) {
      out += '/';
      detail::append_escaped(out, r.object);
      if (r.generation != 0) out.append("#").append(std::to_string(r.generation));
    }
  }
  out += ": ";
  detail::append_escaped(out, r.message);
  std::string facts;
  const auto add = [&facts](std::string_view name, std::string_view value) {
    if (!facts.empty()) facts += ", ";
    facts.append(name);
    detail::append_escaped(facts, value);
  };
  if (r.http_status != 0) add("HTTP ", std::to_string(r.http_status));
  if (!r.reason.empty()) add("reason ", r.reason);
  if (r.attempts > 0) add("attempts ", std::to_string(r.attempts));
  if (r.retry_after.count() > 0) {
    add("retry after ms ", std::to_string(r.retry_after.count()));
  }
  if (!r.request_id.empty()) add("request id ", r.request_id);
  if (!facts.empty()) out.append(" (").append(facts).append(")");
  return out;
}

DATAFLUX_INLINE void detail::raise(const error& e) { throw exception(e); }

}  // namespace dataflux::inline DATAFLUX_ABI
