#pragma once

#include <dataflux/bytes.hpp>

#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// A record of a pax header. An empty value takes back what an earlier header said.
struct pax_record {
  std::string_view key;
  std::string_view value;
};

/// The records of a pax header, one after another. Each is `LENGTH KEY=VALUE` and a line feed; the
/// decimal length counts all of it, itself included, so a value may hold any byte.
///
///     pax_records records{body};
///     while (const auto record = records.next()) use(*record);
///     if (records.broken()) ...
///
/// NULs may fill the end of the body, as Python's tarfile accepts it.
///
/// Errors: broken(). Lifetime: records point into the body. Threads: none of its own. Cost: linear
/// in the number of records; no allocation.
class pax_records {
 public:
  explicit pax_records(std::string_view body) noexcept : rest_(body) {}

  /// Nothing at the end, and from a record on that is not well-formed.
  std::optional<pax_record> next() noexcept;

  /// A record was not well-formed.
  bool broken() const noexcept { return broken_; }

 private:
  std::optional<pax_record> break_off() noexcept;

  std::string_view rest_;
  bool broken_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/pax_records.ipp>
#endif
