#pragma once

#include <dataflux.h>

#include <dataflux/deadline.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/error.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/encryption_key.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

/// An error as C sees it: the texts that are put together live in it.
struct dataflux_error {
  explicit dataflux_error(dataflux::error e) : what(std::move(e)), text(what.to_string()) {}
  dataflux::error what;
  std::string text;
};

/// What every function of the C ABI goes through. It is the only place that catches.
namespace dataflux_c {

using dataflux::errc;
using dataflux::error;
using dataflux::result;

/// Gives the error away, where somebody wants it.
inline dataflux_status fail(dataflux_error** err, const error& e) noexcept {
  if (err != nullptr) {
    try {
      *err = new dataflux_error(e);
    } catch (...) {
      *err = nullptr;
    }
  }
  return static_cast<dataflux_status>(e.code());
}

/// Memory, threads or descriptors are short, or it is a fault of ours.
inline errc errc_of(const std::exception& e) noexcept {
  const bool short_of_some = dynamic_cast<const std::bad_alloc*>(&e) != nullptr ||
                             dynamic_cast<const std::length_error*>(&e) != nullptr ||
                             dynamic_cast<const std::system_error*>(&e) != nullptr;
  return short_of_some ? errc::resource_exhausted : errc::internal;
}
inline error error_of(const std::exception& e) {
  const bool of_memory =
      errc_of(e) != errc::internal && dynamic_cast<const std::system_error*>(&e) == nullptr;
  return error(errc_of(e), of_memory ? "out of memory" : e.what());
}

/// Runs `body`, which gives a result<void>, and turns whatever becomes of it into a status.
template <class Body>
dataflux_status guarded(dataflux_error** err, Body&& body) noexcept {
  try {
    const result<void> outcome = body();
    if (outcome) return DATAFLUX_OK;
    return fail(err, outcome.error());
  } catch (const std::exception& e) {
    try {
      return fail(err, error_of(e));
    } catch (...) {
      return static_cast<dataflux_status>(errc_of(e));
    }
  } catch (...) {
    return DATAFLUX_INTERNAL;
  }
}

/// For steps that run on threads of the library, which no exception may leave.
template <class T, class Body>
result<T> contained(Body&& body) {
  try {
    return body();
  } catch (const std::exception& e) {
    return error_of(e);
  }
}

/// Does `body`, which throws nothing, at the end of the scope, however that comes.
template <class Body>
class at_end {
 public:
  explicit at_end(Body body) noexcept : body_(std::move(body)) {}
  at_end(const at_end&) = delete;
  at_end& operator=(const at_end&) = delete;
  ~at_end() { body_(); }

 private:
  Body body_;
};

/// Where nothing can be answered.
template <class Body>
void quietly(Body&& body) noexcept {
  try {
    body();
  } catch (...) {
  }
}

inline error missing(const char* what) {
  return error(errc::invalid_argument, std::string(what) + " is NULL");
}

inline error closed_error(const char* what) {
  return error(errc::failed_precondition, std::string("the ") + what + " was closed");
}

/// Options of the caller's version: what that does not know is 0 here. Errors: invalid_argument for
/// a size that cannot be, and where a later version's member is set, which would be passed over.
template <class Options>
result<Options> options_of(const Options* given) {
  Options known{};
  if (given == nullptr) return known;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  // What ends within a member is of no version.
  if (size < sizeof size || size % alignof(Options) != 0) {
    return error(errc::invalid_argument,
                 "struct_size of the options is " + std::to_string(size) + ": set it to sizeof");
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof known; i < size; ++i) {
    if (bytes[i] == 0) continue;
    return error(errc::invalid_argument,
                 "the options are of a later version, and use what this library has not");
  }
  std::memcpy(&known, given, std::min(size, sizeof known));
  return known;
}

/// `size` is what the struct has in the caller's version: nothing behind that is his.
template <class Options>
void init_options(Options* options, std::size_t size) noexcept {
  if (options == nullptr || size < sizeof options->struct_size) return;
  std::memset(static_cast<void*>(options), 0, size);
  options->struct_size = size;
}

inline std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

/// For dataflux_text_free().
inline char* text_for_caller(const std::string& text) {
  auto* const out = new char[text.size() + 1];
  std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

/// A key of the caller's, of 32 bytes.
inline dataflux::bytes_view bytes_at(const std::uint8_t* key) noexcept {
  return {reinterpret_cast<const std::byte*>(key), dataflux::encryption_key::length};
}

inline dataflux::duration duration_of(std::int64_t ns) noexcept {
  return std::chrono::duration_cast<dataflux::duration>(
      std::chrono::nanoseconds(std::max<std::int64_t>(ns, 0)));
}
/// How long to wait: negative is without end.
inline dataflux::duration wait_of(std::int64_t ns) noexcept {
  return ns < 0 ? dataflux::duration::max() : duration_of(ns);
}

/// Base of handles: in the child of a fork they answer no more.
struct handle {
  const dataflux::detail::process_stamp born{};
};
/// One whose state others share: freeing it ends that.
template <class State>
struct owning_handle : handle {
  explicit owning_handle(std::shared_ptr<State> s) noexcept : state(std::move(s)) {}
  ~owning_handle() { state->end(); }
  owning_handle(const owning_handle&) = delete;
  owning_handle& operator=(const owning_handle&) = delete;
  const std::shared_ptr<State> state;
};
template <class Handle>
result<void> usable(const Handle* h, const char* what) {
  if (h == nullptr) return missing(what);
  if (!h->born.inherited()) return {};
  return error(
      errc::failed_precondition,
      std::string("the ") + what + " was made before a fork: the child of a fork makes its own");
}
/// For functions that answer nothing: in a child they leave the parent's handles alone.
template <class Handle, class Body>
void if_own(const Handle* h, Body&& body) noexcept {
  if (h == nullptr || h->born.inherited()) return;
  quietly(std::forward<Body>(body));
}
/// The end of a handle.
template <class Handle>
void free_handle(Handle* h) noexcept {
  if_own(h, [h] { delete h; });
}

}  // namespace dataflux_c
