/// 01: lists the objects of a bucket, page by page.
///
///     01_list BUCKET [PREFIX]
///
/// Credentials are found as gcloud's own libraries find them (Application Default Credentials);
/// with STORAGE_EMULATOR_HOST set, an emulator is asked and none are needed.

#include <dataflux/gcs/client.hpp>

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

  dataflux::list_page_request request{.bucket = argv[1], .prefix = argc > 2 ? argv[2] : ""};
  std::uint64_t bytes = 0;
  dataflux::object_columns all;  // 24 bytes and the name for each object
  do {
    // Every call gives a value or an error that says what failed, where, and what to do.
    auto page = (*client)->list_page(request);
    if (!page) {
      std::fprintf(stderr, "%s\n", page.error().to_string().c_str());
      return 1;
    }
    for (const auto object : page->objects) {
      std::printf("%12llu  %.*s\n", static_cast<unsigned long long>(object.size),
                  static_cast<int>(object.name.size()), object.name.data());
      bytes += object.size;
    }
    // The next page is asked for with the token of this one and nothing else changed.
    request.page_token = std::move(page->next_page_token);
    all.append(std::move(page->objects));
  } while (!request.page_token.empty());

  std::printf("%zu objects, %llu bytes\n", all.size(), static_cast<unsigned long long>(bytes));
}
