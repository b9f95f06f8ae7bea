#include <emulator/digest.hpp>
#include <emulator/service_error.hpp>
#include <emulator/upload_store.hpp>

#include <algorithm>
#include <chrono>

namespace emulator {

upload_store::upload_map::const_iterator upload_store::find(std::string_view bucket,
                                                            std::string_view key,
                                                            std::string_view id) const {
  const auto at = uploads_.find(id);
  if (at == uploads_.end() || at->second.bucket != bucket || at->second.key != key) {
    throw no_such_upload();
  }
  return at;
}

std::string upload_store::initiate(std::string_view bucket, std::string_view key,
                                   object_metadata metadata, std::string customer_key,
                                   std::shared_ptr<const s3::object_facts> s3_facts) {
  const std::lock_guard lock{mutex_};
  // URL-safe, as the service's ids are: a client sends them as they came.
  const std::string number = std::to_string(next_++);
  const std::string id = "VXBsb2Fk" + base64url_encode(md5("upload " + number)) + "-" + number;
  uploads_.emplace(id, upload{.id = id,
                              .bucket = std::string{bucket},
                              .key = std::string{key},
                              .metadata = std::move(metadata),
                              .initiated = std::chrono::system_clock::now(),
                              .parts = {},
                              .customer_key = std::move(customer_key),
                              .s3_facts = std::move(s3_facts)});
  return id;
}

std::string upload_store::add_part(std::string_view bucket, std::string_view key,
                                   std::string_view id, int number, content data) {
  // The service's part ETags are MD5; they are opaque, and a CRC32C costs a fiftieth.
  const std::uint32_t crc = crc32c(data).value();
  const std::string seed = std::to_string(crc) + "/" + std::to_string(data.size());
  std::string etag = "\"" + hex_encode(md5(seed)) + "\"";
  put_part(bucket, key, id, number, {.etag = etag, .data = std::move(data)});
  return etag;
}

void upload_store::put_part(std::string_view bucket, std::string_view key, std::string_view id,
                            int number, part fresh) {
  fresh.received = std::chrono::system_clock::now();
  const std::lock_guard lock{mutex_};
  const auto at = find(bucket, key, id);
  uploads_.find(at->first)->second.parts.insert_or_assign(number, std::move(fresh));
}

upload_store::upload upload_store::choose(const upload& from,
                                          const std::vector<listed_part>& listed,
                                          std::uint64_t least_part_size) {
  const std::map<int, part>& parts = from.parts;
  if (listed.empty()) {
    throw bad_request("MalformedXML", "The complete request names no part.");
  }
  const auto not_rising = [](const listed_part& a, const listed_part& b) {
    return a.number >= b.number;
  };
  if (std::ranges::adjacent_find(listed, not_rising) != listed.end()) {
    throw bad_request("InvalidPartOrder", "The list of parts was not in ascending order.");
  }
  std::map<int, part> chosen;
  for (const listed_part& line : listed) {
    const auto held = parts.find(line.number);
    const bool matches = held != parts.end() && (held->second.etag == line.etag ||
                                                 held->second.etag == "\"" + line.etag + "\"");
    if (!matches) {
      throw bad_request("InvalidPart",
                        "One or more of the specified parts could not be found or its ETag does "
                        "not match: part " +
                            std::to_string(line.number));
    }
    if (held->second.data.size() < least_part_size && &line != &listed.back()) {
      throw bad_request("EntityTooSmall",
                        "Your proposed upload is smaller than the minimum allowed object size.");
    }
    chosen.emplace(*held);
  }
  upload out = from;
  out.parts = std::move(chosen);
  return out;
}

upload_store::upload upload_store::chosen(std::string_view bucket, std::string_view key,
                                          std::string_view id,
                                          const std::vector<listed_part>& listed,
                                          std::uint64_t least_part_size) const {
  const std::lock_guard lock{mutex_};
  return choose(find(bucket, key, id)->second, listed, least_part_size);
}

upload_store::upload upload_store::complete(std::string_view bucket, std::string_view key,
                                            std::string_view id,
                                            const std::vector<listed_part>& listed,
                                            std::uint64_t least_part_size) {
  const std::lock_guard lock{mutex_};
  const auto at = find(bucket, key, id);
  upload out = choose(at->second, listed, least_part_size);
  uploads_.erase(at);
  return out;
}

void upload_store::abort(std::string_view bucket, std::string_view key, std::string_view id) {
  const std::lock_guard lock{mutex_};
  uploads_.erase(find(bucket, key, id));
}

upload_store::upload upload_store::get(std::string_view bucket, std::string_view key,
                                       std::string_view id) const {
  const std::lock_guard lock{mutex_};
  return find(bucket, key, id)->second;
}

std::vector<upload_store::upload> upload_store::list(std::string_view bucket) const {
  const std::lock_guard lock{mutex_};
  std::vector<upload> out;
  for (const auto& [id, held] : uploads_) {
    if (held.bucket != bucket) continue;
    upload line{.id = held.id,
                .bucket = held.bucket,
                .key = held.key,
                .metadata = held.metadata,
                .initiated = held.initiated,
                .parts = {},
                .customer_key = held.customer_key,
                .s3_facts = held.s3_facts};
    out.push_back(std::move(line));
  }
  std::ranges::stable_sort(out, {}, &upload::key);
  return out;
}

std::size_t upload_store::open() const {
  const std::lock_guard lock{mutex_};
  return uploads_.size();
}

}  // namespace emulator
