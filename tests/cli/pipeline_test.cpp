#include <dataflux/exec/virtual_scheduler.hpp>

#include <cli/pipeline.hpp>
#include <support/catch.hpp>

#include <atomic>
#include <memory>

namespace pipeline_test {

TEST_CASE("pipeline: all file work is done, once, before its items end", "[cli]") {
  for (const unsigned threads : {1U, 3U}) {
    dataflux::virtual_scheduler io;
    std::atomic<int> done{0};
    {
      cli::pipeline flow(io, {.file_threads = threads});
      for (int turn = 0; turn < 50; ++turn) {
        for (int i = 0; i < turn; ++i) {
          const auto item = std::make_shared<cli::pipeline::item>(flow.begin_item());
          flow.on_file_thread([&done, item] { ++done; });
        }
        io.run();  // the end of the I/O thread's turn, which wakes them
      }
      flow.wait();
      CHECK(done == 50 * 49 / 2);
    }
  }
}

TEST_CASE("pipeline: no more steps run than there is room for", "[cli]") {
  dataflux::virtual_scheduler io;
  cli::pipeline flow(io, {.bytes = 100, .requests = 3, .file_threads = 0});
  std::vector<dataflux::budget_share> held;
  for (int i = 0; i < 5; ++i) {
    flow.admit(30, [&held](dataflux::budget_share share) { held.push_back(std::move(share)); });
  }
  CHECK(held.size() == 3);
  std::exchange(held, {}).clear();
  CHECK(held.size() == 2);
  held.clear();
  flow.admit(1000, [&held](dataflux::budget_share share) { held.push_back(std::move(share)); });
  CHECK(held.size() == 1);  // more than all there is gets all there is
}

}  // namespace pipeline_test
