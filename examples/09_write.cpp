/// 09: creates a small object that must not exist yet, changes it only if nobody else has, and
/// removes it.
///
///     09_write BUCKET NAME

#include <dataflux/gcs/client.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) try {
  if (argc < 3) return 2;
  const std::string bucket = argv[1];
  const std::string name = argv[2];
  const auto client = dataflux::gcs::client::create().value();

  // Generation 0 means "only if there is none". A condition also makes the call safe to repeat, so
  // that the client does so by itself when the network fails.
  const std::string text = "step 1\n";
  const auto created =
      client
          ->insert({.bucket = bucket,
                    .object = name,
                    .data = dataflux::as_bytes(text),
                    .attributes = {.content_type = "text/plain", .metadata = {{"run", "42"}}},
                    .conditions = {.if_generation_match = 0}})
          .value();
  std::printf("created\n");

  const auto again = client->insert({.bucket = bucket,
                                     .object = name,
                                     .data = dataflux::as_bytes(text),
                                     .conditions = {.if_generation_match = 0}});
  if (!again) {
    // Codes are google.rpc's; the text is for people.
    const std::string code{dataflux::to_string(again.error().code())};
    std::printf("created again: %s\n", code.c_str());
  }

  const std::string more = "step 2\n";
  const auto changed = client
                           ->insert({.bucket = bucket,
                                     .object = name,
                                     .data = dataflux::as_bytes(more),
                                     .conditions = {.if_generation_match = created.generation}})
                           .value();
  std::printf("changed: %s\n", changed.generation != created.generation ? "a new generation" : "?");

  client
      ->remove({.bucket = bucket,
                .object = name,
                .conditions = {.if_generation_match = changed.generation}})
      .value();
  std::printf("removed\n");
} catch (const dataflux::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
