#pragma once

#include <dataflux/cache/cache_contents.hpp>
#include <dataflux/cache/detail/cache_folder.hpp>
#include <dataflux/cache/detail/cache_index.hpp>
#include <dataflux/cache/detail/cache_record.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/detail/file_error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// One segment, from its begin on. Where a head is damaged the next one is looked for.
class segment_walk {
 public:
  segment_walk(cache_file file, bool compare) : file_(std::move(file)), compare_(compare) {}

  /// False: it was to end.
  bool run(cache_contents& sum, unique_function<bool(const cached_body&)>& each) {
    for (;;) {
      const bytes_view before = read(at_, cache_head_bytes + most_cache_names);
      if (before.size() < cache_head_bytes) return true;
      const auto head = decode_cache_head(before);
      if (!head) {
        at_ += cache_alignment;
        continue;
      }
      if (!tell(*head, before, sum, each)) return false;
      at_ += head->record_bytes();
    }
  }

 private:
  bytes_view read(std::uint64_t at, std::size_t most) {
    memory_.resize(most);
    const ::ssize_t got = file_.read(memory_, at);
    return bytes_view(memory_).first(static_cast<std::size_t>(std::max<::ssize_t>(got, 0)));
  }

  bool damaged(const cache_head& head) {
    constexpr std::uint64_t piece = 1U << 20U;
    crc32c_accumulator all;
    while (all.length() < head.bytes) {
      const auto most = static_cast<std::size_t>(std::min(head.bytes - all.length(), piece));
      const bytes_view some = read(at_ + head.bytes_before_body() + all.length(), most);
      if (some.empty()) return true;
      all.update(some);
    }
    return all.crc() != head.crc32c;
  }

  bool tell(const cache_head& head, bytes_view before, cache_contents& sum,
            unique_function<bool(const cached_body&)>& each) {
    const std::string names(as_text(before.subspan(cache_head_bytes, head.name_bytes)));
    const std::size_t bucket = names.find('\0') + 1;
    const std::size_t object = names.find('\0', bucket) + 1;
    const std::string_view all(names);
    if (bucket == 0 || object == 0) return true;
    cached_body body{.service = all.substr(0, bucket - 1),
                     .bucket = all.substr(bucket, object - bucket - 1),
                     .object = all.substr(object),
                     .generation = head.generation,
                     .offset = head.offset,
                     .bytes = head.bytes,
                     .object_size = head.object_size,
                     .damaged = compare_ && damaged(head)};
    ++sum.bodies;
    sum.bytes += head.bytes;
    sum.damaged += body.damaged ? 1 : 0;
    return !each || each(body);
  }

  const cache_file file_;
  const bool compare_;
  std::uint64_t at_{0};
  std::vector<std::byte> memory_{};
};

inline std::string segment_path(const std::string& folder, std::uint32_t number) {
  return cache_folder_path(folder).append("/").append(segment_name(number));
}

inline std::vector<segment_facts> segments_in_order(int folder) {
  std::vector<segment_facts> all = segments_of(folder);
  std::sort(all.begin(), all.end(),
            [](const segment_facts& a, const segment_facts& b) { return a.number < b.number; });
  return all;
}

}  // namespace detail

DATAFLUX_INLINE result<cache_contents> read_cache_contents(
    const std::string& folder, bool compare, unique_function<bool(const cached_body&)> each) {
  const auto opened = detail::open_cache_folder(folder, false);
  if (!opened) return opened.error();
  cache_contents sum;
  for (const detail::segment_facts& facts : detail::segments_in_order(opened->descriptor())) {
    detail::cache_file file = detail::open_segment(opened->descriptor(), facts.number);
    if (!file && errno == ENOENT) continue;  // it was evicted meanwhile
    if (!file) {
      return detail::file_error(errno, "open", detail::segment_path(folder, facts.number));
    }
    ++sum.segments;
    sum.disk_bytes += facts.bytes;
    if (!detail::segment_walk(std::move(file), compare).run(sum, each)) break;
  }
  return sum;
}

/// The index last: what it has of removed segments leads nowhere.
DATAFLUX_INLINE result<cache_contents> clear_cache(const std::string& folder) {
  const auto opened = detail::open_cache_folder(folder, false);
  if (!opened) return opened.error();
  cache_contents sum;
  for (const detail::segment_facts& facts : detail::segments_in_order(opened->descriptor())) {
    const std::string name = detail::segment_name(facts.number);
    if (::unlinkat(opened->descriptor(), name.c_str(), 0) != 0 && errno != ENOENT) {
      return detail::file_error(errno, "remove", detail::segment_path(folder, facts.number));
    }
    ++sum.segments;
    sum.disk_bytes += facts.bytes;
  }
  ::unlinkat(opened->descriptor(), detail::cache_index_name, 0);
  return sum;
}

}  // namespace dataflux::inline DATAFLUX_ABI
