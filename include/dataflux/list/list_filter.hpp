#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct filter_rules;
}

/// Which objects of a listing are kept. The service has no such filters: unwanted objects are
/// listed, dropped here, and counted (list_dropped).
struct list_filter_options {
  /// Drops objects of size zero whose name ends in "/": folder markers.
  bool skip_markers{true};
  /// Drops objects below either prefix of temporary ones, and scratch objects of clients of S3.
  bool skip_composed{true};
  /// Keeps names that end with this.
  std::string suffix{};
  /// Keeps names that match this ECMAScript expression, bytewise, anywhere in the name (anchor by ^
  /// and $). Empty = every name. Costs about a microsecond a name and more, on the I/O threads;
  /// suffix and match_glob cost next to nothing.
  std::string regex{};
  /// Keeps objects of min_size <= bytes <= max_size.
  std::uint64_t min_size{0};
  std::uint64_t max_size{UINT64_MAX};
  /// Keeps objects of one of these classes, such as "STANDARD"; empty = of all. Needs
  /// extra_columns::storage_class, which fast_list() asks for by itself then.
  std::vector<std::string> storage_classes{};

  bool operator==(const list_filter_options&) const = default;
};

/// How many objects were dropped, each counted for the first reason in this order.
struct list_dropped {
  std::uint64_t markers{0};
  std::uint64_t composed{0};
  std::uint64_t suffix{0};
  std::uint64_t size{0};
  std::uint64_t storage_class{0};
  std::uint64_t regex{0};

  std::uint64_t total() const noexcept;
  list_dropped& operator+=(const list_dropped& other) noexcept;
  bool operator==(const list_dropped&) const = default;
};

/// The options, ready for use.
///
/// Errors: those of create() and apply().
///
/// Threads: a const one may be used by many threads.
///
/// Cost: copies share the compiled filter. apply() takes some nanoseconds a row, and more for
/// list_filter_options::regex.
class list_filter {
 public:
  /// Keeps what the default options keep.
  list_filter();
  /// Errors (invalid_argument): an invalid or too large expression; min_size > max_size; a text
  /// that is not UTF-8, an empty storage class.
  static result<list_filter> create(const list_filter_options& options);

  struct outcome {
    /// Rows that stay, in order. All of them: a slice, without a copy.
    object_columns kept{};
    std::uint64_t bytes{0};  ///< the sum of their sizes
    list_dropped dropped{};
  };
  /// Errors (invalid_argument): a name on which the expression takes more than the library of
  /// regular expressions allows; the message has the name.
  result<outcome> apply(const object_columns& rows) const;

 private:
  explicit list_filter(std::shared_ptr<const detail::filter_rules> made) noexcept
      : rules_(std::move(made)) {}
  std::shared_ptr<const detail::filter_rules> rules_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/list_filter.ipp>
#endif
