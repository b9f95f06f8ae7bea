#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/requests.hpp>

#include <support/memory_transport.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::test {

/// A client of any service in virtual time; the service is a function.
///
/// What is still under way at its end is run then. A fixture derived from it, whose members
/// `answer` uses, calls end() in its own destructor: they are gone before this one's.
template <class Client>
class virtual_client {
 public:
  using answering = std::function<detail::http::memory_reply(const detail::http::memory_request&)>;

  template <class Options>
  virtual_client(Options options, answering service) : answer(std::move(service)) {
    options.shared_transport = net;
    client = Client::create(std::move(options)).value();
  }
  virtual_client(const virtual_client&) = delete;
  virtual_client& operator=(const virtual_client&) = delete;
  ~virtual_client() { end(); }

  /// Runs all that is under way, and ends the client. Once is enough.
  void end() {
    time.run();
    client.reset();
  }

  /// From its beginning to its end.
  template <class Request>
  result<typename Request::value> run(const Request& request) {
    using outcome = result<typename Request::value>;
    std::optional<outcome> got;
    client->start(request, [&](outcome ended) { got.emplace(std::move(ended)); });
    time.run();
    return std::move(got.value());
  }
  /// The same into `memory`.
  result<read_summary> read(const read_request& request = {.bucket = "bkt", .object = "o"}) {
    std::optional<result<read_summary>> got;
    span_sink sink(memory);
    client->start(request, sink,
                  [&](result<read_summary> ended) { got.emplace(std::move(ended)); });
    time.run();
    text = as_text(sink.filled());
    return std::move(got.value());
  }

  const detail::http::memory_request& sent(std::size_t i) const { return net->log().at(i); }
  std::size_t requests() const { return net->log().size(); }

  answering answer;
  virtual_scheduler time{};
  std::shared_ptr<detail::http::memory_transport> net =
      std::make_shared<detail::http::memory_transport>(
          time, [this](const detail::http::memory_request& r) { return answer(r); });
  std::vector<std::byte> memory = std::vector<std::byte>(64);
  std::string text{};  ///< what was read last
  std::shared_ptr<Client> client{};
};

}  // namespace dataflux::test
