#include <support/short_memory.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counts = false;
std::atomic<std::int64_t> seen = 0;
std::atomic<std::int64_t> enough_for = 0;
std::atomic<bool> lasts_everywhere = false;
std::atomic<bool> failed_everywhere = false;
thread_local bool spared = false;

/// Whether this allocation, on whatever thread, is one that fails.
bool fails_here() noexcept {
  if (spared || !counts.load(std::memory_order_relaxed)) return false;
  const std::int64_t before = seen.fetch_add(1);
  const std::int64_t enough = enough_for.load();
  if (before < enough || (before > enough && !lasts_everywhere.load())) return false;
  failed_everywhere.store(true);
  return true;
}

constexpr std::int64_t off = -1;
thread_local std::int64_t left = off;
thread_local bool failed = false;

}  // namespace

dataflux::test::short_memory::short_memory(std::int64_t allocations) noexcept {
  left = allocations;
  failed = false;
}

dataflux::test::short_memory::~short_memory() { left = off; }

dataflux::test::short_memory_everywhere::short_memory_everywhere(std::int64_t allocations,
                                                                 how lasts) noexcept {
  lasts_everywhere.store(lasts == how::from_then_on);
  failed_everywhere.store(false);
  enough_for.store(allocations);
  seen.store(0);
  counts.store(true);
}

dataflux::test::short_memory_everywhere::~short_memory_everywhere() { counts.store(false); }

std::int64_t dataflux::test::short_memory_everywhere::counted() noexcept { return seen.load(); }

bool dataflux::test::short_memory_everywhere::felt() noexcept { return failed_everywhere.load(); }

void dataflux::test::short_memory_everywhere::spare_this_thread(bool has_memory) noexcept {
  spared = has_memory;
}

bool dataflux::test::short_memory::felt() noexcept { return failed; }

bool dataflux::test::short_memory::works() {
  const short_memory now(0);
  try {
    void* volatile memory = ::operator new(1);
    ::operator delete(memory);
  } catch (const std::bad_alloc&) {
  }
  return felt();
}

// All forms of them but the aligned: where a sanitizer has its own, memory of one is not given to
// the other.
void* operator new(std::size_t size) {
  if (fails_here()) throw std::bad_alloc();
  if (left == 0) {
    failed = true;
    throw std::bad_alloc();
  }
  if (left > 0) --left;
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return ::operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*none*/) noexcept {
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& /*none*/) noexcept {
  return ::operator new(size, std::nothrow);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*none*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*none*/) noexcept { std::free(memory); }
