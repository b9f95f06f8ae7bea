#pragma once

#include <dataflux/detail/config.hpp>

#include <atomic>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Base of objects that are shared by counting inside the object, so that a steady stream of
/// requests can recycle them instead of allocating. A new object has one reference.
class ref_counted {
 public:
  ref_counted() noexcept = default;
  ref_counted(const ref_counted&) = delete;
  ref_counted& operator=(const ref_counted&) = delete;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) last_reference_gone();
  }

 protected:
  virtual ~ref_counted() = default;
  /// Destroys the object, or puts it back into its pool.
  virtual void last_reference_gone() noexcept { delete this; }
  /// For a pool that hands the object out again.
  void revive() noexcept { references_.store(1, std::memory_order_relaxed); }

 private:
  std::atomic<int> references_{1};
};

/// Owning pointer to a ref_counted object. Thread-safe as far as the count goes.
template <class T>
class ref {
 public:
  ref() noexcept = default;
  /// Takes over the reference that `p` holds already (from new, or from a pool).
  static ref adopt(T* p) noexcept { return ref(p); }
  /// Adds a reference.
  static ref share(T* p) noexcept {
    if (p != nullptr) p->retain();
    return ref(p);
  }
  ref(const ref& other) noexcept : p_(other.p_) {
    if (p_ != nullptr) p_->retain();
  }
  ref(ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> ref(ref<U> other)
  noexcept : p_(other.leak()) {}
  ref& operator=(ref other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~ref() {
    if (p_ != nullptr) p_->release();
  }

  T* get() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  T* operator->() const noexcept { return p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  /// Gives the reference away.
  T* leak() noexcept { return std::exchange(p_, nullptr); }

 private:
  explicit ref(T* p) noexcept : p_(p) {}
  T* p_{nullptr};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
