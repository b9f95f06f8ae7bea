#include <dataflux/codec/crc32c.hpp>

#include <cstdio>

#include "commands.hpp"
#include "location.hpp"
#include "selecting.hpp"

namespace cli {

namespace {

void print(const char* what, const std::string& value) {
  if (!value.empty()) std::printf("  %-20s %s\n", what, value.c_str());
}

void print_time(const char* what, const std::optional<dataflux::timestamp>& time) {
  if (time) print(what, dataflux::to_string(*time));
}

void print_object(std::string_view scheme, const dataflux::object_metadata& object) {
  std::printf("%s\n", shown_url(scheme, object.bucket, object.name).c_str());
  print("size", std::to_string(object.size));
  print("generation", std::to_string(object.generation));
  if (object.metageneration > 0) print("metageneration", std::to_string(object.metageneration));
  if (object.crc32c) {
    print("crc32c", std::string(dataflux::encode_crc32c(*object.crc32c).view()));
  }
  print("md5", object.md5_hash);
  print("content type", object.content_type);
  print("content encoding", object.content_encoding);
  print("storage class", object.storage_class);
  print("kms key", object.kms_key_name);
  print_time("created", object.created);
  print_time("updated", object.updated);
  print_time("custom time", object.custom_time);
  if (object.component_count > 0) print("components", std::to_string(object.component_count));
  for (const auto& [key, value] : object.metadata) print(("metadata " + key).c_str(), value);
}

}  // namespace

exit_status run_stat(const session& with, const stat_options& options) {
  outcome report(nullptr, nullptr, with.speaks);
  const auto sources = parse_object_sources(with, options.urls, options.select);
  if (!sources) {
    report.failed(sources.error());
    return report.status();
  }
  for_each_named(with, *sources, options.select, report, [&](const location& where) {
    const auto object = find_object(with.store, where, with.stop);
    if (!object) return report.failed(object.error());
    print_object(with.scheme(), *object);
    report.done(0);
  });
  if (std::fflush(stdout) != 0) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
