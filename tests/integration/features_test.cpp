#include <dataflux/gcs/client.hpp>

#include <emulator/emulator.hpp>
#include <support/store_features.hpp>

#include <string>
#include <utility>

namespace features_test {

TEST_CASE("features: over the client of GCS", "[integration]") {
  for (const auto& feature : store_features::all) {
    DYNAMIC_SECTION(feature.name) {
      emulator::server server({.threads = 2});
      server.create_bucket("bucket");
      const auto client =
          dataflux::gcs::client::create({.endpoint = server.endpoint(), .emulator = true}).value();
      const store_features::features f{*client, "bucket",
                                       [&server](const std::string& name, std::string bytes) {
                                         server.put("bucket", name, std::move(bytes));
                                       }};
      (f.*feature.run)();
    }
  }
}

}  // namespace features_test
