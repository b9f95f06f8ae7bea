/// 05: lists the objects of a bucket by parallel calls.
///
///     05_list BUCKET [PREFIX]
///
/// Credentials are Application Default Credentials. With STORAGE_EMULATOR_HOST set it uses that
/// emulator, without credentials.

#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc < 2) return 2;

  // One client serves a whole process: it holds the connections, and all threads may share it.
  auto client = dataflux::gcs::client::create();
  if (!client) {
    std::fprintf(stderr, "%s\n", client.error().to_string().c_str());
    return 1;
  }

  // A stream, from the first page on. To have all at once: dataflux::fast_list(**client, {...}),
  // which takes 24 bytes and the name for each object.
  dataflux::fast_lister lister(**client, {.bucket = argv[1],
                                          .prefix = argc > 2 ? argv[2] : "",
                                          .order = dataflux::list_order::by_name});
  while (true) {
    // Every call gives a value or an error that says what failed, where, and what to do.
    auto page = lister.next_page();
    if (!page) {
      std::fprintf(stderr, "%s\n", page.error().to_string().c_str());
      return 1;
    }
    if (!*page) break;  // the end: all names were seen, each once
    for (const auto object : (*page)->objects) {
      std::printf("%12llu  %.*s\n", static_cast<unsigned long long>(object.size),
                  static_cast<int>(object.name.size()), object.name.data());
    }
  }
  const auto total = lister.summary();
  std::printf("%llu objects, %llu bytes\n", static_cast<unsigned long long>(total.objects),
              static_cast<unsigned long long>(total.bytes));
}
