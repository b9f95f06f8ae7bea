#include "outcome.hpp"

#include <chrono>
#include <cstdio>

#include "location.hpp"
#include "row_printer.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;

namespace {

constexpr std::string_view past_words[deeds]{"copied", "moved", "removed", "already there"};

std::string counted(std::uint64_t count, std::string_view what, std::string_view many) {
  return std::to_string(count).append(" ").append(count == 1 ? what : many);
}

std::string short_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

}  // namespace

void outcome::expect(std::uint64_t objects, std::uint64_t bytes) noexcept {
  if (bar_ != nullptr) bar_->expect(objects, bytes);
}

void outcome::done(std::uint64_t bytes, std::string_view name) {
  done_.fetch_add(1, std::memory_order_relaxed);
  if (bar_ == nullptr) return;
  bar_->add(1, bytes);
  if (!name.empty()) bar_->finished(name);
}

void outcome::done(const done_item& one, std::uint64_t left) {
  tally& of = tallies_[static_cast<std::size_t>(one.how)];
  of.objects.fetch_add(1, std::memory_order_relaxed);
  of.bytes.fetch_add(one.bytes, std::memory_order_relaxed);
  done(left, one.target);
  if (voice_ != voice::verbose) return;
  std::string line{past_words[static_cast<std::size_t>(one.how)]};
  line.append(" ").append(shown_name(one.source)).append(one.source.empty() ? "" : " -> ");
  note(line.append(shown_name(one.target)).append(", ").append(human_size(one.bytes)));
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
  if (e.code() == errc::cancelled && written == 0) {
    ++untold_;
    return;
  }
  const bool no_space = e.verb() == file_verb && e.code() == errc::resource_exhausted;
  const bool no_service = e.code() == errc::unavailable && e.http_status() == 0;
  // Of a bucket that is read there may be others; one that is written to is that of all.
  const bool no_target =
      e.bucket_missing() && (e.verb() == "objects.insert" || e.verb() == "multipart.initiate" ||
                             e.verb() == "resumable.start");
  if (no_space || no_service || no_target || e.code() == errc::unauthenticated) {
    // The same words a hundred times help nobody.
    if (hopeless_.exchange(true) && written == 0) return;
    print_line("dataflux: " + explain(e, written, right));
    if (end_ != nullptr) end_->request_stop();
    return;
  }
  print_line("dataflux: " + explain(e, written, right));
}

void outcome::note(std::string_view line) {
  if (voice_ == voice::quiet) return;
  print_line("dataflux: " + std::string(line));
}

std::string outcome::end_line(double seconds, std::uint64_t retries) const {
  std::string out;
  const auto add = [&out](std::string_view part) {
    out.append(out.empty() ? "" : "; ").append(part);
  };
  for (std::size_t i = 0; i < deeds; ++i) {
    const std::uint64_t objects = tallies_[i].objects.load(std::memory_order_relaxed);
    const std::uint64_t bytes = tallies_[i].bytes.load(std::memory_order_relaxed);
    if (objects == 0) continue;
    std::string part = counted(objects, "object ", "objects ").append(past_words[i]);
    part.append(", ").append(human_size(bytes)).append(bytes == 1 ? " byte" : " bytes");
    add(part);
  }
  if (out.empty()) out = "nothing done";
  if (failures_ > untold_) add(std::to_string(failures_ - untold_) + " failed");
  add(short_seconds(seconds));
  if (retries > 0) add(counted(retries, "retry", "retries"));
  return out;
}

void outcome::tell_end(std::uint64_t retries) {
  std::uint64_t done = 0;
  for (const tally& each : tallies_) done += each.objects;
  const bool told = failures_ == 1 || failures_ == untold_ || hopeless_;
  if (done == 0 && failures_ > 0 && told) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started_;
  note(end_line(taken.count(), retries));
}

exit_status outcome::status() const {
  std::scoped_lock lock(mutex_);
  if (failures_ == 0) return exit_status::ok;
  if (done_ > 0 && !hopeless_) return exit_status::partial;
  return status_of(*first_);
}

}  // namespace cli
