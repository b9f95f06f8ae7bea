#include "object.hpp"
#include "set.hpp"

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json_writer.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace dataflux_c {

namespace {

using dataflux::detail::codec::json_writer;

void decimal(json_writer& w, std::string_view name, std::uint64_t value) {
  w.key(name).decimal_string(static_cast<std::int64_t>(value));
}
void write_info(json_writer& w, const dataflux::checkpoint_set_info& info) {
  w.key("prefix").string(info.prefix).key("last").string(info.last);
  if (info.committed) w.key("committed").string(dataflux::to_string(*info.committed));
  decimal(w, "bytes", info.bytes);
}
void write_damaged(json_writer& w, const std::vector<dataflux::damaged_checkpoint_set>& sets) {
  w.begin_array();
  for (const auto& each : sets) {
    w.begin_object();
    write_info(w, each.set);
    w.key("members").natural(each.set.members);
    w.key("why").string(each.why.to_string()).end_object();
  }
  w.end_array();
}

}  // namespace

std::string json_of(const dataflux::checkpoint_set_reader& set) {
  json_writer w;
  w.begin_object();
  write_info(w, set.info());
  w.key("members_folder").string(set.members_folder());
  w.key("members").begin_array();
  for (const dataflux::member_record& member : set.members()) {
    w.begin_object().key("name").string(member.name);
    decimal(w, "size", member.size);
    w.key("generation").decimal_string(member.generation);
    w.key("crc32c").string(dataflux::encode_crc32c(member.crc32c).view()).end_object();
  }
  w.end_array();
  if (!set.passed_over().empty()) {
    w.key("passed_over");
    write_damaged(w, set.passed_over());
  }
  w.end_object();
  return std::move(w).take();
}

std::string json_of(const dataflux::checkpoint_set_list& list) {
  json_writer w;
  w.begin_object().key("complete").begin_array();
  for (const auto& set : list.complete) {
    w.begin_object();
    write_info(w, set);
    w.key("members").natural(set.members).end_object();
  }
  w.end_array().key("damaged");
  write_damaged(w, list.damaged);
  w.key("unfinished").begin_array();
  for (const auto& each : list.unfinished) {
    w.begin_object().key("prefix").string(each.prefix).key("objects").natural(each.objects);
    decimal(w, "bytes", each.bytes);
    w.key("uploads").natural(each.uploads);
    if (each.written) w.key("written").string(dataflux::to_string(*each.written));
    w.end_object();
  }
  w.end_array();
  if (list.uploads_unknown) w.key("uploads_unknown").string(list.uploads_unknown->to_string());
  w.end_object();
  return std::move(w).take();
}

std::string json_of(const dataflux::removal_report& report) {
  json_writer w;
  w.begin_object().key("objects").natural(report.objects);
  w.key("uploads").natural(report.uploads);
  decimal(w, "bytes", report.bytes);
  w.key("sets").begin_array();
  for (const std::string& prefix : report.sets) w.string(prefix);
  w.end_array().key("failures").begin_array();
  for (const auto& each : report.failures) {
    w.begin_object().key("name").string(each.name);
    w.key("why").string(each.why.to_string()).end_object();
  }
  w.end_array().key("spared").natural(report.spared).end_object();
  return std::move(w).take();
}

std::string json_of(const dataflux::committed_set& set) {
  json_writer w;
  w.key("manifest").string(set.manifest).key("members").natural(set.members);
  decimal(w, "bytes", set.bytes);
  return "{\"last\":" + json_of(set.last) + "," + std::move(w).take() +
         ",\"replaced\":" + json_of(set.replaced) + "}";
}

}  // namespace dataflux_c
