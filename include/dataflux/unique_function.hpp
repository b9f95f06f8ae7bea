#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <new>
#include <type_traits>

namespace dataflux::inline DATAFLUX_ABI {

template <class Signature>
class unique_function;

/// Whether an F can be called with Args and gives an R. Where R is void, as nearly everywhere, an
/// expression says so: the classes of std::is_invocable_r take the compiler longer.
template <class F, class R, class... Args>
concept callable_as = requires(F& f, Args&&... args) {
  f(static_cast<Args&&>(args)...);
}
&&(std::is_void_v<R> || std::is_invocable_r_v<R, F&, Args...>);

/// A move-only callable (std::move_only_function is C++23). Callables of up to 64 bytes that move
/// without throwing are stored inside, with no allocation. Calling an empty one is undefined.
template <class R, class... Args>
class unique_function<R(Args...)> {
 public:
  static constexpr std::size_t inline_size = 64;

  unique_function() noexcept = default;
  unique_function(std::nullptr_t) noexcept {}
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, unique_function> &&
           callable_as<std::decay_t<F>, R, Args...>) unique_function(F&& f) {
    using callable = std::decay_t<F>;
    if constexpr (fits<callable>) {
      ::new (static_cast<void*>(storage_)) callable(static_cast<F&&>(f));
      table_ = &inline_table<callable>;
    } else {
      ::new (static_cast<void*>(storage_)) void*(new callable(static_cast<F&&>(f)));
      table_ = &heap_table<callable>;
    }
  }
  unique_function(unique_function&& other) noexcept { take(other); }
  unique_function& operator=(unique_function&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~unique_function() { reset(); }

  explicit operator bool() const noexcept { return table_ != nullptr; }
  R operator()(Args... args) { return table_->call(storage_, static_cast<Args&&>(args)...); }
  /// The same without a move of the arguments, for large ones.
  R pass(Args&&... args) { return table_->call(storage_, static_cast<Args&&>(args)...); }

 private:
  struct operations {
    R (*call)(void*, Args&&...);
    void (*move)(void* to, void* from) noexcept;
    void (*destroy)(void*) noexcept;
  };
  // A source makes some hundred callables. So what is instantiated for each of them is kept to the
  // functions themselves: no lambda, and no std::forward or std::launder of its type.
  template <class F>
  static constexpr bool fits = sizeof(F) <= inline_size &&
                               alignof(F) <= alignof(std::max_align_t) && requires(F& f) {
    { F(static_cast<F&&>(f)) }
    noexcept;
  };

  template <class F>
  static F& in_place(void* storage) noexcept {
    return *__builtin_launder(static_cast<F*>(storage));
  }
  static void*& on_heap(void* storage) noexcept {
    return *__builtin_launder(static_cast<void**>(storage));
  }
  /// A callable's result is dropped where R is void.
  template <class F>
  static R call_in_place(void* storage, Args&&... args) {
    if constexpr (std::is_void_v<R>) {
      static_cast<void>(in_place<F>(storage)(static_cast<Args&&>(args)...));
    } else {
      return in_place<F>(storage)(static_cast<Args&&>(args)...);
    }
  }
  template <class F>
  static R call_on_heap(void* storage, Args&&... args) {
    return call_in_place<F>(on_heap(storage), static_cast<Args&&>(args)...);
  }
  template <class F>
  static void move_in_place(void* to, void* from) noexcept {
    F& moved = in_place<F>(from);
    ::new (to) F(static_cast<F&&>(moved));
    moved.~F();
  }
  static void move_on_heap(void* to, void* from) noexcept { ::new (to) void*(on_heap(from)); }
  template <class F>
  static void destroy_in_place(void* storage) noexcept {
    in_place<F>(storage).~F();
  }
  template <class F>
  static void destroy_on_heap(void* storage) noexcept {
    delete static_cast<F*>(on_heap(storage));
  }
  template <class F>
  static constexpr operations inline_table{call_in_place<F>, move_in_place<F>, destroy_in_place<F>};
  template <class F>
  static constexpr operations heap_table{call_on_heap<F>, move_on_heap, destroy_on_heap<F>};

  void take(unique_function& other) noexcept {
    if (other.table_ == nullptr) return;
    other.table_->move(storage_, other.storage_);
    table_ = other.table_;
    other.table_ = nullptr;
  }
  void reset() noexcept {
    if (table_ == nullptr) return;
    const operations* const table = table_;
    table_ = nullptr;
    table->destroy(storage_);
  }

  const operations* table_{nullptr};
  alignas(std::max_align_t) std::byte storage_[inline_size];
};

}  // namespace dataflux::inline DATAFLUX_ABI
