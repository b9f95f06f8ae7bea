#include <c_api/call_sequence.hpp>
#include <emulator/emulator.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace {

/// One for all inputs.
const std::string& endpoint() {
  static emulator::server* const server = [] {
    auto* const made = new emulator::server({.threads = 1});
    made->service().store().create_bucket("bkt", {});
    fill_for_calls(*made);
    return made;
  }();
  return server->endpoint();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  play_calls(endpoint(), std::as_bytes(std::span{data, size}));
  return 0;
}
