#include <dataflux/bytes.hpp>

#include <fuzz/foreign_index_fuzz.hpp>
#include <fuzz/shard_decoder_fuzz.hpp>
#include <fuzz/shard_indexer_fuzz.hpp>
#include <support/catch.hpp>
#include <support/mutations.hpp>
#include <support/tar_bytes.hpp>
#include <support/vector_file.hpp>

#include <random>
#include <string>

namespace shard_fuzz_test {

TEST_CASE("shard_indexer_fuzz: archives and mutations of them keep the invariants", "[shard]") {
  std::mt19937 random{7};
  for (const char* name : {"plain", "dirs", "links", "gnu_long", "pax_path_utf8", "interleaved",
                           "meta", "no_ext_between", "dup_field", "concat", "trailing_garbage",
                           "trunc_padding", "zero_size", "gnu_long_then_pax", "base256"}) {
    CAPTURE(name);
    const std::string bytes = vector_file(std::string("tar/odd/") + name + ".tar");
    for (unsigned flags = 0; flags < 32; ++flags) {
      std::string input(1, static_cast<char>(flags));
      fuzz_shard_indexer(dataflux::as_bytes(input + bytes));
      std::string changed = input + bytes;
      for (int i = 0; i < 3; ++i) {
        changed[1 + random() % (changed.size() - 1)] = static_cast<char>(random());
        fuzz_shard_indexer(dataflux::as_bytes(changed));
        fuzz_shard_indexer(dataflux::as_bytes(changed.substr(0, 1 + random() % changed.size())));
      }
    }
  }
}

TEST_CASE("shard_decoder_fuzz: shards and mutations of them keep the invariants", "[shard]") {
  std::mt19937 random{8};
  for (const char* name : {"plain.tar", "plain.tar.gz", "plain.tar.zst", "two_members.tgz",
                           "trunc.tar.gz", "plain.tar.xz", "plain.tar.bz2", "plain.tar.lz4"}) {
    CAPTURE(name);
    const std::string bytes = vector_file(std::string("tar/odd/") + name);
    fuzz_shard_decoder(dataflux::as_bytes(bytes));
    for (int i = 0; i < 200; ++i) {
      std::string changed = bytes.substr(0, random() % (bytes.size() + 1));
      if (!changed.empty()) changed[random() % changed.size()] = static_cast<char>(random());
      fuzz_shard_decoder(dataflux::as_bytes(changed));
    }
  }
}

TEST_CASE("foreign_index_fuzz: indexes and mutations of them keep the invariants", "[shard]") {
  const auto seed = [](char flags, const std::string& name) {
    return std::string(1, flags) + vector_file("index/" + name);
  };
  const std::string dali = seed(80, "dali/s0.idx");
  const std::string webshart = seed(80, "webshart/dirs.json");
  const std::string wids = seed(80, "wids/shardindex.json").substr(0, 300);
  const std::string aistore = seed(80, "aistore/gnu_long.tar.aisidx");
  const std::string energon = seed(1, "energon/s0.tar.idx");
  for_each_mutation({dali, webshart, wids, aistore, energon}, 200, fuzz_foreign_index);
}

}  // namespace shard_fuzz_test
