#pragma once

#include <dataflux.h>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Handles of the C ABI that are freed at the end of a test.
namespace c_api_test {

template <auto Free>
struct freer {
  template <class Handle>
  void operator()(Handle* handle) const noexcept {
    Free(handle);
  }
};
using client_ptr = std::unique_ptr<dataflux_client, freer<dataflux_client_free>>;
using queue_ptr = std::unique_ptr<dataflux_queue, freer<dataflux_queue_free>>;
using operation_ptr = std::unique_ptr<dataflux_operation, freer<dataflux_operation_free>>;
using listing_ptr = std::unique_ptr<dataflux_listing, freer<dataflux_listing_free>>;
using getter_ptr = std::unique_ptr<dataflux_getter, freer<dataflux_getter_free>>;
using lister_ptr = std::unique_ptr<dataflux_lister, freer<dataflux_lister_free>>;
using manifest_ptr = std::unique_ptr<dataflux_manifest, freer<dataflux_manifest_free>>;
using changes_ptr = std::unique_ptr<dataflux_changes, freer<dataflux_changes_free>>;
using writer_ptr = std::unique_ptr<dataflux_writer, freer<dataflux_writer_free>>;
using reader_ptr = std::unique_ptr<dataflux_reader, freer<dataflux_reader_free>>;
using shard_index_ptr = std::unique_ptr<dataflux_shard_index, freer<dataflux_shard_index_free>>;
using shard_writer_ptr = std::unique_ptr<dataflux_shard_writer, freer<dataflux_shard_writer_free>>;
using events_ptr = std::unique_ptr<dataflux_events, freer<dataflux_events_free>>;
using error_ptr = std::unique_ptr<dataflux_error, freer<dataflux_error_free>>;

/// Where a call puts its error; says it where the call was to do well.
class told {
 public:
  told() = default;
  told(const told&) = delete;
  told& operator=(const told&) = delete;
  ~told() { dataflux_error_free(error_); }
  operator dataflux_error**() {
    dataflux_error_free(error_);
    error_ = nullptr;
    return &error_;
  }
  bool any() const noexcept { return error_ != nullptr; }
  std::string text() const { return dataflux_error_text(error_); }
  std::string message() const { return dataflux_error_message(error_); }
  dataflux_error* get() const noexcept { return error_; }

 private:
  dataflux_error* error_{nullptr};
};

/// Begins by `begin(out, err)`, waits, and gives its status; what it says is in `why`.
template <class Begin>
dataflux_status outcome(Begin begin, told& why, operation_ptr* kept = nullptr) {
  dataflux_operation* op = nullptr;
  const dataflux_status refused = begin(&op, static_cast<dataflux_error**>(why));
  if (refused != DATAFLUX_OK) {
    CHECK(op == nullptr);
    return refused;
  }
  operation_ptr owner(op);
  REQUIRE(dataflux_operation_wait(op, -1, nullptr) == DATAFLUX_OK);
  const dataflux_status status = dataflux_operation_result(op, why);
  if (kept != nullptr) *kept = std::move(owner);
  return status;
}

inline std::string json_of(const operation_ptr& op) {
  told why;
  const char* json = nullptr;
  REQUIRE(dataflux_operation_json(op.get(), &json, why) == DATAFLUX_OK);
  return json;
}
inline bool has(const std::string& json, std::string_view member) {
  return json.find(member) != std::string::npos;
}

inline queue_ptr make_queue() {
  told why;
  dataflux_queue* made = nullptr;
  INFO(why.text());
  REQUIRE(dataflux_queue_create(&made, why) == DATAFLUX_OK);
  return queue_ptr(made);
}

/// Waits for records, at most `capacity`.
inline std::vector<dataflux_record> next(const queue_ptr& queue, std::size_t capacity = 64,
                                         std::int64_t timeout_ns = -1) {
  std::vector<dataflux_record> records(capacity);
  std::size_t count = 0;
  dataflux_status status = DATAFLUX_INTERRUPTED;
  while (status == DATAFLUX_INTERRUPTED) {
    status = dataflux_queue_next(queue.get(), records.data(), sizeof records[0], capacity,
                                 timeout_ns, &count);
  }
  REQUIRE(status == DATAFLUX_OK);
  records.resize(count);
  return records;
}

inline std::string_view bytes_of(const dataflux_record& r) {
  return {static_cast<const char*>(r.data), static_cast<std::size_t>(r.size)};
}
inline void release(const std::vector<dataflux_record>& records) {
  for (const dataflux_record& r : records) dataflux_slabs_release(&r.slab, 1);
}

/// An emulator with a bucket, and a client of it.
struct world {
  explicit world(int threads = 1) : server({.threads = threads}) {
    server.service().store().create_bucket("bkt", {});
    client = make_client();
  }

