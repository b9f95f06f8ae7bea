#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/requests.hpp>

#include <emulator/emulator.hpp>
#include <emulator/fault_json.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace dataflux::test {

/// An emulator with a bucket "bucket", and a client of it, which the fixture of its service makes.
template <class Client>
class served_client {
 public:
  explicit served_client(const emulator::server_options& how) : server(how) {
    server.create_bucket("bucket");
  }

  result<std::vector<std::byte>> get(read_request r) {
    r.bucket = "bucket";
    std::vector<std::byte> memory(std::size_t{12} << 20U);
    span_sink sink(memory);
    auto summary = client->read(r, sink);
    if (!summary) return summary.error();
    last = *summary;
    memory.resize(sink.size());
    return memory;
  }
  /// The one rule that is in force from now on.
  void script(const std::string& rule) {
    server.faults().clear();
    server.faults().add(emulator::read_fault(emulator::parse_json(rule).value()));
  }

  emulator::server server;
  std::shared_ptr<Client> client{};
  read_summary last{};
};

}  // namespace dataflux::test
