#include <support/short_memory.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::int64_t plenty = -1;
thread_local std::int64_t left = plenty;
thread_local bool failed = false;

}  // namespace

dataflux::test::short_memory::short_memory(std::int64_t allocations) noexcept {
  left = allocations;
  failed = false;
}

dataflux::test::short_memory::~short_memory() { left = plenty; }

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
