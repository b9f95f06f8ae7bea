#pragma once

#include <dataflux/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

/// A save over a committed set, as checkpoint_set::begin_over() has begun it: what each process
/// that takes part in it has to know, as text where it has to travel.
struct save_over {
  /// Of this save alone: 16 lower-case hexadecimal digits, which are in the names of its members.
  std::string id{};
  /// The last object that the commit replaces, below the prefix, and its generation; empty and 0:
  /// there was none.
  std::string last{};
  std::int64_t last_generation{0};
  /// The manifest that it names, below the prefix: of one generation may be several commits, where
  /// generations are made of the content.
  std::string last_manifest{};
};

/// Errors: invalid_argument that says what is not as begin_over() gives it. Pure.
result<void> validate(const save_over& save);

/// The save as one line of JSON. `save` is a valid one.
std::string to_text(const save_over& save);

/// Reads what to_text() has written, and validates it. Strict: nothing may be missing, unknown or
/// there twice. Errors: invalid_argument; unimplemented for a later version. Pure, thread-safe.
result<save_over> parse_save_over(std::string_view text);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/save_over.ipp>
#endif
