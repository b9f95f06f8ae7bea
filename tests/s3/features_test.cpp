#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>

#include <s3/fixture.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace s3_features_test {
// What stands on object_store, with S3 behind it.
namespace {

using dataflux::as_bytes;
using dataflux::errc;
using s3_test::content;
using s3_test::fixture;

TEST_CASE("s3 features: a listing of many ranges is whole", "[s3]") {
  fixture f;
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) {
    names.push_back("d" + std::to_string(i % 7) + "/" + std::to_string(10'000 + i));
  }
  std::sort(names.begin(), names.end());
  for (const auto& name : names) f.server.put("bucket", name, "x");
  const auto all = dataflux::fast_list(*f.client, {.bucket = "bucket", .page_size = 50});
  INFO((all ? "" : all.error().to_string()));
  REQUIRE(all);
  std::vector<std::string> listed;
  for (const auto row : all->objects) listed.emplace_back(row.name);
  CHECK(listed == names);
}

TEST_CASE("s3 features: a checkpoint is saved in parts under its own name, and read back", "[s3]") {
  fixture f;
  const dataflux::transfer_context context(*f.client, {});
  const auto data = content(std::size_t{23} << 20U, 1);
  const auto save = [&](std::optional<std::int64_t> expected) {
    auto writer = dataflux::checkpoint_writer::open(context, {.bucket = "bucket",
                                                              .object = "ckpt/o",
                                                              .if_generation_match = expected,
                                                              .part_size = std::size_t{8} << 20U});
    if (!writer) return dataflux::result<dataflux::committed_object>(writer.error());
    for (std::size_t at = 0; at < data.size(); at += 1'000'000) {
      const auto count = std::min<std::size_t>(1'000'000, data.size() - at);
      if (!writer->write({data.data() + at, count})) break;
    }
    return writer->commit();
  };
  const auto made = save(0);
  INFO((made ? "" : made.error().to_string()));
  REQUIRE(made);
  CHECK(made->path == dataflux::upload_path::multipart);
  CHECK(made->mode == dataflux::commit_mode::direct);
  CHECK(made->fallback.empty());
  CHECK(made->object.crc32c == dataflux::crc32c(data));
  CHECK(save(0).error().code() == errc::already_exists);
  CHECK(save(made->object.generation));

  auto reader =
      dataflux::checkpoint_reader::open(context, {.bucket = "bucket", .object = "ckpt/o"});
  INFO((reader ? "" : reader.error().to_string()));
  REQUIRE(reader);
  std::vector<std::byte> back(data.size());
  const auto read = reader->read_at(0, back);
  INFO((read ? "" : read.error().to_string()));
  CHECK(read);
  CHECK((back == data));
  // Nothing is left: no temporary object, no open upload.
  CHECK(f.client->list_page({.bucket = "bucket"})->objects.size() == 1);
  CHECK(f.client->run(dataflux::list_uploads_request{.bucket = "bucket"})->uploads.empty());
}

}  // namespace
}  // namespace s3_features_test
