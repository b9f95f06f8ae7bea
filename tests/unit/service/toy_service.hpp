#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/http/detail/characters.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/service/detail/dialect.hpp>
#include <dataflux/service/detail/read_call.hpp>
#include <dataflux/service/detail/repeat_rule.hpp>
#include <dataflux/service/detail/signer.hpp>
#include <dataflux/service/detail/verb_call.hpp>
#include <dataflux/store/requests.hpp>

#include <support/catch.hpp>
#include <support/memory_transport.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A service that is nobody's: the least that calls stand on. Its replies are plain text.
namespace toy_service {

namespace http = dataflux::detail::http;
namespace service = dataflux::detail::service;
using dataflux::errc;
using dataflux::error;
using dataflux::result;

struct context {
  std::shared_ptr<const http::origin> origin;
};

inline void begin(const context& to, http::method method, std::string target, http::request& out) {
  out.clear();
  out.method = method;
  out.origin = to.origin;
  out.target = std::move(target);
}

/// Gives the body of the reply as the object's etag.
struct stat_verb {
  using request = dataflux::stat_request;
  using value = dataflux::object_metadata;
  using state = service::no_state;
  static constexpr service::verb_info info{"toy.stat"};
  static constexpr service::repeat_rule repeat{.verb = info.name};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static result<state> prepare(const request&, const service::call_id&) { return state{}; }
  static void build(const context& to, const request& r, const state&, http::request& out) {
    begin(to, http::method::get, "/" + r.bucket + "/" + r.object, out);
  }
  static result<value> parse(const request& r, const state&, const service::whole_reply& reply) {
    value found;
    found.bucket = r.bucket;
    found.name = r.object;
    found.etag = dataflux::as_text(reply.body);
    return found;
  }
};

/// Has a digest of its body, and goes to another host where its object is called "elsewhere".
struct insert_verb {
  using request = dataflux::insert_request;
  using value = dataflux::object_metadata;
  using state = std::string;
  static constexpr service::verb_info info{"toy.insert", service::pacing_class::write};
  static constexpr service::repeat_rule repeat{.verb = info.name,
                                               .last_writer = service::last_writer_replaces};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, false};
  }
  static result<state> prepare(const request& r, const service::call_id&) {
    return "digest of " + std::to_string(r.data.size());
  }
  static void build(const context& to, const request& r, const state&, http::request& out) {
    begin(to, http::method::put, "/" + r.bucket + "/" + r.object, out);
    if (r.object == "elsewhere") {
      out.origin = std::make_shared<const http::origin>(http::origin{.host = "other.test"});
    }
    out.headers.add("Content-Type", "text/plain");
    out.body.append(r.data);
  }
  static result<value> parse(const request&, const state&, const service::whole_reply&) {
    return value{};
  }
  static bool pin(request&, const dataflux::object_metadata*, const dataflux::object_metadata*) {
    return false;
  }
  static std::string_view body_digest(const state& digest) noexcept { return digest; }
};

struct remove_verb {
  using request = dataflux::remove_request;
  using value = void;
  using state = service::no_state;
  static constexpr service::verb_info info{"toy.remove"};
  static constexpr service::repeat_rule repeat{.verb = info.name,
                                               .last_writer = service::last_writer_removes};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static result<state> prepare(const request&, const service::call_id&) { return state{}; }
  static void build(const context& to, const request& r, const state&, http::request& out) {
    begin(to, http::method::del, "/" + r.bucket + "/" + r.object, out);
  }
  static result<value> parse(const request&, const state&, const service::whole_reply&) {
    return {};
  }
  static bool pin(request&, const dataflux::object_metadata*, const dataflux::object_metadata*) {
    return false;
  }
};

struct read_verb {
  using request = dataflux::read_request;
  static constexpr service::verb_info info{"toy.read", service::pacing_class::read,
                                           service::billing_class::b, false, 0};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, r.generation, false};
  }
  static void build(const context& to, const request& r, const service::read_cursor& from,
                    http::request& out) {
    begin(to, http::method::get, "/" + r.bucket + "/" + r.object, out);
    out.headers.add("x-from", from.range.offset());
  }
  static result<service::read_head> parse_head(const service::read_cursor& asked,
                                               const http::reply_head& head) {
    const std::uint64_t all = http::parse_decimal(head.find("x-size").value_or("")).value_or(0);
    const std::uint64_t from = asked.range.offset();
    return service::read_head{
        .generation = 1, .object_size = all, .offset = from, .length = all - from};
  }
};

class dialect final : public service::dialect {
 public:
  toy_service::context context() const { return {origin}; }
  template <class Verb>
  static constexpr std::size_t number_of = Verb::info.name == "toy.stat"     ? 0
                                           : Verb::info.name == "toy.insert" ? 1
                                           : Verb::info.name == "toy.read"   ? 2
                                                                             : 3;

