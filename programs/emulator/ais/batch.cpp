#include <emulator/ais/batch.hpp>
#include <emulator/ais/error.hpp>
#include <emulator/ais/tar.hpp>
#include <emulator/gzip.hpp>
#include <emulator/json_reply.hpp>

#include <optional>
#include <vector>

namespace emulator::ais {
namespace {

/// How many of its entries may be missing before a stream that goes on past errors ends.
constexpr int most_soft_errors = 6;

struct batch_entry {
  std::string object{};
  std::string bucket{};
  std::string provider{};
  std::string member{};
  std::string opaque{};
  std::int64_t start{0};
  std::int64_t length{0};

  std::string name(bool without_bucket) const {
    std::string out = without_bucket ? object : bucket + "/" + object;
    if (!member.empty()) out += "/" + member;
    return out;
  }
};

struct batch_request {
  std::vector<batch_entry> entries{};
  bool goes_on{false};
  bool without_bucket{false};
  bool streams{false};
};

batch_request parse_batch_request(const call& asked, const http_request& request) {
  const auto document = parse_json(request.body.to_string());
  const json_value* lines = document ? document->find("in") : nullptr;
  const auto* array = lines == nullptr ? nullptr : std::get_if<json_value::array>(&lines->value);
  if (array == nullptr || array->empty()) {
    throw error(400, "ErrInvalidArgument", "GetBatch: empty input");
  }
  if (const auto mime = document->text("mime"); mime && *mime != ".tar" && !mime->empty()) {
    throw error(400, "ErrUnsupp", "GetBatch: only .tar is emulated");
  }
  batch_request out;
  out.goes_on = document->flag("coer").value_or(false);
  out.without_bucket = document->flag("onob").value_or(false);
  out.streams = document->flag("strm").value_or(false);
  for (const json_value& line : *array) {
    batch_entry entry{.object = line.text("objname").value_or(""),
                      .bucket = line.text("bucket").value_or(asked.bucket),
                      .provider = line.text("provider").value_or("ais"),
                      .member = line.text("archpath").value_or(""),
                      .opaque = line.text("opaque").value_or(""),
                      .start = line.integer("start").value_or(0),
                      .length = line.integer("length").value_or(0)};
    if (entry.object.empty() || entry.bucket.empty()) {
      throw error(400, "ErrInvalidArgument", "GetBatch: an entry lacks its object or bucket");
    }
    out.entries.push_back(std::move(entry));
  }
  return out;
}

/// Empty optional where it is missing, or its range is out of bounds.
std::optional<content> bytes_of_entry(const bucket_store& store, const batch_entry& entry) {
  object_ptr object;
  try {
    object = store.newest(entry.bucket, entry.object);
  } catch (const service_error&) {
    return std::nullopt;
  }
  if (!object) return std::nullopt;
  std::optional<content> data = object->data;
  if (!entry.member.empty()) data = archived_member(*object, entry.member);
  if (!data || (entry.start == 0 && entry.length <= 0)) return data;
  const auto size = static_cast<std::int64_t>(data->size());
  const std::int64_t length = entry.length == -1 ? size - entry.start : entry.length;
  if (entry.start < 0 || entry.start >= size || length < 0 || length > size - entry.start) {
    return std::nullopt;
  }
  return data->slice(static_cast<std::uint64_t>(entry.start), static_cast<std::uint64_t>(length));
}

http_reply streamed(const bucket_store& store, const batch_request& wanted) {
  tar_writer tar;
  int missing = 0;
  for (const batch_entry& entry : wanted.entries) {
    const auto data = bytes_of_entry(store, entry);
    if (data) {
      tar.add(entry.name(wanted.without_bucket), *data);
      continue;
    }
    if (!wanted.goes_on || ++missing > most_soft_errors) break;
    tar.add("__404__/" + entry.name(wanted.without_bucket), {});
  }
  http_reply reply;
  reply.set("Content-Type", "application/x-tar");
  reply.body = tar.finish();
  reply.chunked = true;
  return reply;
}

http_reply buffered(const bucket_store& store, const batch_request& wanted) {
  tar_writer tar;
  json_writer told{false};
  told.begin_object();
  told.member("uuid", "emulated");
  told.key("out");
  told.begin_array();
  for (const batch_entry& entry : wanted.entries) {
    const auto data = bytes_of_entry(store, entry);
    const std::string name = entry.name(wanted.without_bucket);
    if (!data && !wanted.goes_on) {
      throw error(404, "ErrNotFound", entry.name(false) + " does not exist");
    }
    tar.add(data ? name : "__404__/" + name, data.value_or(content{}));
    told.begin_object();
    told.member("objname", entry.object);
    if (!entry.member.empty()) told.member("archpath", entry.member);
    told.member("bucket", entry.bucket);
    told.member("provider", entry.provider);
    if (!entry.opaque.empty()) told.member("opaque", entry.opaque);
    told.key("size");
    told.number(data ? static_cast<std::int64_t>(data->size()) : 0);
    if (!data) told.member("err_msg", entry.name(false) + " does not exist");
    told.end_object();
  }
  told.end_array();
  told.end_object();
  static constexpr std::string_view boundary = "emulated-boundary";
  const auto head = [](std::string_view name, std::string_view type) {
    return "--" + std::string{boundary} + "\r\nContent-Disposition: form-data; name=\"" +
           std::string{name} + "\"\r\nContent-Type: " + std::string{type} + "\r\n\r\n";
  };
  http_reply reply;
  reply.set("Content-Type", "multipart/mixed; boundary=" + std::string{boundary});
  content body{head("metadata", "application/json") + told.take() + "\r\n" +
               head("archive", "application/x-tar")};
  body.append(tar.finish());
  body.append(content{"\r\n--" + std::string{boundary} + "--\r\n"});
  reply.body = std::move(body);
  reply.chunked = true;
  return reply;
}

}  // namespace

std::optional<content> archived_member(const stored_object& archive, std::string_view name) {
  const bool gzipped = archive.name.ends_with(".tgz") || archive.name.ends_with(".tar.gz");
  if (!gzipped) return tar_member(archive.data, name);
  auto plain = gunzip(archive.data.to_string());
  if (!plain) return std::nullopt;
  return tar_member(content{std::move(*plain)}, name);
}

http_reply get_batch(const bucket_store& store, const call& asked, const http_request& request) {
  const batch_request wanted = parse_batch_request(asked, request);
  return wanted.streams ? streamed(store, wanted) : buffered(store, wanted);
}

}  // namespace emulator::ais
