#pragma once

#include <dataflux/error.hpp>

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace dataflux::inline DATAFLUX_ABI {

/// A value or the error that kept it from existing. Member names are std::expected's, which the
/// oldest supported compilers lack; `value()` throws dataflux::exception, and ends a program that
/// is compiled with -fno-exceptions. Converts implicitly from T and from error. Not thread-safe;
/// distinct objects are independent.
///
/// Of a temporary value() gives T itself, not a reference into it, so that what a call gave may
/// stand in a range-for: `for (auto row : fast_list(store, r).value().objects)`.
///
///     if (auto page = store.list_page(request)) use(*page); else log(page.error().to_string());
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;
  using error_type = dataflux::error;

  result(const T& value) : state_(std::in_place_index<0>, value) {}
  result(T&& value) noexcept : state_(std::in_place_index<0>, std::move(value)) {}
  result(dataflux::error e) noexcept : state_(std::in_place_index<1>, std::move(e)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Undefined when !has_value(), as for std::expected.
  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  T& value() & { return check(), **this; }
  const T& value() const& { return check(), **this; }
  T value() && { return check(), std::move(**this); }

  /// Undefined when has_value().
  dataflux::error& error() & noexcept { return *std::get_if<1>(&state_); }
  const dataflux::error& error() const& noexcept { return *std::get_if<1>(&state_); }
  dataflux::error&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

  template <class U>
  T value_or(U&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return has_value() ? std::move(**this) : static_cast<T>(std::forward<U>(other));
  }

  /// `f(value)` must give a result<U>; an error passes through.
  template <class F>
  auto and_then(F&& f) && -> std::invoke_result_t<F, T&&> {
    if (has_value()) return std::forward<F>(f)(std::move(**this));
    return std::move(*this).error();
  }
  /// `f(value)` gives a U; the outcome is result<U>.
  template <class F>
  auto transform(F&& f) && -> result<std::remove_cvref_t<std::invoke_result_t<F, T&&>>> {
    if (has_value()) return std::forward<F>(f)(std::move(**this));
    return std::move(*this).error();
  }

 private:
  void check() const {
    if (!has_value()) detail::raise(error());
  }
  std::variant<T, dataflux::error> state_;
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
