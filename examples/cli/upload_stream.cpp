#include <dataflux/store/object_store.hpp>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <future>

#include "again.hpp"
#include "content_type.hpp"
#include "open_upload.hpp"
#include "upload.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

constexpr std::size_t parts_in_flight = 6;
constexpr std::uint32_t most_parts = 10'000;

/// Fills `into`, or less at the end of the input. Looks ten times a second whether to stop, since
/// nothing else ends a wait for input.
result<std::size_t> fill(int descriptor, dataflux::bytes_span into, const std::stop_token& stop) {
  std::size_t used = 0;
  while (used < into.size()) {
    if (stop.stop_requested()) return error(errc::cancelled, "stopped");
    ::pollfd input{descriptor, POLLIN, 0};
    if (::poll(&input, 1, 100) == 0) continue;
    const auto got = ::read(descriptor, into.data() + used, into.size() - used);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return file_error("input", errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  return used;
}

class stream_upload {
 public:
  stream_upload(job& from, int descriptor, const std::string& bucket, const std::string& object)
      : from_(from), descriptor_(descriptor), bucket_(bucket), object_(object) {}

  result<void> run(dataflux::buffer first, std::size_t used) {
    auto made = begin();
    if (!made) return made.error();
    begun_ = std::move(*made);
    auto sent = send_all(std::move(first), used);
    if (sent) {
      auto whole = from_.store.multipart_complete({.bucket = bucket_,
                                                   .object = object_,
                                                   .upload_id = begun_.upload_id,
                                                   .parts = std::move(parts_),
                                                   .mark = begun_.mark,
                                                   .limits = {.stop = from_.stop}});
      if (whole) return {};
      sent = whole.error();
    }
    under_way_.clear();  // cancels and waits: an abort must not cross a part
    std::promise<void> aborted;
    abort_upload(from_, bucket_, object_, begun_.upload_id, [&aborted] { aborted.set_value(); });
    aborted.get_future().wait();
    return sent;
  }

 private:
  struct part {
    dataflux::buffer memory;
    std::size_t size;
    dataflux::operation<dataflux::uploaded_part> sent;
  };

  result<dataflux::multipart_upload> begin() {
    std::promise<result<dataflux::multipart_upload>> end;
    begin_upload(from_,
                 {.bucket = bucket_,
                  .object = object_,
                  .content_type = std::string(content_type_of(object_))},
                 system_now(), [&end](auto made) { end.set_value(std::move(made)); });
    return end.get_future().get();
  }

  result<void> send_all(dataflux::buffer memory, std::size_t used) {
    for (std::uint32_t number = 1; used > 0; ++number) {
      if (number > most_parts) {
        return error(errc::out_of_range,
                     "the input is longer than 600 GiB; write it to a file and copy that");
      }
      const dataflux::bytes_view bytes{memory.data(), used};
      under_way_.push_back({std::move(memory), used,
                            from_.store.submit_upload_part({.bucket = bucket_,
                                                            .object = object_,
                                                            .upload_id = begun_.upload_id,
                                                            .part_number = number,
                                                            .data = bytes,
                                                            .limits = {.stop = from_.stop}})});
      if (under_way_.size() == parts_in_flight) {
        if (auto oldest = finish_oldest(); !oldest) return oldest;
      }
      const auto size = static_cast<std::size_t>(stream_part_size(number + 1));
      memory = from_.memory.acquire(size);
      const auto got = fill(descriptor_, memory.span().first(size), from_.stop);
      if (!got) return got.error();
      used = *got;
    }
    while (!under_way_.empty()) {
      if (auto oldest = finish_oldest(); !oldest) return oldest;
    }
    return {};
  }

  result<void> finish_oldest() {
    auto sent = under_way_.front().sent.take();
    if (!sent) return std::move(sent).error();
    from_.report.moved(under_way_.front().size);
    parts_.push_back(std::move(*sent));
    under_way_.pop_front();
    return {};
  }

  job& from_;
  const int descriptor_;
  const std::string& bucket_;
  const std::string& object_;
  dataflux::multipart_upload begun_{};
  std::vector<dataflux::uploaded_part> parts_{};
  std::deque<part> under_way_{};
};

}  // namespace

result<void> upload_stream(job& from, int descriptor, const std::string& bucket,
                           const std::string& object) {
  const auto size = static_cast<std::size_t>(stream_part_size(1));
  dataflux::buffer first = from.memory.acquire(size);
  const auto used = fill(descriptor, first.span().first(size), from.stop);
  if (!used) return used.error();
  if (*used == size) {
    return stream_upload(from, descriptor, bucket, object).run(std::move(first), *used);
  }
  const auto made =
      run_again(from, dataflux::insert_request{.bucket = bucket,
                                               .object = object,
                                               .data = {first.data(), *used},
                                               .content_type = std::string(content_type_of(object)),
                                               .limits = {.stop = from.stop}});
  if (!made) return made.error();
  from.report.moved(*used);
  return {};
}

}  // namespace cli
