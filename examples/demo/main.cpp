/// The main job, from end to end: list a bucket, read every object with its bytes checked, write a
/// checkpoint in parallel parts, read it back in parallel ranges. By default on an emulator over a
/// real folder; with gs:// on a real bucket, where it writes only below a name of its own that it
/// removes. Then the same in shards: several processes save a set, one of them is killed half-way.

#include <dataflux/exec/interrupt_source.hpp>
#include <dataflux/gcs/client.hpp>

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <random>
#include <vector>

#include <emulator/emulator.hpp>

#include "main_job.hpp"
#include "shards.hpp"

namespace {

std::string random_name() {
  std::random_device device;
  char text[32];
  std::snprintf(text, sizeof text, "dataflux-demo-%08x%08x", device(), device());
  return text;
}

std::vector<std::byte> pattern(std::uint64_t size) {
  std::vector<std::byte> out(size);
  std::uint64_t state = 88172645463325252U;
  for (auto& byte : out) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    byte = static_cast<std::byte>(state);
  }
  return out;
}

void print_row(const char* step, const step_report& r) {
  const double mib = static_cast<double>(r.bytes) / 1048576;
  std::printf("  %-20s %10llu %12.1f %9.2f %11.1f %11.0f\n", step,
              static_cast<unsigned long long>(r.objects), mib, r.seconds,
              mib / std::max(r.seconds, 1e-6),
              static_cast<double>(r.objects) / std::max(r.seconds, 1e-6));
}

int fail(const dataflux::error& e) {
  std::fprintf(stderr, "demo: %s\n", e.to_string().c_str());
  return e.code() == dataflux::errc::cancelled ? 130 : 1;
}

int run(dataflux::gcs::client& client, const main_job_options& job, const std::string& endpoint) {
  step_report listed;
  const auto objects = list_all(client, job, listed);
  if (!objects) return fail(objects.error());
  const dataflux::transfer_context context(client);
  const auto read = read_all(context, job, *objects);
  if (!read) return fail(read.error());
  const auto data = pattern(job.checkpoint_size);
  const auto written = write_checkpoint(context, job, data);
  if (!written) return fail(written.error());
  const auto restored = read_checkpoint(context, job, data);
  const auto removed = client.remove({.bucket = job.bucket, .object = job.checkpoint});
  if (!restored) return fail(restored.error());
  if (!removed) return fail(removed.error());
  const auto shards = save_and_restore(context, {.endpoint = endpoint,
                                                 .bucket = job.bucket,
                                                 .prefix = job.checkpoint + "-shards",
                                                 .shard_size = job.checkpoint_size / 8,
                                                 .stop = job.stop});
  if (!shards) return fail(shards.error());

  std::printf("\n  %-20s %10s %12s %9s %11s %11s\n", "step", "objects", "MiB", "seconds", "MiB/s",
              "objects/s");
  print_row("list", {.objects = listed.objects, .bytes = 0, .seconds = listed.seconds});
  print_row("read, all checked", *read);
  print_row("write checkpoint", *written);
  print_row("read checkpoint", *restored);
  print_row("save shards", shards->saved);
  print_row("restore shards", shards->restored);
  const dataflux::counters& totals = client.totals();
  ::rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "\n  requests, by what the service charges: %llu writes and listings (class A), %llu reads "
      "(class B), %llu free; %llu retried, %llu slowed down\n",
      static_cast<unsigned long long>(totals.requests_a),
      static_cast<unsigned long long>(totals.requests_b),
      static_cast<unsigned long long>(totals.requests_free),
      static_cast<unsigned long long>(totals.retries),
      static_cast<unsigned long long>(totals.paced));
  const dataflux::transfer_counters reads = context.counters();
  std::printf("  reads: %d at a time at last, %.1f MiB held at most, %llu asked twice\n",
              reads.concurrency, static_cast<double>(reads.peak_held) / 1048576,
              static_cast<unsigned long long>(reads.hedges.asked));
  std::printf("  peak memory: %ld MiB%s\n", usage.ru_maxrss / 1024,
              job.original ? ", the emulator with the checkpoint included" : "");
  std::printf("  every byte read was compared%s\n",
              job.original ? " with the files and by CRC32C" : " by CRC32C");
  std::printf(
      "\nAll of it worked. Next: ./dev demo --python, or --train (PyTorch); %s\n"
      "To use it in a program: README.md.\n",
      job.original ? "./dev demo gs://BUCKET/PREFIX, on a bucket of yours."
                   : "docs/tuning.md, to make it faster.");
  return 0;
}

int run_on_bucket(const std::string& location, main_job_options job) {
  const std::string rest = location.substr(5);
  const auto slash = rest.find('/');
  job.bucket = rest.substr(0, slash);
  if (slash != std::string::npos) job.prefix = rest.substr(slash + 1);
  job.checkpoint = job.prefix + random_name() + "/checkpoint";
  auto client = dataflux::gcs::client::create();
  if (!client) return fail(client.error());
  std::printf("bucket %s, prefix \"%s\"\n", job.bucket.c_str(), job.prefix.c_str());
  return run(**client, job, {});
}

int run_on_folder(const std::string& folder, main_job_options job) {
  std::error_code broken;
  job.original = std::filesystem::canonical(folder, broken);
  if (broken || !std::filesystem::is_directory(*job.original)) {
    std::fprintf(stderr, "demo: no such folder: %s\n", folder.c_str());
    return 2;
  }
  emulator::server server;
  job.bucket = "demo";
  job.checkpoint = random_name() + "/checkpoint";
  const std::size_t seeded = server.seed(job.bucket, job.original->string());
  std::printf("emulator over %s: %zu files\n", job.original->c_str(), seeded);
  auto client = dataflux::gcs::client::create({.endpoint = server.endpoint(), .emulator = true});
  if (!client) return fail(client.error());
  return run(**client, job, server.endpoint());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("dataflux demo: list, read all, write a checkpoint and read it back");
  std::string location = "/usr/include";
  main_job_options job;
  std::uint64_t checkpoint_mib = 512;
  app.add_option("location", location, "a folder (served by an emulator) or gs://BUCKET/PREFIX");
  app.add_option("--checkpoint-mib", checkpoint_mib, "size of the checkpoint")
      ->check(CLI::Range(1, 1 << 20));
  // How it starts itself for one shard.
  constexpr std::size_t no_shard = 1'000'000;
  std::size_t rank = no_shard;
  bool linger = false;
  shard_job shard;
  app.add_option("--shard", rank)->group("");
  app.add_option("--endpoint", shard.endpoint)->group("");
  app.add_option("--bucket", shard.bucket)->group("");
  app.add_option("--set", shard.prefix)->group("");
  app.add_option("--shard-size", shard.shard_size)->group("");
  app.add_flag("--linger", linger)->group("");
  CLI11_PARSE(app, argc, argv);
  job.checkpoint_size = checkpoint_mib << 20U;
  if (rank != no_shard) return write_shard(shard, rank, linger);
  const auto signals = dataflux::interrupt_source::create().value();
  job.stop = signals.token();
  return location.starts_with("gs://") ? run_on_bucket(location, job)
                                       : run_on_folder(location, job);
}
