#include <dataflux/list/manifest.hpp>
#include <dataflux/store/memory_store.hpp>

#include <support/catch.hpp>
#include <support/scripted_store.hpp>
#include <support/size_limit.hpp>
#include <support/store_fixture.hpp>
#include <support/temporary_folder.hpp>
#include <unit/list/saved_rows.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace manifest_writer_test {

using dataflux::errc;
using dataflux::manifest;
using dataflux::object_columns;
using dataflux::save_manifest;
using dataflux::store_verb;
namespace fs = std::filesystem;

namespace {

struct folder : temporary_folder {
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(path)) {
      out.push_back(entry.path().filename().string());
    }
    return out;
  }
};

struct fixture : store_fixture<> {
  fixture() : store_fixture(options()) { store.create_bucket("bkt"); }
  /// Parts may be small here, so that small manifests have several.
  static dataflux::memory_store_options options() {
    dataflux::memory_store_options o;
    o.traits.min_part_size = 1000;
    o.rtt = std::chrono::milliseconds{10};
    return o;
  }
  auto save(const object_columns& rows, std::size_t part_size, dataflux::call_limits limits = {}) {
    return finish(dataflux::submit_save_manifest(
        store,
        {.bucket = "bkt", .object = "m", .part_size = part_size, .limits = std::move(limits)},
        saved::description(), rows));
  }
  auto load() {
    return finish(dataflux::submit_load_manifest(store, {.bucket = "bkt", .object = "m"}));
  }
};

}  // namespace

