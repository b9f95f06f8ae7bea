#include <emulator/digest.hpp>
#include <emulator/service_error.hpp>
#include <emulator/session_store.hpp>
#include <emulator/uri.hpp>

#include <algorithm>

namespace emulator {
namespace {

service_error bad_range(std::string_view header) {
  return invalid_argument("Failed to parse Content-Range header: " + std::string{header});
}

std::uint64_t position(std::string_view text, std::string_view header) {
  const auto value = parse_integer(text);
  if (!value || *value < 0) throw bad_range(header);
  return static_cast<std::uint64_t>(*value);
}

}  // namespace

upload_range upload_range::parse(std::string_view header) {
  upload_range out;
  if (header.empty()) {
    out.whole = true;
    return out;
  }
  const std::size_t slash = header.find('/');
  if (!header.starts_with("bytes ") || slash == std::string_view::npos) throw bad_range(header);
  const std::string_view total = header.substr(slash + 1);
  const std::string_view span = header.substr(6, slash - 6);
  if (total != "*") out.total = position(total, header);
  if (span == "*") {
    out.query = true;
    return out;
  }
  const std::size_t dash = span.find('-');
  if (dash == std::string_view::npos) throw bad_range(header);
  out.first = position(span.substr(0, dash), header);
  const std::string_view last = span.substr(dash + 1);
  if (last != "*") {
    out.last = position(last, header);
    if (*out.last < out.first || (out.total && *out.last >= *out.total)) throw bad_range(header);
  }
  return out;
}

std::string session_store::start(session fresh) {
  const std::lock_guard lock{mutex_};
  const std::string number = std::to_string(next_++);
  std::string id = "ABgVH8" + base64url_encode(md5("session " + number)) + "-" + number;
  sessions_.emplace(id, entry{.held = std::move(fresh)});
  return id;
}

std::string session_store::customer_key(std::string_view id) const {
  const std::lock_guard lock{mutex_};
  const auto at = sessions_.find(id);
  return at == sessions_.end() ? std::string{} : at->second.held.customer_key;
}

std::uint64_t session_store::persisted(std::string_view id) const {
  const std::lock_guard lock{mutex_};
  const auto at = sessions_.find(id);
  return at == sessions_.end() ? 0 : at->second.held.data.size();
}

session_store::entry& session_store::find(std::string_view id) {
  const auto at = sessions_.find(id);
  if (at == sessions_.end()) {
    throw service_error{404, "notFound", "NoSuchUpload", "No such upload session"};
  }
  switch (at->second.end) {
    case ending::cancelled:
      throw service_error{499, "clientClosedRequest", "ClientClosedRequest", "Upload cancelled"};
    case ending::expired:
    case ending::dropped:
      throw service_error{410, "gone", "NoSuchUpload", "The upload session is gone"};
    case ending::none:
      break;
  }
  return at->second;
}

/// Bytes that have persisted and are sent again are skipped; an offset ahead is an error.
void session_store::append(session& to, const upload_range& range, const content& body) {
  const std::uint64_t persisted = to.data.size();
  if (range.first > persisted) {
    throw service_error{503, "backendError", "ServiceUnavailable",
                        "Invalid request.  According to the Content-Range header, the upload "
                        "offset is " +
                            std::to_string(range.first) +
                            " byte(s), which exceeds already uploaded size of " +
                            std::to_string(persisted) + " byte(s)."};
  }
  to.data.append(body.slice(persisted - range.first, body.size()));
}

session_store::progress session_store::take(std::string_view id, const upload_range& range,
                                            const content& body,
                                            std::optional<std::uint64_t> keep) {
  const std::lock_guard lock{mutex_};
  session& held = find(id).held;
  if (held.object) return {.persisted = held.data.size(), .object = held.object};
  std::optional<std::uint64_t> total = range.total;
  if (range.whole) total = body.size();
  if (!range.query && !total && !range.last && !keep) total = range.first + body.size();
  if (total && held.announced && *total != *held.announced) {
    throw invalid_argument("The size differs from X-Upload-Content-Length");
  }
  if (!range.query) {
    if (range.last && *range.last - range.first + 1 != body.size()) {
      throw invalid_argument("The Content-Range does not match the length of the body");
    }
    const std::uint64_t end = range.first + body.size();
    if (total && end > *total) throw invalid_argument("The body exceeds the announced size");
    const bool to_the_end = !range.last || (total && end == *total);
    if (!to_the_end && body.size() % chunk_granule != 0) {
      throw invalid_argument(
          "Invalid request.  The number of bytes uploaded is required to be equal or greater than "
          "262144, except for the final request (it's recommended to be the exact multiple of "
          "262144).  The received request contained " +
          std::to_string(body.size()) + " bytes, which does not meet this requirement.");
    }
    append(held, range, keep ? body.slice(0, *keep) : body);
  } else if (!total) {
    return {.persisted = held.data.size()};
  }
  progress out{.persisted = held.data.size()};
  if (total && held.data.size() == *total) out.due = held;
  return out;
}

void session_store::take_broken(std::string_view id, const upload_range& range,
                                const content& part) {
  const std::lock_guard lock{mutex_};
  const auto at = sessions_.find(id);
  if (at == sessions_.end() || at->second.end != ending::none) return;
  session& held = at->second.held;
  if (held.object || range.query || range.first > held.data.size()) return;
  const std::uint64_t end = (range.first + part.size()) / chunk_granule * chunk_granule;
  if (end > held.data.size()) append(held, range, part.slice(0, end - range.first));
}

void session_store::finish(std::string_view id, object_ptr object) {
  const std::lock_guard lock{mutex_};
  session& held = find(id).held;
  held.object = std::move(object);
  held.data = held.object->data;
}

void session_store::drop(std::string_view id) {
  const std::lock_guard lock{mutex_};
  entry& at = find(id);
  at.end = ending::dropped;
  at.held.data = {};
}

bool session_store::cancel(std::string_view id) {
  const std::lock_guard lock{mutex_};
  entry& at = find(id);
  if (at.held.object) return false;
  at.end = ending::cancelled;
  at.held.data = {};
  return true;
}

void session_store::expire_all() {
  const std::lock_guard lock{mutex_};
  for (auto& [id, at] : sessions_) {
    if (at.end != ending::none || at.held.object) continue;
    at.end = ending::expired;
    at.held.data = {};
  }
}

std::size_t session_store::open() const {
  const std::lock_guard lock{mutex_};
  return static_cast<std::size_t>(std::ranges::count_if(sessions_, [](const auto& line) {
    return line.second.end == ending::none && !line.second.held.object;
  }));
}

}  // namespace emulator
