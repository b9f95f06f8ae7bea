#pragma once

#include <dataflux/store/object_chunk.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cli {

struct row_style {
  /// Size, time and a total.
  bool details{false};
  /// Sizes in units, for people.
  bool human{false};
  /// One JSON object a line instead.
  bool json{false};
  /// name#generation.
  bool generations{false};
};

/// "512", "1.5K", "20.0M": powers of 1024, one digit behind the point.
std::string human_size(std::uint64_t bytes);

/// Writes a listing to standard output, a line for each row.
class row_printer {
 public:
  explicit row_printer(const row_style& how) : how_(how) {}
  row_printer(const row_style& how, std::string_view scheme, std::string bucket)
      : row_printer(how) {
    enter(scheme, std::move(bucket));
  }

  /// What comes next is in that bucket.
  void enter(std::string_view scheme, std::string bucket) {
    scheme_ = scheme;
    bucket_ = std::move(bucket);
  }
  void folder(const std::string& prefix);
  /// `extras` are JSON's; lines have the time alone.
  void object(const dataflux::object_row& row, const dataflux::object_extras& extras);
  /// With the total, where details are wanted and all was listed.
  void finish(bool whole = true);

  std::uint64_t lines() const noexcept { return lines_; }
  /// Standard output takes no more.
  bool broken() const noexcept { return broken_; }

 private:
  void columns(std::uint64_t size, const std::optional<dataflux::timestamp>& created);
  void add_json(std::string_view key, const std::string& text);
  void add_json(const dataflux::object_extras& extras);
  void end_line();
  void flush();

  const row_style how_;
  std::string_view scheme_{};
  std::string bucket_{};
  std::string out_{};
  std::uint64_t lines_{0};
  std::uint64_t objects_{0};
  std::uint64_t bytes_{0};
  bool broken_{false};
};

}  // namespace cli
