#pragma once

#include <dataflux/download/detail/piece_source.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A listing, and how far it was taken.
struct listed_requests {
  object_columns objects;
  object_columns::const_iterator next;
  object_columns::const_iterator last;
};

/// The name stays where it is, and `owner` with it.
inline void fill_piece(const object_row& row, const std::shared_ptr<const void>& owner,
                       get_piece& into) {
  into.name = object_name(row.name, owner);
  into.request.generation = row.generation;
  into.request.object_size = row.size;
  into.request.crc32c = row.crc32c;
}

DATAFLUX_INLINE void fill_piece(get_request request, get_piece& into) {
  into.name = object_name(std::move(request.object));
  into.request = std::move(request);
}

DATAFLUX_INLINE piece_source pieces_of(get_source source) {
  return [source = std::move(source)](get_piece& into) mutable {
    auto request = source();
    if (!request) return taken::ended;
    fill_piece(std::move(*request), into);
    return taken::some;
  };
}

DATAFLUX_INLINE piece_source pieces_of(std::vector<get_request> requests) {
  return [all = std::move(requests), next = std::size_t{0}](get_piece& into) mutable {
    if (next == all.size()) return taken::ended;
    fill_piece(std::move(all[next++]), into);
    return taken::some;
  };
}

DATAFLUX_INLINE piece_source pieces_of(object_columns objects) {
  auto rows = std::make_shared<listed_requests>();
  rows->objects = std::move(objects);
  rows->next = rows->objects.begin();
  rows->last = rows->objects.end();
  return [rows = std::move(rows)](get_piece& into) {
    if (rows->next == rows->last) return taken::ended;
    const object_row row = *rows->next;
    ++rows->next;
    fill_piece(row, rows, into);
    return taken::some;
  };
}

DATAFLUX_INLINE void fill_piece(std::uint64_t row, const std::shared_ptr<const get_rows>& from,
                                get_piece& into) {
  if (row < from->objects.size()) {
    return fill_piece(from->objects[static_cast<std::size_t>(row)], from, into);
  }
  into.refused = error(errc::out_of_range, "row " + std::to_string(row) + " of a listing of " +
                                               std::to_string(from->objects.size()));
}

DATAFLUX_INLINE piece_source pieces_of(object_columns objects, std::vector<std::uint64_t> rows) {
  return [from = std::make_shared<const get_rows>(get_rows{std::move(objects)}),
          rows = std::move(rows), next = std::size_t{0}](get_piece& into) mutable {
    if (next == rows.size()) return taken::ended;
    fill_piece(rows[next++], from, into);
    return taken::some;
  };
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
