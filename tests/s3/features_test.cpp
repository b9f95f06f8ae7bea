#include <s3/fixture.hpp>
#include <support/store_features.hpp>

#include <string>
#include <utility>

namespace s3_features_test {

TEST_CASE("s3 features: over the client of S3", "[s3]") {
  for (const auto& feature : store_features::all) {
    DYNAMIC_SECTION(feature.name) {
      s3_test::fixture f;
      f.be_patient();
      const store_features::features play{*f.client, "bucket",
                                          [&f](const std::string& name, std::string bytes) {
                                            f.server.put("bucket", name, std::move(bytes));
                                          }};
      (play.*feature.run)();
    }
  }
}

}  // namespace s3_features_test
