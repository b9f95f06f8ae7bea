#pragma once

#include <emulator/json_value.hpp>
#include <emulator/service.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Asks a service without a socket.
namespace emulator_test {

struct question {
  std::string_view method{"GET"};
  std::string_view target{};
  std::vector<emulator::header_view> headers{};
  std::string body{};
};

inline emulator::exchange exchange_of(emulator::service& service, const question& asked) {
  emulator::http_request request;
  request.method = asked.method;
  request.target = asked.target;
  request.headers = asked.headers;
  request.headers.push_back({"Host", "127.0.0.1:1"});
  request.body = emulator::content{asked.body};
  return service.handle(request);
}

inline emulator::http_reply ask(emulator::service& service, const question& asked) {
  return exchange_of(service, asked).reply;
}

inline std::string body_of(const emulator::http_reply& reply) { return reply.body.to_string(); }

inline emulator::json_value json_of(const emulator::http_reply& reply) {
  auto parsed = emulator::parse_json(body_of(reply));
  if (!parsed) throw std::runtime_error("not JSON: " + body_of(reply));
  return *parsed;
}

/// `error.errors[0].reason` of an error document.
inline std::string reason_of(const emulator::http_reply& reply) {
  const auto document = json_of(reply);
  const auto* error = document.find("error");
  const auto* errors = error == nullptr ? nullptr : error->find("errors");
  if (errors == nullptr) return {};
  return std::get<emulator::json_value::array>(errors->value).at(0).text("reason").value_or("");
}

/// The text of the first such element, empty when there is none.
inline std::string element_of(const emulator::http_reply& reply, std::string_view name) {
  const std::string document = body_of(reply);
  const std::string open = "<" + std::string{name} + ">";
  const std::size_t from = document.find(open);
  if (from == std::string::npos) return {};
  const std::size_t to = document.find("</" + std::string{name} + ">", from);
  return document.substr(from + open.size(), to - from - open.size());
}

/// Stores an object without going through a verb; gives its generation.
inline std::int64_t put(emulator::service& service, std::string_view bucket, std::string_view name,
                        std::string bytes, emulator::object_metadata metadata = {}) {
  service.store().create_bucket(bucket);
  emulator::bucket_store::new_object fresh;
  fresh.name = name;
  fresh.metadata = std::move(metadata);
  fresh.data = emulator::content{std::move(bytes)};
  return service.store().put(bucket, std::move(fresh), {})->generation;
}

}  // namespace emulator_test
