/// 03: sharded state: writes shards in parallel, commits them together, restores and compares them,
/// and keeps only the newest set. Ranks in different processes do the same: they pass their records
/// as text.
///
///     03_checkpoint_set BUCKET PREFIX

#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/gcs/client.hpp>

#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t ranks = 4;

std::string state_of(std::size_t rank) {
  return std::string(std::size_t{1} << 20U, static_cast<char>('a' + rank));
}

/// What each rank does; its record, as text, goes to the one that commits.
dataflux::result<std::string> save(const dataflux::checkpoint_set& set, std::size_t rank) {
  auto writer = set.open_member("rank-" + std::to_string(rank));
  if (!writer) return writer.error();
  const std::string state = state_of(rank);
  if (auto good = writer->write(dataflux::as_bytes(state)); !good) return good.error();
  const auto made = writer->commit();
  if (!made) return made.error();
  return set.record_of(*made).transform([](const auto& record) { return to_text(record); });
}

dataflux::result<dataflux::committed_set> save_all(const dataflux::checkpoint_set& set) {
  // Where a save of this step was killed, what it has left would be in the way.
  if (auto room = set.begin(dataflux::unfinished_members::replace); !room) return room.error();
  std::vector<dataflux::result<std::string>> texts(ranks, std::string());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&set, &texts, rank] { texts[rank] = save(set, rank); });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<dataflux::member_record> records;
  records.reserve(ranks);
  for (const auto& text : texts) {
    records.push_back(dataflux::parse_member_record(text.value()).value());
  }
  return set.commit(std::move(records));
}

void run(const std::string& bucket, const std::string& prefix) {
  const auto client = dataflux::gcs::client::create().value();
  const dataflux::transfer_context context(*client);
  for (const char* step : {"/step-9", "/step-10"}) {
    const dataflux::checkpoint_set set(context, bucket, prefix + step);
    std::printf("%s\n", set.open() ? "there already" : "not there yet");
    const auto made = save_all(set).value();
    std::printf("%llu members, %llu bytes\n", static_cast<unsigned long long>(made.members),
                static_cast<unsigned long long>(made.bytes));
  }
  const auto saved = dataflux::checkpoint_set(context, bucket, prefix + "/step-10").open().value();
  auto shard = saved.open("rank-2").value();
  std::string state(shard.size(), '\0');
  shard.read_all(std::as_writable_bytes(std::span(state))).value();
  std::printf("rank-2 %s\n", state == state_of(2) ? "restored" : "differs");
  const auto gone =
      dataflux::keep_last_checkpoint_sets(*client, {.bucket = bucket, .prefix = prefix}).value();
  for (const std::string& name : gone.sets) std::printf("removed %s\n", name.c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  run(argv[1], argv[2]);
} catch (const dataflux::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
