#pragma once

#include <c_api/saving.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// What tests of sets share.
namespace c_api_test {

using set_ptr = std::unique_ptr<dataflux_set, freer<dataflux_set_free>>;
using set_reader_ptr = std::unique_ptr<dataflux_set_reader, freer<dataflux_set_reader_free>>;

inline dataflux_set_options below(const char* prefix) {
  dataflux_set_options o;
  dataflux_set_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.prefix = prefix;
  return o;
}
inline set_ptr make_set(const client_ptr& client, const char* prefix) {
  told why;
  const auto o = below(prefix);
  dataflux_set* made = nullptr;
  const dataflux_status status = dataflux_set_create(client.get(), &o, &made, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  return set_ptr(made);
}
inline operation_ptr begin(const set_ptr& set,
                           std::uint32_t unfinished = DATAFLUX_UNFINISHED_REFUSE,
                           dataflux_status expected = DATAFLUX_OK) {
  return ended(
      [&](auto queue, auto tag, auto op, auto err) {
        return dataflux_set_begin(set.get(), unfinished, queue, tag, op, err);
      },
      expected);
}
/// Writes a member, and gives its record.
inline std::string save_member(const set_ptr& set, const char* name, std::string_view body) {
  told why;
  const writer_ptr writer = take_writer(ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_set_open_member(set.get(), name, nullptr, queue, tag, op, err);
  }));
  write_all(writer, body);
  const operation_ptr made = commit(writer);
  char* text = nullptr;
  const dataflux_status status = dataflux_set_record(set.get(), made.get(), &text, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  std::string record(text);
  dataflux_text_free(text);
  return record;
}
inline operation_ptr commit_set(const set_ptr& set, const std::vector<std::string>& records,
                                const char* last = nullptr, std::string_view data = {},
                                dataflux_status expected = DATAFLUX_OK,
                                dataflux_record* record = nullptr) {
  std::vector<const char*> texts;
  texts.reserve(records.size());
  for (const std::string& each : records) texts.push_back(each.c_str());
  dataflux_set_commit_options o;
  dataflux_set_commit_options_init(&o, sizeof o);
  o.records = texts.data();
  o.record_count = texts.size();
  o.last = last;
  o.data = data.data();
  o.size = data.size();
  return ended([&](auto queue, auto tag, auto op,
                   auto err) { return dataflux_set_commit(set.get(), &o, queue, tag, op, err); },
               expected, record);
}
/// A complete set of one member.
inline void save(const client_ptr& client, const char* prefix) {
  const set_ptr set = make_set(client, prefix);
  begin(set);
  commit_set(set, {save_member(set, "rank-0", prefix)});
}
inline operation_ptr open_set(const set_ptr& set, dataflux_status expected = DATAFLUX_OK) {
  return ended([&](auto queue, auto tag, auto op,
                   auto err) { return dataflux_set_open(set.get(), nullptr, queue, tag, op, err); },
               expected);
}
inline set_reader_ptr take_set(const operation_ptr& op) {
  told why;
  dataflux_set_reader* made = nullptr;
  const dataflux_status status = dataflux_operation_take_set_reader(op.get(), &made, why);
  INFO(why.text());
  REQUIRE(status == DATAFLUX_OK);
  return set_reader_ptr(made);
}
inline std::string json_of(const set_reader_ptr& set) {
  const char* json = nullptr;
  REQUIRE(dataflux_set_reader_json(set.get(), &json, nullptr) == DATAFLUX_OK);
  return json;
}
inline std::string read_member(const set_reader_ptr& set, const char* name) {
  const reader_ptr reader = take_reader(ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_set_reader_open(set.get(), name, nullptr, queue, tag, op, err);
  }));
  std::string memory(dataflux_reader_size(reader.get()), '\0');
  ended([&](auto queue, auto tag, auto op, auto err) {
    return dataflux_reader_read(reader.get(), 0, memory.data(), memory.size(), queue, tag, op, err);
  });
  return memory;
}

}  // namespace c_api_test
