#include <c_api/child.hpp>
#include <c_api/sets.hpp>
#include <support/raw_server.hpp>
#include <support/sanitized.hpp>
#include <support/temporary_folder.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace c_api_little_memory_test {

// A process that is short of memory gets an error of the call, and goes on: no thread of the
// library ends it. Each runs in a forked child, so that the servers, which are the parent's, have
// enough.

using namespace c_api_test;

namespace {

/// Longer than any limit of a call here.
constexpr std::int64_t too_long = 20'000'000'000;
constexpr dataflux_status hangs = 99;

/// Of a call from its beginning to its end.
template <class Begin>
dataflux_status status_of(Begin begin, operation_ptr* kept = nullptr) {
  dataflux_operation* op = nullptr;
  const dataflux_status begun = begin(&op);
  if (begun != DATAFLUX_OK) return begun;
  operation_ptr owner(op);
  const dataflux_status waited = dataflux_operation_wait(op, too_long, nullptr);
  if (waited != DATAFLUX_OK) {
    static_cast<void>(owner.release());
    return hangs;
  }
  const dataflux_status status = dataflux_operation_result(op, nullptr);
  if (kept != nullptr) *kept = std::move(owner);
  return status;
}

dataflux_status stat(const client_ptr& client, const char* name = "o/000001") {
  const auto o = world::object(name);
  return status_of(
      [&](auto out) { return dataflux_stat(client.get(), &o, nullptr, 0, out, nullptr); });
}

dataflux_status open_manifest(const client_ptr& client, const char* name) {
  dataflux_manifest_options o;
  dataflux_manifest_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.object = name;
  return status_of(
      [&](auto out) { return dataflux_manifest_open(client.get(), &o, nullptr, 0, out, nullptr); });
}

dataflux_status list_sets(const client_ptr& client) {
  const auto o = below("runs/");
  return status_of(
      [&](auto out) { return dataflux_list_sets(client.get(), &o, nullptr, 0, out, nullptr); });
}
dataflux_status latest_set(const client_ptr& client) {
  const auto o = below("runs/");
  return status_of(
      [&](auto out) { return dataflux_latest_set(client.get(), &o, nullptr, 0, out, nullptr); });
}
dataflux_status keep_last(const client_ptr& client) {
  dataflux_keep_last_options o;
  dataflux_keep_last_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.prefix = "runs/";
  return status_of([&](auto out) {
    return dataflux_keep_last_sets(client.get(), &o, nullptr, 0, out, nullptr);
  });
}
/// Handles that are made at once, without a wait.
template <class Use>
dataflux_status with_set(const client_ptr& client, Use use) {
  const auto o = below("runs/a");
  dataflux_set* made = nullptr;
  const dataflux_status status = dataflux_set_create(client.get(), &o, &made, nullptr);
  const set_ptr owner(made);
  return status == DATAFLUX_OK ? use(made) : status;
}
dataflux_status open_a_set(const client_ptr& client) {
  return with_set(client, [](dataflux_set* set) {
    return status_of(
        [&](auto out) { return dataflux_set_open(set, nullptr, nullptr, 0, out, nullptr); });
  });
}
/// What cannot be read of the set that is replaced cannot be removed, and is no failure.
dataflux_status save_over_a_set(const client_ptr& client) {
  return with_set(client, [](dataflux_set* set) {
    operation_ptr op;
    const dataflux_status begun = status_of(
        [&](auto out) { return dataflux_set_begin_over(set, nullptr, 0, out, nullptr); }, &op);
    const char* text = nullptr;
    if (begun != DATAFLUX_OK) return begun;
    if (dataflux_operation_json(op.get(), &text, nullptr) != DATAFLUX_OK) return hangs;
    dataflux_set* made = nullptr;
    if (dataflux_set_over(set, text, &made, nullptr) != DATAFLUX_OK) return hangs;
    const set_ptr over(made);
    const std::string record = save_member(over, "rank-0", "x");
    const char* const records[] = {record.c_str()};
    dataflux_set_commit_options o;
    dataflux_set_commit_options_init(&o, sizeof o);
    o.records = records;
    o.record_count = 1;
    return status_of(
        [&](auto out) { return dataflux_set_commit(over.get(), &o, nullptr, 0, out, nullptr); });
  });
}
dataflux_status download(const client_ptr& client, const std::string& path, const char* object,
                         bool resume) {
  dataflux_download_file_options o;
  dataflux_download_file_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.object = object;
  o.path = path.c_str();
  o.resume = resume ? 1 : 0;
  return status_of(
      [&](auto out) { return dataflux_download_file(client.get(), &o, nullptr, 0, out, nullptr); });
}
/// The rest of the address space, in bytes.
void leave(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const ::rlim_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + bytes;
  const ::rlimit limit{most, most};
  ::setrlimit(RLIMIT_AS, &limit);
}

struct call {
  const char* name;
  std::function<dataflux_status(const client_ptr&)> run;
  dataflux_status expected{DATAFLUX_RESOURCE_EXHAUSTED};
};

constexpr std::size_t large = std::size_t{96} << 20U;

}  // namespace

