#include <dataflux/bytes.hpp>

#include <fuzz/require.hpp>
#include <fuzz/tar_fuzz.hpp>
#include <support/tar_bytes.hpp>
#include <support/tar_play.hpp>

#include <string>

namespace {

using dataflux::test::play_tar;
using dataflux::test::tar_outcome;

dataflux::shard_rules rules_of(unsigned flags) {
  const auto& lenient = dataflux::test::lenient_rules;
  dataflux::shard_rules rules;
  if ((flags & 1U) != 0) rules.concatenated = lenient.concatenated;
  if ((flags & 2U) != 0) rules.trailing = lenient.trailing;
  if ((flags & 4U) != 0) rules.damaged = lenient.damaged;
  return rules;
}

void seal_all(std::string& bytes) {
  for (std::size_t at = 0; at + 512 <= bytes.size(); at += 512) {
    if (bytes.compare(at + 257, 5, "ustar") == 0) dataflux::test::seal_tar_header(bytes, at);
  }
}

/// Each member has its own place in the archive, and its bytes are those of that place.
void check_places(const tar_outcome& out, std::string_view bytes) {
  std::uint64_t end = 0;
  std::uint64_t left_out = 0;
  for (const auto& member : out.members) {
    const bool is_file = member.type == dataflux::detail::shard::tar_type::file;
    require(member.begin >= end && member.begin % 512 == 0);
    require(member.data >= member.begin + 512 && member.data % 512 == 0);
    require(member.data <= bytes.size() && member.size <= std::uint64_t{1} << 63U);
    end = member.data + member.size;
    left_out += is_file ? 0 : 1;
    if (!is_file) {
      require(member.content.empty() && !member.complete);
    } else {
      require(bytes.substr(member.data).starts_with(member.content));
      require(member.complete == (member.content.size() == member.size));
      require(member.complete || &member == &out.members.back());
    }
  }
  require(out.counts.left_out() == left_out);
  require(out.counts.bytes_behind <= bytes.size());
}

void check_same(const tar_outcome& whole, const tar_outcome& cut) {
  require(whole.members == cut.members && whole.counts == cut.counts);
  require(whole.code == cut.code && whole.failure == cut.failure);
}

}  // namespace

void fuzz_tar(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto flags = static_cast<unsigned>(input[0]);
  std::string bytes{dataflux::as_text(input.subspan(1))};
  if ((flags & 8U) != 0) seal_all(bytes);
  const auto rules = rules_of(flags);
  const tar_outcome whole = play_tar(bytes, rules);
  check_places(whole, bytes);
  check_same(whole, play_tar(bytes, rules, {.seed = flags + 1, .most = 700}));
  check_same(whole, play_tar(bytes, rules, {.seed = flags + 2, .most = 40}));
  tar_outcome skipped = play_tar(bytes, rules, {.seed = flags + 3, .most = 600, .skip = true});
  require(skipped.members.size() == whole.members.size());
  for (std::size_t i = 0; i < whole.members.size(); ++i) {
    skipped.members[i].content = whole.members[i].content;  // what is skipped is not seen
  }
  check_same(whole, skipped);
  // What an archive claims takes no memory before its bytes have come.
  require(whole.most_memory <= 4 * bytes.size() + 4096);
  require(whole.most_memory <= std::size_t{4} << 20U);
}
