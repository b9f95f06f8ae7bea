#include <emulator/reply_writer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

namespace emulator {
namespace {

constexpr std::size_t write_step = std::size_t{1} << 20;
/// Small enough that chunk boundaries fall inside the members of a listing.
constexpr std::size_t chunk_step = std::size_t{16} << 10;

const std::string& date_now() {
  thread_local std::pair<std::time_t, std::string> date;
  const auto now = std::chrono::system_clock::now();
  const std::time_t second = std::chrono::system_clock::to_time_t(now);
  if (date.first != second) date = {second, http_date(now)};
  return date.second;
}

}  // namespace

void reply_writer::start(exchange what, bool keep_alive) {
  what_ = std::move(what);
  head_sent_ = 0;
  body_sent_ = 0;
  make_head(keep_alive);
}

void reply_writer::make_head(bool keep_alive) {
  const http_reply& reply = what_.reply;
  const bool may_have_body = reply.status != 204 && reply.status != 304 && reply.status >= 200;
  has_body_ = may_have_body && !reply.head_only;
  last_chunk_due_ = has_body_ && reply.chunked;
  head_.assign("HTTP/1.1 ").append(std::to_string(reply.status)).append(" ");
  head_.append(reason_phrase(reply.status)).append("\r\n");
  for (const header_line& h : reply.headers) {
    head_.append(h.name).append(": ").append(h.value).append("\r\n");
  }
  if (reply.chunked && may_have_body) {
    head_ += "Transfer-Encoding: chunked\r\n";
  } else if (may_have_body) {
    head_.append("Content-Length: ").append(std::to_string(reply.body.size())).append("\r\n");
  }
  if (reply.header("Date").empty()) head_.append("Date: ").append(date_now()).append("\r\n");
  if (reply.header("Server").empty()) head_.append("Server: UploadServer\r\n");
  if (!keep_alive) head_ += "Connection: close\r\n";
  head_ += "\r\n";
}

reply_writer::step reply_writer::next() {
  buffers_ = {};
  step_body_ = 0;
  const wire_script& wire = what_.wire;
  const std::uint64_t head_end = std::min<std::uint64_t>(head_.size(), wire.head_limit);
  if (head_sent_ < head_end) {
    buffers_[0] = bytes_of(head_).subspan(static_cast<std::size_t>(head_sent_),
                                          static_cast<std::size_t>(head_end - head_sent_));
    head_sent_ = head_end;
  }
  const bool head_whole = head_end == head_.size();
  const std::uint64_t size = has_body_ ? what_.reply.body.size() : 0;
  const std::uint64_t body_end = std::min(size, wire.body_limit);
  if (head_whole && body_sent_ < body_end) {
    const std::size_t most = what_.reply.chunked ? chunk_step : write_step;
    std::uint64_t count = std::min<std::uint64_t>(most, body_end - body_sent_);
    if (wire.drip_bytes > 0) count = std::min<std::uint64_t>(count, wire.drip_bytes);
    const auto data = what_.reply.body.read(body_sent_, static_cast<std::size_t>(count), scratch_);
    if (data.empty()) return step::unreadable;
    frame(data);
    body_sent_ += data.size();
    step_body_ = data.size();
  } else if (head_whole && last_chunk_due_ && body_end == size) {
    last_chunk_due_ = false;
    buffers_[1] = bytes_of("0\r\n\r\n");
  }
  const bool nothing = std::ranges::all_of(buffers_, [](const auto& b) { return b.empty(); });
  if (!nothing) return step::write;
  const bool limited =
      wire.head_limit != wire_script::no_limit || wire.body_limit != wire_script::no_limit;
  return limited ? step::limit : step::finished;
}

void reply_writer::frame(std::span<const std::byte> data) {
  buffers_[2] = data;
  if (!what_.reply.chunked) return;
  std::array<char, 24> size{};
  const int n = std::snprintf(size.data(), size.size(), "%zx\r\n", data.size());
  chunk_head_.assign(size.data(), static_cast<std::size_t>(n));
  buffers_[1] = bytes_of(chunk_head_);
  buffers_[3] = bytes_of("\r\n");
}

}  // namespace emulator
