#include "boundary.hpp"

#include <dataflux/version.hpp>

#include <chrono>
#include <string>

uint32_t dataflux_abi_version(void) { return DATAFLUX_ABI_VERSION; }
const char* dataflux_version(void) { return DATAFLUX_VERSION; }

const char* dataflux_status_name(dataflux_status status) {
  if (status == DATAFLUX_INTERRUPTED) return "interrupted";
  // The names are literals.
  return dataflux::to_string(static_cast<dataflux::errc>(status)).data();
}

namespace {

const char* text_of(const dataflux_error* error,
                    const std::string& (dataflux::error::*get)() const noexcept) noexcept {
  return error == nullptr ? "" : (error->what.*get)().c_str();
}

}  // namespace

dataflux_status dataflux_error_status(const dataflux_error* error) {
  return error == nullptr ? DATAFLUX_OK : static_cast<dataflux_status>(error->what.code());
}
const char* dataflux_error_message(const dataflux_error* error) {
  return text_of(error, &dataflux::error::message);
}
const char* dataflux_error_text(const dataflux_error* error) {
  return error == nullptr ? "" : error->text.c_str();
}
const char* dataflux_error_verb(const dataflux_error* error) {
  return text_of(error, &dataflux::error::verb);
}
const char* dataflux_error_bucket(const dataflux_error* error) {
  return text_of(error, &dataflux::error::bucket);
}
const char* dataflux_error_scheme(const dataflux_error* error) {
  return text_of(error, &dataflux::error::scheme);
}
const char* dataflux_error_object(const dataflux_error* error) {
  return text_of(error, &dataflux::error::object);
}
const char* dataflux_error_reason(const dataflux_error* error) {
  return text_of(error, &dataflux::error::reason);
}
const char* dataflux_error_request_id(const dataflux_error* error) {
  return text_of(error, &dataflux::error::request_id);
}
int64_t dataflux_error_generation(const dataflux_error* error) {
  return error == nullptr ? 0 : error->what.generation();
}
int32_t dataflux_error_http_status(const dataflux_error* error) {
  return error == nullptr ? 0 : error->what.http_status();
}
int32_t dataflux_error_attempts(const dataflux_error* error) {
  return error == nullptr ? 0 : error->what.attempts();
}
int32_t dataflux_error_retryable(const dataflux_error* error) {
  return error != nullptr && error->what.retryable() ? 1 : 0;
}
int32_t dataflux_error_outcome_unknown(const dataflux_error* error) {
  return error != nullptr && error->what.outcome_unknown() ? 1 : 0;
}
int64_t dataflux_error_retry_after_ns(const dataflux_error* error) {
  if (error == nullptr) return 0;
  return std::chrono::nanoseconds(error->what.retry_after()).count();
}
void dataflux_error_free(dataflux_error* error) { delete error; }
