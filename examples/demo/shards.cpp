#include "shards.hpp"

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/gcs/client.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "child.hpp"

using dataflux::bytes_span;
using dataflux::checkpoint_set;
using dataflux::errc;
using dataflux::error;
using dataflux::member_record;
using dataflux::result;

namespace {

constexpr std::size_t victim = 1;
constexpr std::uint64_t most_at_once = std::uint64_t{1} << 20U;

/// What rank `rank` has at `offset`, a multiple of 8.
void fill(bytes_span memory, std::size_t rank, std::uint64_t offset) {
  std::uint64_t at = offset / 8;
  for (std::size_t i = 0; i < memory.size(); i += 8) {
    const std::uint64_t word = (++at + (std::uint64_t{rank} << 40U)) * 0x9e3779b97f4a7c15U;
    std::memcpy(memory.data() + i, &word, std::min<std::size_t>(8, memory.size() - i));
  }
}

std::string name_of(std::size_t rank) { return "rank-" + std::to_string(rank); }

result<child> start(const shard_job& job, std::size_t rank, bool linger) {
  std::vector<std::string> arguments{"--shard",      std::to_string(rank),
                                     "--endpoint",   job.endpoint,
                                     "--bucket",     job.bucket,
                                     "--set",        job.prefix,
                                     "--shard-size", std::to_string(job.shard_size)};
  if (linger) arguments.emplace_back("--linger");
  return child::start(arguments);
}

result<member_record> record_of(child& writer) {
  const auto line = writer.line();
  if (!line) return line.error();
  if (writer.wait() != 0) return error(errc::aborted, "a writer of a shard has failed");
  return dataflux::parse_member_record(*line);
}

/// All shards, the victim's at the second attempt.
result<std::vector<member_record>> save(const checkpoint_set& set, const shard_job& job) {
  std::vector<child> writers;
  for (std::size_t rank = 0; rank < job.shards; ++rank) {
    auto writer = start(job, rank, rank == victim);
    if (!writer) return writer.error();
    writers.push_back(*std::move(writer));
  }
  if (const auto said = writers[victim].line(); !said) return said.error();
  writers[victim].kill();
  std::vector<member_record> records;
  for (std::size_t rank = 0; rank < job.shards; ++rank) {
    if (rank == victim) continue;
    auto record = record_of(writers[rank]);
    if (!record) return record.error();
    records.push_back(*std::move(record));
  }
  const auto torn = set.open();
  if (torn) return error(errc::internal, "a set that nobody has committed was opened");
  std::printf(
      "  %s of %zu was killed half-way, as it should be, and the save is seen as incomplete: %s\n",
      name_of(victim).c_str(), job.shards, torn.error().message().c_str());
  auto again = start(job, victim, false);
  if (!again) return again.error();
  auto record = record_of(*again);
  if (!record) return record.error();
  records.push_back(*std::move(record));
  return records;
}

result<void> compare(const dataflux::checkpoint_set_reader& saved, std::size_t rank,
                     const shard_job& job) {
  auto reader = saved.open(name_of(rank), {.limits = {.stop = job.stop}});
  if (!reader) return reader.error();
  std::vector<std::byte> memory(static_cast<std::size_t>(reader->size()));
  if (auto read = reader->read_all(memory, {.stop = job.stop}); !read) return read;
  std::vector<std::byte> wanted(static_cast<std::size_t>(job.shard_size));
  fill(wanted, rank, 0);
  if (memory == wanted) return {};
  return error(errc::data_loss, name_of(rank) + " is not what was saved");
}

result<shard_report> run(const dataflux::transfer_context& context, const shard_job& job) {
  const checkpoint_set set(context, job.bucket, job.prefix);
  const std::uint64_t bytes = job.shards * job.shard_size;
  shard_report report{.saved = {job.shards, bytes, 0}, .restored = {job.shards, bytes, 0}};
  const auto started = std::chrono::steady_clock::now();
  auto records = save(set, job);
  if (!records) return records.error();
  const auto made = set.commit(*std::move(records), {}, {.stop = job.stop});
  if (!made) return made.error();
  const auto committed = std::chrono::steady_clock::now();
  const auto saved = set.open({}, {.stop = job.stop});
  if (!saved) return saved.error();
  for (std::size_t rank = 0; rank < job.shards; ++rank) {
    if (const auto same = compare(*saved, rank, job); !same) return same.error();
  }
  using seconds = std::chrono::duration<double>;
  report.saved.seconds = seconds(committed - started).count();
  report.restored.seconds = seconds(std::chrono::steady_clock::now() - committed).count();
  return report;
}

/// What the killed process has left: an upload, which nobody sees and everybody pays for.
result<std::size_t> abort_uploads(dataflux::object_store& store, const shard_job& job) {
  const auto open =
      store.run(dataflux::list_uploads_request{.bucket = job.bucket, .prefix = job.prefix + "/"});
  if (!open) return open.error();
  for (const auto& upload : open->uploads) {
    const auto gone = store.run(dataflux::multipart_abort_request{
        .bucket = job.bucket, .object = upload.object, .upload_id = upload.upload_id});
    if (!gone && gone.error().code() != errc::not_found) return gone.error();
  }
  return open->uploads.size();
}

}  // namespace

result<shard_report> save_and_restore(const dataflux::transfer_context& context,
                                      const shard_job& job) {
  auto report = run(context, job);
  const auto aborted = abort_uploads(context.store(), job);
  const auto removed = dataflux::remove_checkpoint_set(
      context.store(), {.bucket = job.bucket, .prefix = job.prefix});
  if (!report) return report;
  if (!aborted) return aborted.error();
  if (!removed) return removed.error();
  if (!removed->failures.empty()) return removed->failures.front().why;
  std::printf("  saved again, committed, restored, compared; %zu upload of the killed aborted\n",
              *aborted);
  return report;
}

int write_shard(const shard_job& job, std::size_t rank, bool linger) {
  const auto failed = [](const error& why) {
    std::fprintf(stderr, "demo: shard: %s\n", why.to_string().c_str());
    return 1;
  };
  dataflux::gcs::client_options options;
  if (!job.endpoint.empty()) options = {.endpoint = job.endpoint, .emulator = true};
  const auto client = dataflux::gcs::client::create(options);
  if (!client) return failed(client.error());
  const dataflux::transfer_context context(**client);
  const checkpoint_set set(context, job.bucket, job.prefix);
  auto writer = set.open_member(name_of(rank));
  if (!writer) return failed(writer.error());
  const std::uint64_t piece = std::min(most_at_once, job.shard_size / 2);
  std::vector<std::byte> memory(piece);
  for (std::uint64_t offset = 0; offset < job.shard_size; offset += piece) {
    if (linger && 2 * offset >= job.shard_size) {
      std::printf("half-way\n");
      std::fflush(stdout);
      ::pause();
    }
    const bytes_span some{memory.data(), std::min<std::uint64_t>(piece, job.shard_size - offset)};
    fill(some, rank, offset);
    if (const auto good = writer->write(some); !good) return failed(good.error());
  }
  const auto made = writer->commit();
  if (!made) return failed(made.error());
  const auto record = set.record_of(*made);
  if (!record) return failed(record.error());
  std::printf("%s\n", to_text(*record).c_str());
  return 0;
}
