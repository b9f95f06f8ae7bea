#pragma once

#include <dataflux/detail/config.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What a one_of does with a value whose type only its index says.
struct one_of_operations {
  void (*move)(void* to, void* from) noexcept;
  void (*destroy)(void*) noexcept;
};
template <class T>
void move_one(void* to, void* from) noexcept {
  ::new (to) T(static_cast<T&&>(*__builtin_launder(static_cast<T*>(from))));
}
template <class T>
void destroy_one(void* value) noexcept {
  __builtin_launder(static_cast<T*>(value))->~T();
}

/// A value of one of these types, which are all different and move without throwing. Moves only; a
/// moved-from one holds a moved-from value of the same type.
///
/// For private types with many alternatives. Of a std::variant the compiler makes classes and
/// functions for each way in which it is moved, ended and visited, times the alternatives; here two
/// functions for each alternative.
///
/// Threads: distinct objects are independent.
template <class... Types>
class one_of {
 public:
  template <class T>
  requires(std::is_same_v<T, Types> || ...) one_of(T value)
  noexcept : index_(index_of<T>()) {
    ::new (static_cast<void*>(storage_)) T(static_cast<T&&>(value));
  }
  one_of(one_of&& other) noexcept : index_(other.index_) { take(other); }
  one_of& operator=(one_of&& other) noexcept {
    if (this == &other) return *this;
    operations[index_].destroy(storage_);
    index_ = other.index_;
    take(other);
    return *this;
  }
  ~one_of() { operations[index_].destroy(storage_); }

  template <class T>
  bool holds() const noexcept {
    return index_ == index_of<T>();
  }
  /// Undefined when it holds another type.
  template <class T>
  T& get() noexcept {
    return *__builtin_launder(reinterpret_cast<T*>(storage_));
  }
  template <class T>
  const T& get() const noexcept {
    return *__builtin_launder(reinterpret_cast<const T*>(storage_));
  }
  /// Null when it holds another type.
  template <class T>
  T* get_if() noexcept {
    return holds<T>() ? &get<T>() : nullptr;
  }
  /// Calls `f` with the value, and drops what it gives.
  template <class F>
  void visit(F&& f) {
    static_cast<void>((visit_if<Types>(f) || ...));
  }

 private:
  static constexpr one_of_operations operations[] = {{move_one<Types>, destroy_one<Types>}...};

  template <class T>
  static constexpr std::size_t index_of() noexcept {
    static_assert((std::is_same_v<T, Types> || ...), "no alternative");
    std::size_t index = 0;
    static_cast<void>(((std::is_same_v<T, Types> || (++index, false)) || ...));
    return index;
  }
  template <class T, class F>
  bool visit_if(F& f) {
    if (!holds<T>()) return false;
    f(get<T>());
    return true;
  }
  void take(one_of& other) noexcept { operations[index_].move(storage_, other.storage_); }

  std::size_t index_;
  alignas(Types...) std::byte storage_[std::max({sizeof(Types)...})];
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
