#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace main_job_test {

// What a training job does from its first listing to its checkpoint, over HTTP and HTTPS.
namespace {

namespace gcs = dataflux::gcs;

std::string pattern(std::size_t size, std::size_t seed) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = static_cast<char>(((i + seed * 977) * 2654435761U) >> 13U);
  }
  return out;
}

/// Some two hundred files of odd names and sizes, empty ones among them.
std::map<std::string, std::string> make_files() {
  const std::vector<std::string> odd{
      "a b",        "100%",     "x+y=z&w",          "quest?ion",        "ha#sh", "semi;colon",
      "\"quoted\"", "back\\sl", "\xc3\xa4\xc3\xb6", "\xf0\x9f\x90\x8d", "dot.",  "..dots",
      "tilde~",     "[1]*",     "trailing/"};
  std::map<std::string, std::string> files;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t size = i % 10 == 0 ? 0 : (i * i * 37) % 90001;
    files["train/" + odd[i % odd.size()] + "/" + std::to_string(i)] = pattern(size, i);
  }
  return files;
}

struct listed {
  std::string name;
  std::uint64_t size;
  std::int64_t generation;
};

std::vector<listed> list_all(gcs::client& client, const std::string& prefix) {
  std::vector<listed> out;
  dataflux::list_page_request request{.bucket = "job", .prefix = prefix, .max_results = 37};
  do {
    auto page = client.list_page(request);
    REQUIRE(page);
    for (std::size_t i = 0; i < page->objects.size(); ++i) {
      const auto row = page->objects[i];
      out.push_back({std::string(row.name), row.size, row.generation});
    }
    request.page_token = page->next_page_token;
  } while (!request.page_token.empty());
  return out;
}

void read_all(gcs::client& client, const std::vector<listed>& names,
              const std::map<std::string, std::string>& files) {
  struct reading {
    const listed* what;
    std::vector<std::byte> memory;
    std::unique_ptr<dataflux::span_sink> sink;
    dataflux::operation<dataflux::read_summary> op;
  };
  std::deque<reading> under_way;
  const auto finish_oldest = [&] {
    reading& r = under_way.front();
    auto summary = r.op.take();
    INFO(r.what->name << (summary ? std::string() : summary.error().to_string()));
    REQUIRE(summary);
    CHECK(summary->verified);
    CHECK(dataflux::as_text(r.sink->filled()) == files.at(r.what->name));
    under_way.pop_front();
  };
  for (const listed& what : names) {
    if (under_way.size() == 32) finish_oldest();
    under_way.push_back({&what, std::vector<std::byte>(what.size), nullptr, {}});
    reading& r = under_way.back();
    r.sink = std::make_unique<dataflux::span_sink>(r.memory);
    r.op = client.submit_read({.bucket = "job", .object = what.name, .generation = what.generation},
                              *r.sink);
  }
  while (!under_way.empty()) finish_oldest();
}

void write_checkpoint(gcs::client& client, const std::string& name, const std::string& bytes) {
  auto upload = client.run(dataflux::multipart_initiate_request{.bucket = "job", .object = name});
  REQUIRE(upload);
  constexpr std::size_t part_size = 8U << 20U;
  std::vector<dataflux::operation<dataflux::uploaded_part>> parts;
  for (std::size_t at = 0; at < bytes.size(); at += part_size) {
    parts.push_back(client.submit(dataflux::upload_part_request{
        .bucket = "job",
        .object = name,
        .upload_id = upload->upload_id,
        .part_number = static_cast<std::uint32_t>(parts.size() + 1),
        .data = dataflux::as_bytes(std::string_view(bytes).substr(at, part_size))}));
  }
  dataflux::multipart_complete_request end{
      .bucket = "job", .object = name, .upload_id = upload->upload_id};
  for (auto& op : parts) {
    auto part = op.take();
    REQUIRE(part);
    end.parts.push_back(std::move(*part));
  }
  auto made = client.run(end);
  REQUIRE(made);
  CHECK(made->size == bytes.size());
  CHECK(made->crc32c == dataflux::crc32c(dataflux::as_bytes(bytes)));
}

void read_in_ranges(gcs::client& client, const std::string& name, const std::string& bytes) {
  std::vector<std::byte> memory(bytes.size());
  constexpr std::size_t range = 5U << 20U;
  std::vector<std::unique_ptr<dataflux::span_sink>> sinks;
  std::vector<dataflux::operation<dataflux::read_summary>> reads;
  for (std::size_t at = 0; at < bytes.size(); at += range) {
    const std::size_t count = std::min(range, bytes.size() - at);
    sinks.push_back(
        std::make_unique<dataflux::span_sink>(dataflux::bytes_span(memory).subspan(at, count)));
    reads.push_back(client.submit_read(
        {.bucket = "job", .object = name, .range = dataflux::byte_range::span(at, count)},
        *sinks.back()));
  }
  for (auto& op : reads) CHECK(op.take());
  CHECK((dataflux::as_text(memory) == bytes));
}

}  // namespace

TEST_CASE("client: the main job, from listing to checkpoint", "[integration]") {
  const bool secure = GENERATE(false, true);
  emulator::server server({.tls = secure ? emulator::tls_mode::valid : emulator::tls_mode::off});
  const auto files = make_files();
  for (const auto& [name, bytes] : files) server.put("job", name, bytes);
  server.put("job", "other/object", "not of the training set");

  gcs::client_options options{.endpoint = server.endpoint(), .emulator = true};
  std::string ca = "/tmp/dataflux-authority-XXXXXX";
  if (secure) {
    const int descriptor = ::mkstemp(ca.data());
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    std::ofstream(ca) << server.authority_pem();
    options.transport.ca_file = ca;
  }
  auto client = gcs::client::create(options);
  REQUIRE(client);

  const auto names = list_all(**client, "train/");
  REQUIRE(names.size() == files.size());
  auto expected = files.begin();
  for (const listed& found : names) {
    CHECK(found.name == expected->first);
    CHECK(found.size == expected->second.size());
    ++expected;
  }
  read_all(**client, names, files);

  const std::string checkpoint = pattern(24U << 20U, 7);
  write_checkpoint(**client, "checkpoints/step-1", checkpoint);
  CHECK((server.get("job", "checkpoints/step-1") == checkpoint));
  read_in_ranges(**client, "checkpoints/step-1", checkpoint);
  CHECK((*client)->totals().failed == 0);
  CHECK((*client)->totals().retries == 0);
  if (secure) std::remove(ca.c_str());
}

}  // namespace main_job_test