TEST_CASE("manifest_writer: a file is written, mapped, and replaced", "[list]") {
  const folder in;
  const std::string path = in.path / "listing.manifest";
  const object_columns rows = saved::rows(0, 100'000);
  REQUIRE(save_manifest(path, saved::description(), rows));
  const auto opened = manifest::open(path);
  REQUIRE(opened);
  CHECK(opened->bytes() == fs::file_size(path));
  CHECK(opened->description() == saved::description());
  CHECK(in.files() == std::vector<std::string>{"listing.manifest"});
  const auto mapped = opened->rows();
  REQUIRE(save_manifest(path, {}, saved::rows(5, 8)));
  CHECK(saved::same(manifest::open(path)->rows().value(), saved::rows(5, 8)));
  CHECK(saved::same(*mapped, rows));  // the old file is still mapped
  CHECK(in.files().size() == 1);
}

TEST_CASE("manifest_writer: a manifest's own rows can be saved again", "[list]") {
  const folder in;
  const std::string path = in.path / "m";
  REQUIRE(save_manifest(path, {}, saved::rows(0, 70'000, dataflux::all_extra_columns)));
  const auto share = manifest::open(path)->rows(3, 69'000).value();
  REQUIRE(save_manifest(path, {}, share));
  CHECK(saved::same(manifest::open(path)->rows().value(),
                    saved::rows(3, 69'003, dataflux::all_extra_columns)));
}

TEST_CASE("manifest_writer: what fails is said, and leaves nothing behind", "[list]") {
  const folder in;
  const object_columns rows = saved::rows(0, 50'000);
  const auto code = [&](const std::string& path) {
    const auto done = save_manifest(path, {}, rows);
    REQUIRE_FALSE(done);
    INFO(done.error().message());
    CHECK(done.error().message().find(path) != std::string::npos);
    return done.error().code();
  };
  CHECK(code(in.path / "missing/m") == errc::not_found);
  CHECK(code("/proc/version/m") == errc::not_found);
  fs::create_directory(in.path / "folder");
  fs::create_directory(in.path / "folder/inside");
  CHECK(code(in.path / "folder") == errc::invalid_argument);
  CHECK(code(in.path / ".dataflux-0123abcd-17") == errc::invalid_argument);  // it would be swept
  {
    const size_limit full{100'000};
    CHECK(code(in.path / "m") == errc::resource_exhausted);
  }
  CHECK(in.files() == std::vector<std::string>{"folder"});

  std::ofstream{in.path / "m"} << "before";
  object_columns disorder = saved::rows(0, 66'000);
  disorder.append("a", 1, 1, {});
  CHECK(save_manifest(in.path / "m", {}, disorder).error().code() == errc::invalid_argument);
  CHECK(fs::file_size(in.path / "m") == 6);
  CHECK(in.files().size() == 2);
}

TEST_CASE("manifest_writer: a folder that may not be written to", "[list]") {
  const folder in;
  ::chmod(in.path.c_str(), 0500);
  const bool root = ::geteuid() == 0;  // whom no mode bits keep out
  if (root) REQUIRE(::seteuid(65534) == 0);
  const auto done = save_manifest(in.path / "m", {}, {});
  if (root) REQUIRE(::seteuid(0) == 0);
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::permission_denied);
  CHECK(in.files().empty());
}

TEST_CASE("manifest: a file that cannot be opened", "[list]") {
  const folder in;
  const auto code = [&](const fs::path& path) {
    const auto opened = manifest::open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().message().find(path.string()) != std::string::npos);
    return opened.error().code();
  };
  CHECK(code(in.path / "missing") == errc::not_found);
  CHECK(code(in.path) == errc::invalid_argument);
  std::ofstream{in.path / "empty"} << "";
  CHECK(code(in.path / "empty") == errc::invalid_argument);
  std::ofstream{in.path / "text"} << "name,size\n";
  CHECK(code(in.path / "text") == errc::invalid_argument);
  REQUIRE(save_manifest(in.path / "m", {}, saved::rows(0, 100)));
  fs::resize_file(in.path / "m", fs::file_size(in.path / "m") - 10);
  CHECK(code(in.path / "m") == errc::data_loss);
}

TEST_CASE("manifest_writer: a small manifest is one object by one request", "[list]") {
  fixture f;
  const object_columns rows = saved::rows(0, 500);
  const auto made = f.save(rows, 1U << 20U);
  REQUIRE(made);
  CHECK(f.store.counters().of(store_verb::insert) == 1);
  CHECK(f.store.counters().of(store_verb::multipart_initiate) == 0);
  const auto loaded = f.load();
  REQUIRE(loaded);
  CHECK(loaded->bytes() == made->size);
  CHECK(loaded->description() == saved::description());
  CHECK(saved::same(loaded->rows().value(), rows));
}

TEST_CASE("manifest_writer: a large manifest goes up in parts", "[list]") {
  fixture f;
  const object_columns rows = saved::rows(0, 700'000);
  REQUIRE(f.save(rows, 1U << 20U));
  CHECK(f.store.counters().of(store_verb::insert) == 0);
  CHECK(f.store.counters().of(store_verb::upload_part) > 8);
  CHECK(f.store.counters().peak_in_flight == 4);
  CHECK(f.store.open_uploads() == 0);
  CHECK(saved::same(f.load()->rows().value(), rows));
}

TEST_CASE("manifest_writer: an upload is on one thread of a store that has many", "[list]") {
  struct many_threads : scripted_store {
    using scripted_store::scripted_store;
    dataflux::scheduler& executor() noexcept override {
      ++named;
      return scripted_store::executor();
    }
    int named{0};  ///< another thread each time, as gcs::client does
  };
  fixture f;
  many_threads store(f.store, {});
  const object_columns rows = saved::rows(0, 400'000);
  const auto made = f.finish(dataflux::submit_save_manifest(
      store, {.bucket = "bkt", .object = "m", .part_size = 1U << 20U}, {}, rows));
  REQUIRE(made);
  CHECK(f.store.counters().of(store_verb::upload_part) > 4);
  CHECK(store.named == 1);
}

TEST_CASE("manifest_writer: whatever fails on the way, no upload stays open", "[list]") {
  const object_columns rows = saved::rows(0, 400'000);
  for (const store_verb verb :
       {store_verb::multipart_initiate, store_verb::upload_part, store_verb::multipart_complete}) {
    fixture f;
    REQUIRE(f.save(saved::rows(0, 1), 0));
    std::uint64_t nth_of_all = 0;
    f.store.set_faults([&](store_verb asked, std::string_view,
                           std::uint64_t) -> std::optional<dataflux::injected_fault> {
      if (asked != verb) return std::nullopt;
      if (verb == store_verb::upload_part && ++nth_of_all != 3) return std::nullopt;
      return dataflux::injected_fault{.failure = dataflux::error{errc::unavailable, "scripted"}};
    });
    const auto made = f.save(rows, 1U << 20U);
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == errc::unavailable);
    CHECK(f.store.open_uploads() == 0);
    CHECK(f.store.in_flight() == 0);
    CHECK(f.load()->size() == 1);  // the one that was there
  }
}

TEST_CASE("manifest_writer: rows that are out of order end an upload", "[list]") {
  fixture f;
  object_columns rows = saved::rows(0, 300'000);
  rows.append("a", 1, 1, {});
  CHECK(f.save(rows, 1U << 20U).error().code() == errc::invalid_argument);
  CHECK(f.store.counters().of(store_verb::upload_part) > 0);
  CHECK(f.store.open_uploads() == 0);
  object_columns few = saved::rows(0, 3);
  few.append("a", 1, 1, {});
  CHECK(f.save(few, 0).error().code() == errc::invalid_argument);
  CHECK(f.load().error().code() == errc::not_found);
}

TEST_CASE("manifest_writer: an upload is cancelled, or out of time", "[list]") {
  const object_columns rows = saved::rows(0, 700'000);
  fixture f;
  auto under_way = dataflux::submit_save_manifest(
      f.store, {.bucket = "bkt", .object = "m", .part_size = 1U << 20U}, {}, rows);
  f.clock.run_for(std::chrono::milliseconds{25});
  REQUIRE(f.store.open_uploads() == 1);
  under_way.cancel();
  CHECK(f.finish(std::move(under_way)).error().code() == errc::cancelled);
  CHECK(f.store.open_uploads() == 0);

  const auto late = f.save(rows, 1U << 20U, {.timeout = std::chrono::milliseconds{25}});
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::deadline_exceeded);
  CHECK(f.store.open_uploads() == 0);
  CHECK(f.load().error().code() == errc::not_found);
}

TEST_CASE("manifest_writer: an object that is no manifest is not loaded", "[list]") {
  fixture f;
  f.store.put("bkt", "m", dataflux::as_bytes("name,size\n"));
  CHECK(f.load().error().code() == errc::invalid_argument);
  f.store.put("bkt", "m", dataflux::bytes_view{});
  CHECK(f.load().error().code() == errc::invalid_argument);
}

}  // namespace manifest_writer_test