  std::span<const std::string_view> verbs() const noexcept override {
    static constexpr std::string_view names[]{"toy.stat", "toy.insert", "toy.read", "toy.remove"};
    return names;
  }
  bool trusts(const http::request& request) const noexcept override {
    return request.origin == origin;
  }
  void add_fields(const service::call_id&, http::header_list& headers) const override {
    headers.add("x-toy", "1");
  }
  void gather_facts(const http::reply_head& head, service::reply_facts& out) const override {
    out = {};
    out.status = head.status();
    out.date = head.find("Date").value_or(std::string_view{});
  }
  error parse_error(const service::call_identity&, const service::reply_facts& facts,
                    dataflux::bytes_view body, std::span<const std::string_view>) const override {
    const std::string text{dataflux::as_text(body)};
    error e{dataflux::errc_from_http_status(facts.status), text};
    e.with_http_status(facts.status).with_reason(text);
    return e;
  }
  http::reply_class classify(const service::call_identity&, int status,
                             std::string_view reason) const override {
    return reason == "busy" ? http::reply_class::throttled : http::classify(status, reason);
  }
  std::string region_of(std::string_view) const override { return region; }
  bool moved(const service::call_identity&, const service::reply_facts& facts,
             dataflux::bytes_view body) const override {
    if (facts.status != 301) return false;
    region = dataflux::as_text(body);
    return true;
  }
  std::string not_the_service(std::string_view what) const override {
    return "no toy: " + std::string(what);
  }
  void look(dataflux::detail::ref<service::client_core>, const dataflux::stat_request&,
            dataflux::object_store::completion<service::looked_object>,
            dataflux::scheduler&) const override {
    FAIL("no verb of the toy looks");
  }
  void remove(dataflux::detail::ref<service::client_core>, const dataflux::remove_request&,
              dataflux::object_store::completion<void>, dataflux::scheduler&) const override {
    FAIL("no verb of the toy stores damaged objects");
  }

  const std::shared_ptr<const http::origin> origin =
      std::make_shared<const http::origin>(http::origin{.host = "toy.test"});
  mutable std::string region{};
};

/// Signs with the time, in seconds of its own clock, and takes down what it sees.
class signer final : public service::signer {
 public:
  struct sight {
    std::string method;
    std::string target;
    std::string fields;
    std::uint64_t body;
    std::string digest;
    std::string region;
    std::uint64_t number;
    dataflux::time_point when;
  };

  explicit signer(dataflux::scheduler& time) : time_(time) {}

  std::optional<service::credential_view> try_get(dataflux::time_point) override {
    if (!ready) return std::nullopt;
    return service::credential_view{secret, number};
  }
  service::signer_wait await(dataflux::scheduler& executor,
                             service::credential_handler handler) override {
    waiting.emplace_back(&executor, std::move(handler));
    return service::signer_wait{waiting.size()};
  }
  bool cancel(service::signer_wait) noexcept override {
    ++cancelled;
    waiting.clear();
    return true;
  }
  result<void> sign(const service::outgoing& out, const service::credential& with) override {
    if (broken) return error(errc::unauthenticated, "no key fits");
    sights.push_back({std::string(http::to_string(out.request.method)), out.request.target,
                      std::string(out.request.headers.wire()), out.request.body.size(),
                      std::string(out.body_digest), std::string(out.region), with.number,
                      time_.now()});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
        time_.now().time_since_epoch() + clock_error);
    out.request.headers.add("x-signed-at", static_cast<std::uint64_t>(seconds.count()));
    return {};
  }
  bool refused(const service::credential& with, const service::refusal& why) override {
    refusals.push_back(std::to_string(with.number) + ": " + std::to_string(why.status) + " " +
                       std::string(why.reason) + " " + std::string(why.date));
    age = why.age;
    if (why.reason == "skewed") clock_error = {};
    if (why.status == 401) ++number;
    return why.reason == "skewed" || why.status == 401;
  }
  /// All who wait go on.
  void give(const result<service::credential_view>& what) {
    for (auto& [executor, handler] : std::exchange(waiting, {})) {
      executor->post([handler = std::move(handler), what]() mutable { handler(what); });
    }
  }

  bool ready{true};
  bool broken{false};
  std::string secret{"key-1"};
  std::uint64_t number{1};
  dataflux::duration clock_error{0};
  dataflux::duration age{0};
  int cancelled{0};
  std::vector<sight> sights{};
  std::vector<std::string> refusals{};
  std::vector<std::pair<dataflux::scheduler*, service::credential_handler>> waiting{};

 private:
  dataflux::scheduler& time_;
};

/// A core with the toy behind it, in virtual time.
class fixture {
 public:
  fixture() {
    auto signs = std::make_unique<toy_service::signer>(time);
    who = signs.get();
    service::call_options o{.connect_timeout = std::chrono::seconds(10),
                            .first_byte_timeout = std::chrono::seconds(60),
                            .complete_timeout = std::chrono::seconds(60),
                            .stall_timeout = std::chrono::seconds(30),
                            .least_throughput = 1,
                            .throughput_window = std::chrono::seconds(60)};
    core = dataflux::detail::ref<service::client_core>::adopt(new service::client_core(
        std::move(o), std::make_unique<const dialect>(), std::move(signs), net));
  }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;
  ~fixture() {
    time.run();
    core->close();
    core->end_transport();
  }

  template <class Verb>
  auto start(const typename Verb::request& request) {
    auto got = std::make_shared<std::optional<result<typename Verb::value>>>();
    service::verb_call<dialect, Verb>::start(
        core, request,
        [got](result<typename Verb::value> outcome) { got->emplace(std::move(outcome)); });
    return got;
  }
  template <class Verb>
  result<typename Verb::value> run(const typename Verb::request& request) {
    const auto got = start<Verb>(request);
    time.run();
    return std::move(got->value());
  }
  result<dataflux::object_metadata> stat() {
    return run<stat_verb>({.bucket = "bkt", .object = "o"});
  }

  std::function<http::memory_reply(const http::memory_request&)> answer = [](const auto&) {
    return http::memory_reply{.body = "tag"};
  };
  dataflux::virtual_scheduler time{};
  std::shared_ptr<http::memory_transport> net = std::make_shared<http::memory_transport>(
      time, [this](const http::memory_request& r) { return answer(r); });
  toy_service::signer* who{nullptr};
  dataflux::detail::ref<service::client_core> core{};
};

}  // namespace toy_service
