#include <dataflux/shard/foreign_index.hpp>

#include <fuzz/foreign_index_fuzz.hpp>
#include <fuzz/require.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

void check_import(const dataflux::foreign_index& from, std::uint64_t size) {
  dataflux::object_columns rows;
  for (const auto& shard : from.shards) {
    if (!shard.name.empty() && shard.name.find('/') == std::string::npos) {
      rows.append(shard.name, shard.size.value_or(size), 7, std::nullopt);
    }
  }
  std::vector<dataflux::foreign_index> all;
  all.push_back(from);
  const auto index = dataflux::import_foreign_index("bkt", rows, all);
  if (!index) return;
  // An index that was made can be read.
  for (std::uint64_t i = 0; i < index->samples(); ++i) {
    const auto sample = index->sample(i).value();
    require(sample.members != 0 && !sample.crc32c);
  }
  for (std::uint64_t i = 0; i < index->shards(); ++i) {
    require(dataflux::energon_index(*index, i).value().size() ==
            8 * (index->shard(i)->samples + 1));
  }
}

}  // namespace

void fuzz_foreign_index(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto flags = static_cast<unsigned>(input[0]);
  const auto from =
      dataflux::read_foreign_index((flags & 1U) != 0 ? "s0.tar.idx" : "s0.x", input.subspan(1));
  if (!from) return;
  std::size_t members = 0;
  for (const auto& shard : from->shards) {
    members += shard.members.size() + shard.places.size();
    for (std::size_t i = 1; i < shard.members.size(); ++i) {
      require(shard.members[i - 1].offset <= shard.members[i].offset);
    }
  }
  require(members <= input.size());
  check_import(*from, std::uint64_t{flags} << 8U);
}
