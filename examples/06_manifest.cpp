/// 06: saves a listing for jobs that start without listing; later runs show what has changed.
///
///     06_manifest BUCKET PREFIX FILE
///
/// The first run writes FILE, later ones compare with it.

#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>

#include <chrono>
#include <cstdio>

namespace {

int fail(const dataflux::error& why) {
  std::fprintf(stderr, "%s\n", why.to_string().c_str());
  return 1;
}

int create(dataflux::object_store& store, const char* bucket, const char* prefix,
           const char* file) {
  const dataflux::fast_list_request what{.bucket = bucket, .prefix = prefix};
  // What is written before this moment is in the listing.
  const auto now =
      std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  const auto description = dataflux::describe_listing(what, now);
  if (!description) return fail(description.error());
  const auto listed = dataflux::fast_list(store, what);
  if (!listed) return fail(listed.error());
  const auto saved = dataflux::save_manifest(file, *description, listed->objects);
  if (!saved) return fail(saved.error());
  std::printf("%zu objects saved\n", listed->objects.size());
  return 0;
}

int refresh(dataflux::object_store& store, const dataflux::manifest& before, const char* file) {
  const auto now = dataflux::refresh_manifest(store, before, {});
  if (!now) return fail(now.error());
  std::printf("%zu added, %zu removed, %zu changed\n", now->changes.added.size(),
              now->changes.removed.size(), now->changes.changed.size());
  const auto saved = dataflux::save_manifest(file, now->description, now->now.objects);
  return saved ? 0 : fail(saved.error());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  auto client = dataflux::gcs::client::create();
  if (!client) return fail(client.error());

  // Mapped, not parsed: ranks of a job that open the same file share its memory.
  const auto before = dataflux::manifest::open(argv[3]);
  if (before) return refresh(**client, *before, argv[3]);
  if (before.error().code() != dataflux::errc::not_found) return fail(before.error());
  return create(**client, argv[1], argv[2], argv[3]);
}
