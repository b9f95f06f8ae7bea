#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

template <class Signature>
class unique_function;

/// Whether an F can be called with Args and gives an R. Where R is void, as nearly everywhere, an
/// expression says so: the classes of std::is_invocable_r take the compiler longer.
template <class F, class R, class... Args>
concept callable_as = requires(F& f, Args&&... args) {
  f(std::forward<Args>(args)...);
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
  requires(!std::is_same_v<std::remove_cvref_t<F>, unique_function> &&
           callable_as<std::decay_t<F>, R, Args...>) unique_function(F&& f) {
    using callable = std::decay_t<F>;
    if constexpr (fits<callable>) {
      ::new (static_cast<void*>(storage_)) callable(std::forward<F>(f));
      table_ = &inline_table<callable>;
    } else {
      ::new (static_cast<void*>(storage_)) callable*(new callable(std::forward<F>(f)));
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
  R operator()(Args... args) { return table_->call(storage_, std::forward<Args>(args)...); }
  /// The same without a move of the arguments, for large ones.
  R pass(Args&&... args) { return table_->call(storage_, std::forward<Args>(args)...); }

 private:
  struct operations {
    R (*call)(void*, Args&&...);
    void (*move)(void* to, void* from) noexcept;
    void (*destroy)(void*) noexcept;
  };
  template <class F>
  static constexpr bool fits = sizeof(F) <= inline_size &&
                               alignof(F) <=
                                   alignof(std::max_align_t) && noexcept(F(std::declval<F>()));
  template <class F>
  static F& at(void* p) noexcept {
    return *std::launder(static_cast<F*>(p));
  }
  /// A callable's result is dropped where R is void.
  template <class F>
  static R invoke(F& f, Args&&... args) {
    if constexpr (std::is_void_v<R>) {
      static_cast<void>(f(std::forward<Args>(args)...));
    } else {
      return f(std::forward<Args>(args)...);
    }
  }
  template <class F>
  static constexpr operations inline_table{
      [](void* p, Args&&... args) -> R { return invoke(at<F>(p), std::forward<Args>(args)...); },
      [](void* to, void* from) noexcept {
        ::new (to) F(std::move(at<F>(from)));
        at<F>(from).~F();
      },
      [](void* p) noexcept { at<F>(p).~F(); }};
  template <class F>
  static constexpr operations heap_table{
      [](void* p, Args&&... args) -> R { return invoke(*at<F*>(p), std::forward<Args>(args)...); },
      [](void* to, void* from) noexcept { ::new (to) F*(at<F*>(from)); },
      [](void* p) noexcept { delete at<F*>(p); }};

  void take(unique_function& other) noexcept {
    if (other.table_ == nullptr) return;
    other.table_->move(storage_, other.storage_);
    table_ = std::exchange(other.table_, nullptr);
  }
  void reset() noexcept {
    if (table_ != nullptr) std::exchange(table_, nullptr)->destroy(storage_);
  }

  const operations* table_{nullptr};
  alignas(std::max_align_t) std::byte storage_[inline_size];
};

}  // namespace dataflux::inline DATAFLUX_ABI
