#include <emulator/traffic.hpp>

namespace emulator {

std::uint64_t traffic_counters::of(std::string_view verb) const {
  std::uint64_t sum = 0;
  for (const auto& [key, count] : requests) {
    if (verb.empty() || key.first == verb) sum += count;
  }
  return sum;
}

std::uint64_t traffic_counters::of(std::string_view verb, int status) const {
  const auto at = requests.find({std::string{verb}, status});
  return at == requests.end() ? 0 : at->second;
}

std::uint64_t traffic_counters::of_class(operation_class wanted) const {
  std::uint64_t sum = 0;
  for (const auto& [key, count] : requests) {
    // A whole resumable upload is one operation: its end alone answers 200.
    const bool chunk = key.first.starts_with("resumable.") && key.second == 308;
    const bool done = key.second < 400 && !chunk;
    if (done && class_of(key.first) == wanted) sum += count;
  }
  return sum;
}

operation_class class_of(std::string_view verb) noexcept {
  const auto is = [verb](std::string_view name) { return verb == name; };
  const bool lists = verb.find("AccessControls.") != std::string_view::npos;
  const bool beside = lists || verb.starts_with("notifications.");
  if (is("objects.get") || is("objects.media") || is("buckets.get") ||
      is("buckets.storageLayout") || is("buckets.testPermissions") || is("buckets.getIamPolicy") ||
      (beside && (verb.ends_with(".get") || verb.ends_with(".list")))) {
    return operation_class::b;
  }
  const bool storage = verb.starts_with("objects.") || verb.starts_with("buckets.") ||
                       verb.starts_with("multipart.") || is("resumable.chunk") ||
                       is("resumable.status") || is("hmacKeys.create") || is("hmacKeys.list") ||
                       beside;
  const bool ends = (verb.ends_with(".delete") && !beside) || verb.ends_with(".abort");
  return storage && !ends ? operation_class::a : operation_class::free;
}

std::string_view logged_request::header(std::string_view name) const noexcept {
  for (const header_line& h : headers) {
    if (same_name(h.name, name)) return h.value;
  }
  return {};
}

void traffic::record(std::string_view verb, const http_request& request, int status) {
  logged_request line;
  if (log_limit_ > 0) {
    line = {.verb = std::string{verb},
            .method = std::string{request.method},
            .target = std::string{request.target},
            .status = status,
            .headers = {}};
    for (const header_view& h : request.headers) {
      line.headers.push_back({std::string{h.name}, std::string{h.value}});
    }
  }
  const std::lock_guard lock{mutex_};
  // Verbs are literals (call::verb), so the view outlives the map.
  ++requests_[{verb, status}];
  request_bytes_ += request.body.size();
  if (log_limit_ == 0) return;
  if (log_.size() == log_limit_) log_.pop_front();
  log_.push_back(std::move(line));
}

void traffic::connection_opened() {
  accepted_.fetch_add(1, std::memory_order_relaxed);
  open_.fetch_add(1, std::memory_order_relaxed);
}

traffic_counters traffic::counters() const {
  traffic_counters out;
  out.reply_body_bytes = reply_bytes_.load(std::memory_order_relaxed);
  out.connections_accepted = accepted_.load(std::memory_order_relaxed);
  out.connections_open = open_.load(std::memory_order_relaxed);
  const std::lock_guard lock{mutex_};
  for (const auto& [key, count] : requests_) {
    out.requests.emplace(std::pair{std::string{key.first}, key.second}, count);
  }
  out.request_body_bytes = request_bytes_;
  return out;
}

std::vector<logged_request> traffic::log() const {
  const std::lock_guard lock{mutex_};
  return {log_.begin(), log_.end()};
}

}  // namespace emulator
