#pragma once

#include <dataflux/error.hpp>

#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// A value, or the error instead of it. Member names are std::expected's, which the oldest
/// supported compilers lack. Converts implicitly from T and from error.
///
///     if (auto page = store.list_page(request)) use(*page); else log(page.error().to_string());
///
/// Errors: value() throws dataflux::exception if there is no value, and ends a program that is
/// compiled with -fno-exceptions.
///
/// Lifetime: value() of a temporary returns T itself, not a reference, so that a call's result may
/// stand in a range-for: `for (auto row : fast_list(store, r).value().objects)`.
///
/// Threads: distinct objects are independent.
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;
  using error_type = dataflux::error;

  result(const T& value) : value_(value), has_value_(true) {}
  result(T&& value) noexcept : value_(std::move(value)), has_value_(true) {}
  result(dataflux::error e) noexcept : error_(std::move(e)), has_value_(false) {}
  /// A value made where it is going to be.
  template <class... Args>
  explicit result(std::in_place_t, Args&&... args)
      : value_(std::forward<Args>(args)...), has_value_(true) {}
  result(const result& other) requires(std::is_copy_constructible_v<T>)
      : has_value_(other.has_value_) {
    if (has_value_) {
      ::new (static_cast<void*>(std::addressof(value_))) T(other.value_);
    } else {
      ::new (static_cast<void*>(&error_)) dataflux::error(other.error_);
    }
  }
  result(result&& other) noexcept { take(other); }
  result& operator=(const result& other) requires(std::is_copy_constructible_v<T>) {
    if (this != &other) *this = result(other);
    return *this;
  }
  result& operator=(result&& other) noexcept {
    if (has_value_ && other.has_value_) {
      value_ = std::move(other.value_);
    } else if (this != &other) {
      result taken(std::move(other));  // `other` may be part of the value that ends here
      end();
      take(taken);
    }
    return *this;
  }
  ~result() { end(); }

  bool has_value() const noexcept { return has_value_; }
  explicit operator bool() const noexcept { return has_value_; }

  /// Undefined when !has_value(), as for std::expected.
  T& operator*() & noexcept { return value_; }
  const T& operator*() const& noexcept { return value_; }
  T&& operator*() && noexcept { return std::move(value_); }
  T* operator->() noexcept { return std::addressof(value_); }
  const T* operator->() const noexcept { return std::addressof(value_); }

  T& value() & { return check(), **this; }
  const T& value() const& { return check(), **this; }
  T value() && { return check(), std::move(**this); }

  /// Undefined when has_value().
  dataflux::error& error() & noexcept { return error_; }
  const dataflux::error& error() const& noexcept { return error_; }
  dataflux::error&& error() && noexcept { return std::move(error_); }

  template <class U>
  T value_or(U&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return has_value() ? std::move(**this) : static_cast<T>(std::forward<U>(other));
  }

  /// `f(value)` must give a `result<U>`; an error passes through.
  template <class F>
  auto and_then(F&& f) && -> std::invoke_result_t<F, T&&> {
    if (has_value()) return std::forward<F>(f)(std::move(**this));
    return std::move(*this).error();
  }
  /// `f(value)` gives a U; the outcome is `result<U>`.
  template <class F>
  auto transform(F&& f) && -> result<std::remove_cvref_t<std::invoke_result_t<F, T&&>>> {
    if (has_value()) return std::forward<F>(f)(std::move(**this));
    return std::move(*this).error();
  }

 private:
  void check() const {
    if (!has_value()) detail::raise(error());
  }
  void take(result& other) noexcept {
    has_value_ = other.has_value_;
    if (has_value_) {
      ::new (static_cast<void*>(std::addressof(value_))) T(std::move(other.value_));
    } else {
      ::new (static_cast<void*>(&error_)) dataflux::error(std::move(other.error_));
    }
  }
  void end() noexcept {
    if (has_value_) {
      value_.~T();
    } else {
      error_.~error_type();
    }
  }

  // Not a std::variant: of all that a source compiles, a hundred of those cost most.
  union {
    T value_;
    dataflux::error error_;
  };
  bool has_value_;
};

template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;
  using error_type = dataflux::error;

  result() noexcept = default;
  result(dataflux::error e) noexcept : error_(std::move(e)) {}

  bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  void operator*() const noexcept {}
  void value() const {
    if (!has_value()) detail::raise(*error_);
  }
  dataflux::error& error() & noexcept { return *error_; }
  const dataflux::error& error() const& noexcept { return *error_; }
  dataflux::error&& error() && noexcept { return std::move(*error_); }

 private:
  std::optional<dataflux::error> error_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI
