#pragma once

#include <c_api/harness.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

/// What tests of saving and restoring share.
namespace c_api_test {

/// The smallest part that the service takes.
inline constexpr std::size_t least_part = std::size_t{5} << 20U;

/// Begins by `begin(queue, tag, out, err)`, waits, and gives the operation. Its record has the
/// status that is expected.
template <class Begin>
operation_ptr ended(Begin begin, dataflux_status expected = DATAFLUX_OK,
                    dataflux_record* record = nullptr) {
  told why;
  const queue_ptr queue = make_queue();
  dataflux_operation* op = nullptr;
  const dataflux_status begun =
      begin(queue.get(), std::uint64_t{77}, &op, static_cast<dataflux_error**>(why));
  INFO(why.text());
  REQUIRE(begun == DATAFLUX_OK);
  operation_ptr owner(op);
  const auto records = next(queue);
  REQUIRE(records.size() == 1);
  const dataflux_status status = dataflux_operation_result(op, why);
  INFO(why.text());
  CHECK(records[0].tag == 77);
  CHECK((records[0].flags & DATAFLUX_RECORD_END) != 0);
  CHECK(records[0].status == expected);
  CHECK(status == expected);
  if (record != nullptr) *record = records[0];
  return owner;
}

inline dataflux_writer_options writer_of(const char* object) {
  dataflux_writer_options o;
  dataflux_writer_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.object = object;
  return o;
}
inline operation_ptr open_writer(const client_ptr& client, const dataflux_writer_options& o,
                                 dataflux_status expected = DATAFLUX_OK) {
  return ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_writer_open(client.get(), &o, queue, tag, op, err);
      },
      expected);
}
inline writer_ptr take_writer(const operation_ptr& op) {
  told why;
  dataflux_writer* made = nullptr;
  const dataflux_status status = dataflux_operation_take_writer(op.get(), &made, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  return writer_ptr(made);
}
inline writer_ptr make_writer(const client_ptr& client, const dataflux_writer_options& o) {
  return take_writer(open_writer(client, o));
}
inline void write_all(const writer_ptr& writer, std::string_view bytes) {
  told why;
  std::size_t taken = 0;
  const dataflux_status status =
      dataflux_writer_write(writer.get(), bytes.data(), bytes.size(), -1, &taken, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  REQUIRE(taken == bytes.size());
}
inline operation_ptr commit(const writer_ptr& writer, dataflux_status expected = DATAFLUX_OK,
                            dataflux_record* record = nullptr) {
  return ended([&](auto queue, auto tag, auto op,
                   auto err) { return dataflux_writer_commit(writer.get(), queue, tag, op, err); },
               expected, record);
}

inline reader_ptr take_reader(const operation_ptr& op) {
  told why;
  dataflux_reader* made = nullptr;
  const dataflux_status status = dataflux_operation_take_reader(op.get(), &made, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  return reader_ptr(made);
}

}  // namespace c_api_test
