#pragma once

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/transfer/detail/told_rows.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t most_told_at_once = 64;

/// As the row of a listing that tells everything but MD5.
inline void append_told(object_columns& to, const object_metadata& m) {
  object_extras extras{.created = m.created,
                       .updated = m.updated,
                       .content_type = m.content_type,
                       .storage_class = m.storage_class};
  codec::json_writer pairs;
  pairs.begin_object();
  for (const auto& [key, value] : m.metadata) pairs.key(key).string(value);
  pairs.end_object();
  if (!m.metadata.empty()) extras.metadata = pairs.text();
  to.append({m.name, m.size, m.generation, m.crc32c}, extras);
}

DATAFLUX_INLINE void told_rows::begin() {
  told_.resize(listed_.rows.size());
  told_.empty() ? idle() : ask_more();
}

DATAFLUX_INLINE void told_rows::ask_more() {
  while (next_ < told_.size() && in_flight() < most_told_at_once && !failed()) {
    const std::size_t row = next_++;
    const stat_request request{.bucket = listed_.bucket,
                               .object = std::string(listed_.rows.name(row)),
                               .limits = limits()};
    store().start(request, then<object_metadata>([row](told_rows& self, auto found) {
                    if (found) {
                      self.told_[row] = *std::move(found);
                    } else if (found.error().code() != errc::not_found) {
                      return self.fail(std::move(found).error());
                    }
                    self.ask_more();
                  }));
  }
}

DATAFLUX_INLINE void told_rows::idle() {
  if (completed()) return;
  if (failed()) return call_coordinator::idle();
  object_columns out{listed_.extra};
  for (const object_metadata& each : told_) {
    if (!each.name.empty()) append_told(out, each);
  }
  complete(std::move(out));
}

DATAFLUX_INLINE void start_told_rows(object_store& store, scheduler& strand, listed_before what,
                                     const call_limits& limits,
                                     object_store::completion<object_columns> done) {
  const std::string bucket = what.bucket;
  std::make_shared<told_rows>(store, strand, std::move(what), limits, std::move(done))
      ->start(bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
