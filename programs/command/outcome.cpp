#include "outcome.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace cli {

using dataflux::errc;
using dataflux::error;

namespace {

/// Marks errors of this machine's files: error::verb() of those of the service names a verb.
constexpr std::string_view file_verb{"file"};

errc code_of(int number) noexcept {
  switch (number) {
    case ENOENT:
      return errc::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return errc::permission_denied;
    case ENOSPC:
    case EDQUOT:
      return errc::resource_exhausted;
    default:
      return errc::failed_precondition;
  }
}

/// What a service has of its own, by its scheme.
struct service_words {
  std::string_view scheme;
  std::string_view unreachable;
  std::string_view denied;
};
constexpr service_words words_of_services[]{
    {"gs", "check the network, --endpoint and STORAGE_EMULATOR_HOST",
     "ask the bucket's owner for the permission, or use other credentials"},
    {"s3", "check the network, --endpoint and AWS_ENDPOINT_URL_S3",
     "ask the bucket's owner for the permission, or use other credentials; where the requester "
     "pays give --requester-pays"},
    {"ais", "check the network, --endpoint and AIS_ENDPOINT",
     "ask the bucket's owner for the permission, or use another token"},
};
const service_words& words_of(std::string_view scheme) noexcept {
  for (const service_words& each : words_of_services) {
    if (each.scheme == scheme) return each;
  }
  return words_of_services[0];
}

std::string_view advice(const error& e, std::uint64_t written) noexcept {
  switch (e.code()) {
    case errc::unauthenticated:
      // AIStore's own text names its variables.
      return e.scheme() == "ais" ? "" : "for public data give --anonymous";
    case errc::permission_denied:
      return words_of(e.scheme()).denied;
    case errc::not_found:
      // A file of this machine has no object, either.
      if (e.object().empty() || e.bucket_missing()) return {};
      return "`dataflux ls` shows what is there";
    case errc::already_exists:
    case errc::failed_precondition:
      return e.http_status() == 412 ? "it was changed meanwhile; run the command again" : "";
    case errc::data_loss:
      // Of a shard the reason says it itself: the same bytes are there the next time.
      if (e.bucket().empty() || e.message().find("; ") != std::string_view::npos) return {};
      return written == 0 ? "nothing was kept; run the command again" : "run the command again";
    case errc::unavailable:
      if (e.http_status() != 0) return "try again later";
      return words_of(e.scheme()).unreachable;
    default:
      return {};
  }
}

}  // namespace

error file_error(std::string_view path, int number) {
  return error(code_of(number), std::string(path) + ": " + std::generic_category().message(number))
      .with_verb(file_verb);
}

error file_error(error told) {
  if (!told.bucket().empty() || !told.verb().empty()) return told;
  // A limit of the process, such as of the size of files, is met by some only; a full disk by all.
  const auto ends_as = [&](int number) {
    return told.message().ends_with(std::generic_category().message(number));
  };
  if (told.code() == errc::resource_exhausted && !ends_as(ENOSPC) && !ends_as(EDQUOT)) {
    told = error(errc::failed_precondition, told.message());
  }
  return told.with_verb(file_verb);
}

error file_error(std::string_view path, std::string_view why) {
  return error(errc::failed_precondition, std::string(path) + ": " + std::string(why))
      .with_verb(file_verb);
}

std::string explain(const error& e, std::uint64_t written, bool right) {
  std::string out;
  if (e.verb() == file_verb) {
    for (const char c : e.message()) out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    if (e.code() == errc::resource_exhausted) out += "; make room or choose another folder";
  } else {
    out = e.to_string();
    if (const auto what = advice(e, written); !what.empty()) out.append("; ").append(what);
  }
  if (written > 0) {
    out.append("; ").append(std::to_string(written));
    out += " bytes of it were written before: ";
    out += right ? "they are right, but there may be more" : "do not use them";
  }
  return out;
}

exit_status status_of(const error& e) noexcept {
  if (e.verb() == file_verb) {
    return e.code() == errc::not_found ? exit_status::not_found : exit_status::local;
  }
  switch (e.code()) {
    case errc::invalid_argument:
      return e.http_status() == 0 ? exit_status::usage : exit_status::failed;
    case errc::not_found:
      return exit_status::not_found;
    case errc::unauthenticated:
    case errc::permission_denied:
      return exit_status::denied;
    case errc::data_loss:
      return exit_status::data_loss;
    case errc::unavailable:
    case errc::resource_exhausted:
    case errc::deadline_exceeded:
      return exit_status::unavailable;
    default:
      return exit_status::failed;
  }
}

void outcome::expect(std::uint64_t objects, std::uint64_t bytes) noexcept {
  if (bar_ != nullptr) bar_->expect(objects, bytes);
}

void outcome::done(std::uint64_t bytes, std::string_view name) {
  done_.fetch_add(1, std::memory_order_relaxed);
  if (bar_ == nullptr) return;
  bar_->add(1, bytes);
  if (!name.empty()) bar_->finished(name);
}

void outcome::moved(std::uint64_t bytes) noexcept {
  if (bar_ != nullptr) bar_->add(0, bytes);
}

void outcome::failed(const error& e, std::uint64_t written, bool right) {
  failures_.fetch_add(1, std::memory_order_relaxed);
  {
    std::scoped_lock lock(mutex_);
    if (!first_ || first_->code() == errc::cancelled) first_ = e;
  }
  if (e.code() == errc::cancelled && written == 0) return;
  const bool no_space = e.verb() == file_verb && e.code() == errc::resource_exhausted;
  const bool no_service = e.code() == errc::unavailable && e.http_status() == 0;
  // Of a bucket that is read there may be others; one that is written to is that of all.
  const bool no_target =
      e.bucket_missing() && (e.verb() == "objects.insert" || e.verb() == "multipart.initiate" ||
                             e.verb() == "resumable.start");
  if (no_space || no_service || no_target || e.code() == errc::unauthenticated) {
    // The same words a hundred times help nobody.
    if (hopeless_.exchange(true) && written == 0) return;
    note(explain(e, written, right));
    if (end_ != nullptr) end_->request_stop();
    return;
  }
  note(explain(e, written, right));
}

void outcome::note(std::string_view line) { print_line("dataflux: " + std::string(line)); }

exit_status outcome::status() const {
  std::scoped_lock lock(mutex_);
  if (failures_ == 0) return exit_status::ok;
  if (done_ > 0 && !hopeless_) return exit_status::partial;
  return status_of(*first_);
}

}  // namespace cli