TEST_CASE("c_api: what is larger than the memory that a process may have is an error of its call",
          "[c_api]") {
  if (sanitized) return;
  world w(2);
  w.fill(3);
  w.server.put("bkt", "big", std::string(large, 'x'));
  w.server.put("bkt", "runs/a/.dataflux-set-0123456789abcdef", std::string(large, 'x'));
  emulator::object_metadata mark;
  mark.custom = {{"dataflux-set", ".dataflux-set-0123456789abcdef"},
                 {"dataflux-set-crc32c", "00000000"}};
  w.server.put("bkt", "runs/a/.dataflux-complete", "", mark);
  const std::vector<call> calls{
      {"manifest_open", [](const client_ptr& c) { return open_manifest(c, "big"); }},
      {"list_sets", list_sets},
      {"latest_set", latest_set},
      {"keep_last", keep_last},
      {"set_open", open_a_set},
      {"set_commit over it", save_over_a_set, DATAFLUX_OK},
  };
  child in;
  for (const call& each : calls) {
    const int end = in.run([&] {
      const client_ptr client = lean_client(w.server.endpoint());
      if (stat(client) != DATAFLUX_OK) return false;
      leave(std::size_t{64} << 20U);
      const dataflux_status status = each.run(client);
      in.tell(each.name, status);
      return status == each.expected && stat(client) == DATAFLUX_OK;
    });
    INFO(in.told());
    CHECK(end == 0);
  }
}

TEST_CASE("c_api: a size that a server announces is no memory", "[c_api]") {
  if (sanitized) return;
  const auto size = GENERATE(std::uint64_t{1} << 40U, std::uint64_t{1} << 50U,
                             std::uint64_t{1} << 62U, (std::uint64_t{1} << 63U) - 1);
  raw_server liar({[size](raw_server::peer& p) {
    for (std::string head = p.request(); !head.empty(); head = p.request()) {
      if (head.find("alt=media") != std::string::npos) {
        p.send(
            "HTTP/1.1 200 OK\r\nx-goog-generation: 1\r\nx-goog-hash: crc32c=AAAAAA==\r\n"
            "Content-Length: " +
            std::to_string(size) + "\r\n\r\n" + std::string(70'000, 'x'));
        return p.stall();
      }
      const std::string body = R"({"name":"o/000001","bucket":"bkt","generation":"1","size":")" +
                               std::to_string(head.find("size") != std::string::npos ? size : 5) +
                               R"(","crc32c":"AAAAAA=="})";
      p.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n" + body);
    }
  }});
  const temporary_folder folder;
  const std::string path = (folder.path / "f").string();
  const std::string endpoint = "http://127.0.0.1:" + std::to_string(liar.port());
  child in;
  INFO(size);
  const int end = in.run([&] {
    const client_ptr client = lean_client(endpoint);
    leave(std::size_t{256} << 20U);
    const dataflux_status opened = open_manifest(client, "big");
    in.tell("manifest_open", opened);
    if (opened != DATAFLUX_OUT_OF_RANGE && opened != DATAFLUX_INTERNAL) return false;
    for (const bool resume : {false, true}) {
      const dataflux_status got = download(client, path, "o/000001", resume);
      in.tell("download", got);
      if (got == DATAFLUX_OK || got == hangs) return false;
    }
    return true;
  });
  INFO(in.told());
  CHECK(end == 0);
  CHECK(std::filesystem::is_empty(folder.path));
}

}  // namespace c_api_little_memory_test