  dataflux_client_options options() const {
    dataflux_client_options o;
    dataflux_client_options_init(&o, sizeof o);
    o.endpoint = server.endpoint().c_str();
    o.emulator = 1;
    return o;
  }
  client_ptr make_client() const { return make_client(options()); }
  static client_ptr make_client(const dataflux_client_options& o) {
    told why;
    dataflux_client* made = nullptr;
    const dataflux_status status = dataflux_client_create(&o, &made, why);
    INFO(why.text());
    REQUIRE(status == DATAFLUX_OK);
    return client_ptr(made);
  }
  /// What becomes of a client with these options.
  static dataflux_status created(const dataflux_client_options& o, told& why) {
    dataflux_client* made = nullptr;
    const dataflux_status status = dataflux_client_create(&o, &made, why);
    CHECK((made != nullptr) == (status == DATAFLUX_OK));
    dataflux_client_free(made);
    return status;
  }
  static dataflux_status put(const client_ptr& by, const char* name, std::string_view body,
                             told& why) {
    const auto o = object(name);
    return outcome(
        [&](auto out, auto err) {
          return dataflux_put(by.get(), &o, body.data(), body.size(), nullptr, nullptr, 0, out,
                              err);
        },
        why);
  }
  static dataflux_object_options object(const char* name) {
    dataflux_object_options o;
    dataflux_object_options_init(&o, sizeof o);
    o.bucket = "bkt";
    o.object = name;
    return o;
  }
  /// `count` objects "o/000000" and so on, of `size` bytes or a few more.
  void fill(int count, std::size_t size = 2000) {
    for (int i = 0; i < count; ++i) server.put("bkt", name_of(i), body_of(i, size));
  }
  static std::string name_of(int i) {
    std::string number = std::to_string(i);
    return "o/" + std::string(6 - number.size(), '0') + number;
  }
  static std::string body_of(int i, std::size_t size = 2000) {
    std::string body(size + static_cast<std::size_t>(i % 7), '\0');
    for (std::size_t k = 0; k < body.size(); ++k) {
      body[k] = static_cast<char>(k * 7 + k / 251 + static_cast<std::size_t>(i));
    }
    return body;
  }
  listing_ptr list(const char* prefix = "o/") const {
    dataflux_list_options o;
    dataflux_list_options_init(&o, sizeof o);
    o.bucket = "bkt";
    o.prefix = prefix;
    told why;
    dataflux_operation* op = nullptr;
    REQUIRE(dataflux_list(client.get(), &o, nullptr, 0, &op, why) == DATAFLUX_OK);
    const operation_ptr owner(op);
    REQUIRE(dataflux_operation_wait(op, -1, why) == DATAFLUX_OK);
    dataflux_listing* taken = nullptr;
    const dataflux_status status = dataflux_operation_take_listing(op, &taken, why);
    INFO(why.text());
    REQUIRE(status == DATAFLUX_OK);
    return listing_ptr(taken);
  }
  /// From now on no request is answered.
  void hold() { server.faults().add({.count = 0, .action = emulator::fault::stall{}}); }

  emulator::server server;
  client_ptr client{};
};

}  // namespace c_api_test
