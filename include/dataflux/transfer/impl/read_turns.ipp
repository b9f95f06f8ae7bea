#pragma once

#include <dataflux/transfer/detail/read_turns.hpp>

#include <new>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE void read_turns::join(member& m) {
  if (m.place != 0) return;
  m.place = ++last_;
  if (m.entry.empty()) {
    try {
      line_.emplace(key_of(m), &m);
    } catch (const std::bad_alloc&) {
      m.place = 0;
      throw;
    }
  } else {
    m.entry.key() = key_of(m);
    line_.insert(std::move(m.entry));
  }
}

DATAFLUX_INLINE void read_turns::leave(member& m) noexcept {
  if (m.place == 0) return;
  m.entry = line_.extract(key_of(m));
  m.place = 0;
}

DATAFLUX_INLINE void read_turns::started(member& m) {
  change(m, m.under_way + 1, m.place == 0 ? 0 : ++last_);
}

DATAFLUX_INLINE void read_turns::ended(member& m) { change(m, m.under_way - 1, m.place); }

DATAFLUX_INLINE void read_turns::change(member& m, std::size_t under_way, std::uint64_t place) {
  const bool waits = m.place != 0;
  auto entry = waits ? line_.extract(key_of(m)) : decltype(line_)::node_type{};
  m.under_way = under_way;
  m.place = place;
  if (!waits) return;
  entry.key() = key_of(m);
  line_.insert(std::move(entry));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
