#pragma once

#include <dataflux/list/listing_changes.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// Goes through a listing and sees to it that it is in order.
class ordered_rows {
 public:
  ordered_rows(const object_columns& rows, bool versions, const char* which)
      : at_(rows.begin()), end_(rows.end()), versions_(versions), which_(which) {
    if (at_ != end_) row_ = *at_;
  }

  bool done() const noexcept { return at_ == end_; }
  const object_row& row() const noexcept { return row_; }
  std::size_t index() const noexcept { return index_; }

  /// False when the row behind is not behind in order.
  bool advance() {
    ++at_;
    ++index_;
    if (done()) return true;
    const object_row last = row_;
    row_ = *at_;
    const int names = last.name.compare(row_.name);
    return names < 0 || (names == 0 && versions_ && last.generation < row_.generation);
  }

  error disorder() const {
    return error{errc::invalid_argument,
                 std::string{"the "}
                     .append(which_)
                     .append(" listing is not in order: row ")
                     .append(std::to_string(index_))
                     .append(" is not behind the one before it; sort the rows by name first")};
  }

 private:
  object_columns::const_iterator at_;
  object_columns::const_iterator end_;
  object_row row_{};
  std::size_t index_{0};
  bool versions_;
  const char* which_;
};

/// Below 0 if `a` comes first, 0 if they are the same object (or version).
inline int compare_rows(const object_row& a, const object_row& b, bool versions) noexcept {
  const int names = a.name.compare(b.name);
  if (names != 0 || !versions || a.generation == b.generation) return names;
  return a.generation < b.generation ? -1 : 1;
}

}  // namespace detail

DATAFLUX_INLINE result<listing_changes> compare_listings(const object_columns& before,
                                                         const object_columns& after,
                                                         bool versions) {
  listing_changes out;
  detail::ordered_rows old{before, versions, "older"};
  detail::ordered_rows now{after, versions, "newer"};
  while (!old.done() || !now.done()) {
    const int order = old.done()   ? 1
                      : now.done() ? -1
                                   : detail::compare_rows(old.row(), now.row(), versions);
    if (order < 0) {
      out.removed.push_back(old.index());
    } else if (order > 0) {
      out.added.push_back(now.index());
    } else if (old.row().generation == now.row().generation) {
      ++out.unchanged;
    } else {
      out.changed.push_back({old.index(), now.index()});
    }
    if (order <= 0 && !old.advance()) return old.disorder();
    if (order >= 0 && !now.advance()) return now.disorder();
  }
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI
