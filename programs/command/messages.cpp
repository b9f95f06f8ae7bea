#include "outcome.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "location.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;

namespace {

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

/// The folder of a name, whose listing shows what is there.
std::string folder_of(const error& e) {
  const auto slash = e.object().rfind('/');
  return shown_url(e.scheme(), e.bucket(),
                   slash == std::string::npos ? "" : e.object().substr(0, slash + 1));
}

std::string advice(const error& e, std::uint64_t written) {
  switch (e.code()) {
    case errc::unauthenticated:
      // AIStore's own text names its variables.
      return e.scheme() == "ais" ? "" : "for public data give --anonymous";
    case errc::permission_denied:
      return std::string(words_of(e.scheme()).denied);
    case errc::not_found:
      // A file of this machine has no object, either.
      if (e.object().empty() || e.bucket_missing()) return {};
      return "`dataflux ls " + folder_of(e) + "` shows what is there";
    case errc::already_exists:
    case errc::failed_precondition:
      return e.http_status() == 412 ? "it was changed meanwhile; run the command again" : "";
    case errc::data_loss:
      // Of a shard the reason says it itself: the same bytes are there the next time.
      if (e.bucket().empty() || e.message().find("; ") != std::string_view::npos) return {};
      return written == 0 ? "nothing was kept; run the command again" : "run the command again";
    case errc::unavailable:
      if (e.http_status() != 0) return "try again later";
      return std::string(words_of(e.scheme()).unreachable);
    default:
      return {};
  }
}

std::string without_controls(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  }
  return out;
}

/// What it is about, as a person writes it; empty where the text begins with that, or no bucket is
/// known.
std::string subject_of(const error& e) {
  if (e.bucket().empty()) return {};
  std::string url = shown_url(e.scheme(), e.bucket(), e.bucket_missing() ? "" : e.object());
  if (e.object().empty() || e.bucket_missing()) url.pop_back();
  if (e.generation() != 0) url.append("#").append(std::to_string(e.generation()));
  return e.message().starts_with(url) ? std::string() : url + ": ";
}

/// Of what is missing the service repeats the name, and the library says it in brackets.
std::string reason_of(const error& e) {
  std::string_view text = e.message();
  const auto open = text.rfind(" (");
  const bool repeats = text.starts_with("No such object") || text.starts_with("The specified ");
  if (repeats && e.http_status() == 404 && text.ends_with(')') && open != std::string_view::npos) {
    text = text.substr(open + 2, text.size() - open - 3);
  }
  return shown_name(text);
}

/// What a person needs who asks the service's people; nothing where the reason is plain.
std::string facts_of(const error& e) {
  if (e.http_status() == 404 || e.http_status() == 412) return {};
  std::string facts;
  const auto add = [&facts](const std::string& fact) {
    facts.append(facts.empty() ? " (" : ", ").append(fact);
  };
  if (e.http_status() != 0) add("HTTP " + std::to_string(e.http_status()));
  if (e.attempts() > 1) add(std::to_string(e.attempts()) + " attempts");
  if (e.http_status() >= 500 && !e.request_id().empty()) {
    add("request " + shown_name(e.request_id()));
  }
  return facts.empty() ? facts : facts + ")";
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
    out = without_controls(e.message());
    if (e.code() == errc::resource_exhausted) out += "; make room or choose another folder";
  } else {
    out = subject_of(e) + reason_of(e) + facts_of(e);
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

}  // namespace cli
