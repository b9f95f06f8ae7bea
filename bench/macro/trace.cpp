// What a file object of another language would be asked to do, done by checkpoint_reader and
// checkpoint_writer themselves. Standard input says what, one a line:
//
//   read     "OFFSET LENGTH": seek, then read, into memory that is new, as a program has it that
//            loads a model
//   write    "OFFSET LENGTH": the next bytes of --content
//   each     names: each object is opened, read whole and closed, one after the other
//
// Prints the cost as one JSON line; --twice: of the second time. With --content, a file that has
// the object's bytes, what was read is compared with it, after the clock has stopped.
// bench/load_trace.py and bench/pyfile.py run it.

#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/gcs/client.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "our_client.hpp"

namespace {

using dataflux::byte_extent;

struct settings {
  std::string what{"read"};
  std::string content;
  bool twice = false;
  bench::options to{};
  dataflux::checkpoint_read_request open{};
};

std::vector<byte_extent> read_trace() {
  std::vector<byte_extent> all;
  byte_extent next;
  while (std::cin >> next.offset >> next.length) all.push_back(next);
  if (all.empty()) bench::fail("no trace on standard input");
  return all;
}

/// The file's bytes from `from` on, as far as `into` goes.
void load(const std::string& file, std::uint64_t from, std::span<std::byte> into) {
  std::ifstream source(file, std::ios::binary);
  source.seekg(static_cast<std::streamoff>(from));
  source.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
  if (!source) bench::fail("too short", file);
}

void compare(const std::string& file, const byte_extent& range, std::span<const std::byte> read) {
  std::vector<std::byte> piece;
  for (std::uint64_t at = 0; at < range.length; at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(std::uint64_t{1} << 20U, range.length - at));
    load(file, range.offset + at, piece);
    if (std::memcmp(piece.data(), read.data() + at, piece.size()) != 0)
      bench::fail("other bytes than the file's", file);
  }
}

void replay_reads(const dataflux::transfer_context& context, const settings& s) {
  const std::vector<byte_extent> reads = read_trace();
  bench::tally done{.requests = reads.size()};
  std::uint64_t end = 0;
  for (const auto& r : reads) {
    end = std::max(end, r.offset + r.length);
    done.bytes += r.length;
  }
  std::unique_ptr<std::byte[]> memory;
  const auto place = [&memory](const byte_extent& r) {
    return std::span(memory.get() + r.offset, static_cast<std::size_t>(r.length));
  };
  const auto load = [&] {
    memory.reset();
    memory = std::make_unique_for_overwrite<std::byte[]>(end);  // not touched before
    auto reader = dataflux::checkpoint_reader::open(context, s.open).value();
    for (const auto& r : reads) {
      reader.seek(r.offset).value();
      if (reader.read(place(r)).value() != r.length) bench::fail("a read was short");
    }
  };
  if (s.twice) load();
  const bench::stopwatch watch;
  load();
  watch.print(done);
  if (!s.content.empty()) {
    for (const auto& r : reads) compare(s.content, r, place(r));
  }
}

void replay_writes(const dataflux::transfer_context& context, const settings& s) {
  const std::vector<byte_extent> writes = read_trace();
  const std::uint64_t size = writes.back().offset + writes.back().length;
  const auto memory = std::as_writable_bytes(bench::touched_memory(size));
  load(s.content, 0, memory);
  const auto save = [&] {
    auto writer = dataflux::checkpoint_writer::open(
                      context, {.bucket = s.open.bucket, .object = s.open.object})
                      .value();
    for (const auto& w : writes) writer.write(memory.subspan(w.offset, w.length)).value();
    writer.commit().value();
  };
  if (s.twice) save();
  const bench::stopwatch watch;
  save();
  watch.print({.requests = writes.size(), .bytes = size});
}

void read_each(const dataflux::transfer_context& context, const settings& s) {
  std::vector<std::string> names;
  for (std::string name; std::getline(std::cin, name);) names.push_back(name);
  std::vector<std::byte> memory;
  bench::tally done;
  const auto read = [&](const std::string& name) {
    auto reader =
        dataflux::checkpoint_reader::open(context, {.bucket = s.open.bucket, .object = name})
            .value();
    memory.resize(reader.size());
    if (reader.read(memory).value() != memory.size()) bench::fail("a read was short");
    ++done.requests;
    done.bytes += memory.size();
  };
  for (std::size_t i = 0; i < names.size() / 8; ++i) read(names[i]);  // on the same connections
  done = {};
  const bench::stopwatch watch;
  for (const auto& name : names) read(name);
  watch.print(done);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Does what a file object would be asked to do.");
  app.add_option("--what", s.what)->check(CLI::IsMember({"read", "write", "each"}));
  app.add_option("--content", s.content)->check(CLI::ExistingFile);
  app.add_flag("--twice", s.twice);
  app.add_option("--endpoint", s.to.endpoint)->required();
  app.add_option("--bucket", s.open.bucket)->required();
  app.add_option("--object", s.open.object);
  app.add_option("--block", s.open.block);
  app.add_option("--cache", s.open.cache);
  app.add_option("--read-ahead", s.open.read_ahead);
  CLI11_PARSE(app, argc, argv);
  try {
    const auto client = bench::make_client(s.to);
    const dataflux::transfer_context context(*client);
    if (s.what == "read") replay_reads(context, s);
    if (s.what == "write") replay_writes(context, s);
    if (s.what == "each") read_each(context, s);
  } catch (const std::exception& e) {
    bench::fail("trace", e.what());
  }
  return 0;
}
