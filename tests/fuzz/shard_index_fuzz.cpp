#include <dataflux/shard/shard_index.hpp>

#include <fuzz/block_file_copy.hpp>
#include <fuzz/require.hpp>
#include <fuzz/shard_index_fuzz.hpp>

#include <algorithm>

namespace shard_index_body {
namespace {

void read_sample(const dataflux::shard_index& index, std::uint64_t i) {
  const auto sample = index.sample(i);
  if (!sample) return;
  const auto shard = index.shard(sample->shard).value();
  require(shard.first_sample <= i && i - shard.first_sample < shard.samples);
  require(sample->offset <= shard.object.size);
  require(sample->size <= shard.object.size - sample->offset);
  require(sample->members != 0);
  std::uint64_t free = sample->offset;
  std::size_t sum = 0;
  for (std::size_t k = 0; k < sample->members; ++k) {
    const auto member = sample->member(k);
    sum += static_cast<std::size_t>(std::count(member.field.begin(), member.field.end(), 'a'));
    require(member.offset >= free);
    require(member.size <= shard.object.size - member.offset);
    free = member.offset + member.size;
  }
  require(sum < static_cast<std::size_t>(-1));
  require(free <= sample->offset + sample->size);
}

void read_all(const fuzz::block_file_copy& copy) {
  const auto index = dataflux::shard_index::over(copy.bytes(), nullptr);
  if (!index) return;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(index->samples(), 300); ++i) {
    read_sample(*index, i);
  }
  if (index->samples() != 0) read_sample(*index, index->samples() - 1);
  const auto rows = index->shard_rows();
  require(!rows || rows->size() == index->shards());
  const auto found = index->find("a");
  if (!found) return;
  for (const std::uint64_t i : *found) {
    require(index->sample(i).value().key_hash == dataflux::shard_index::hash_of("a"));
  }
}

}  // namespace
}  // namespace shard_index_body

void fuzz_shard_index(std::span<const std::byte> input) {
  fuzz::block_file_copy copy{input};
  shard_index_body::read_all(copy);
  copy.make_good(48);
  shard_index_body::read_all(copy);
}
