#pragma once

#include <dataflux/shard/detail/index_rules.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/detail/shard_sidecar.hpp>
#include <dataflux/shard/shard_index.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

DATAFLUX_INLINE result<std::string> encode_sidecar(std::string_view scheme,
                                                   const std::string& bucket, std::string_view name,
                                                   const packed_shard& shard) {
  shard_index_encoder encoder(
      {.bucket = bucket, .options = options_of(indexing_rules{}), .scheme = std::string{scheme}});
  object_row row;
  row.name = name;
  row.size = shard.size;
  row.crc32c = shard.crc32c;
  std::string out;
  if (auto good = encoder.add(row, shard.layout, out); !good) return std::move(good).error();
  if (auto good = encoder.end(out); !good) return std::move(good).error();
  return out;
}

DATAFLUX_INLINE result<std::uint64_t> samples_of_sidecar(bytes_view entry, const object_row& row) {
  const auto index = shard_index::over(entry, nullptr);
  if (!index) return index.error();
  const error other{errc::failed_precondition,
                    "its index entry, '" + std::string(row.name) + std::string(sidecar_suffix) +
                        "', is of other bytes: the shard was written by somebody else"};
  if (index->shards() != 1) return other;
  const auto shard = index->shard(0);
  if (!shard) return shard.error();
  const object_row& known = shard->object;
  if (known.name != row.name || known.size != row.size) return other;
  if (known.crc32c && row.crc32c && *known.crc32c != *row.crc32c) return other;
  return index->samples();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
