#include <emulator/content.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace emulator {

std::shared_ptr<std::byte> allocate_buffer(std::size_t size) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  if (size < 2 * huge) {
    return {new std::byte[std::max<std::size_t>(size, 1)], std::default_delete<std::byte[]>()};
  }
  const std::size_t rounded = (size + huge - 1) / huge * huge;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(huge, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  ::madvise(memory, rounded, MADV_HUGEPAGE);
  return {memory, [](std::byte* p) { std::free(p); }};
}

content::content(std::string bytes) : size_(bytes.size()) {
  if (bytes.empty()) return;
  auto held = std::make_shared<const std::string>(std::move(bytes));
  const auto* data = bytes_of(*held).data();
  pieces_.push_back({.start = 0, .size = size_, .owner = std::move(held), .data = data});
}

content::content(std::shared_ptr<const std::byte> buffer, std::uint64_t size) : size_(size) {
  if (size == 0) return;
  const auto* data = buffer.get();
  pieces_.push_back({.start = 0, .size = size, .owner = std::move(buffer), .data = data});
}

content content::of_file(std::string path, std::uint64_t size, std::shared_ptr<const void> owner) {
  content out;
  out.size_ = size;
  if (size == 0) return out;
  out.pieces_.push_back({.start = 0,
                         .size = size,
                         .owner = std::move(owner),
                         .data = nullptr,
                         .path = std::make_shared<const std::string>(std::move(path))});
  return out;
}

content content::slice(std::uint64_t offset, std::uint64_t count) const {
  content out;
  if (offset >= size_) return out;
  const std::uint64_t end = offset + std::min(count, size_ - offset);
  for (const piece& p : pieces_) {
    const std::uint64_t from = std::max(offset, p.start);
    const std::uint64_t to = std::min(end, p.start + p.size);
    if (from >= to) continue;
    piece cut = p;
    const std::uint64_t skipped = from - p.start;
    if (cut.data != nullptr) cut.data += skipped;
    cut.file_offset += skipped;
    cut.start = out.size_;
    cut.size = to - from;
    out.size_ += cut.size;
    out.pieces_.push_back(std::move(cut));
  }
  return out;
}

void content::append(const content& tail) {
  for (piece p : tail.pieces_) {
    p.start = size_;
    size_ += p.size;
    pieces_.push_back(std::move(p));
  }
}

std::span<const std::byte> content::read(std::uint64_t offset, std::size_t limit,
                                         std::vector<std::byte>& scratch) const {
  if (offset >= size_) return {};
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                      [](std::uint64_t o, const piece& p) { return o < p.start; });
  const piece& p = *std::prev(after);
  const std::uint64_t inside = offset - p.start;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(limit, p.size - inside));
  if (p.data != nullptr) return {p.data + inside, count};
  const int file = ::open(p.path->c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  if (scratch.size() < count) scratch.resize(count);
  std::size_t have = 0;
  while (have < count) {
    const auto at = static_cast<off_t>(p.file_offset + inside + have);
    const ssize_t n = ::pread(file, scratch.data() + have, count - have, at);
    if (n <= 0) break;
    have += static_cast<std::size_t>(n);
  }
  ::close(file);
  return {scratch.data(), have};
}

std::string content::file_path() const {
  if (pieces_.size() != 1 || !pieces_.front().path) return {};
  return *pieces_.front().path;
}

std::string content::to_string() const {
  std::string out;
  out.reserve(static_cast<std::size_t>(size_));
  std::vector<std::byte> scratch;
  while (out.size() < size_) {
    const auto chunk = read(out.size(), std::size_t{1} << 20, scratch);
    if (chunk.empty()) break;
    out += text_of(chunk);
  }
  return out;
}

}  // namespace emulator
