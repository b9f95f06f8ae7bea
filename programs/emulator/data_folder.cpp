#include <emulator/data_folder.hpp>
#include <emulator/json_writer.hpp>
#include <emulator/object_json.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace emulator {
namespace {

namespace fs = std::filesystem;

std::int64_t micros(stored_object::time_point time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}
stored_object::time_point time_of(std::int64_t us) {
  return stored_object::time_point{std::chrono::microseconds{us}};
}

void number(json_writer& out, std::string_view name, std::int64_t value) {
  out.key(name);
  out.number(value);
}
void flag(json_writer& out, std::string_view name, bool value) {
  out.key(name);
  out.boolean(value);
}

/// What of a bucket is kept in the form in which clients say it.
void write_more(json_writer& out, const bucket_facts& bucket) {
  const bucket_settings& settings = bucket.settings;
  flag(out, "retentionLocked", settings.retention_locked);
  flag(out, "objectRetention", settings.object_retention);
  flag(out, "uniformAccess", settings.uniform_access);
  if (settings.uniform_locked) number(out, "uniformLockedUs", micros(*settings.uniform_locked));
  flag(out, "publicAccessPrevented", settings.public_access_prevented);
  const auto list = [&out](std::string_view name, access_of kind, const access_list_ptr& held) {
    if (!held) return;
    out.key(name);
    write_access_list(out, {.kind = kind}, *held);
  };
  list("acl", access_of::bucket, settings.access);
  list("defaultObjectAcl", access_of::default_object, settings.default_access);
  out.key("kept");
  write_json(out, {settings.kept});
  if (bucket.policy) {
    number(out, "policyVersion", bucket.policy->version);
    number(out, "policyRevision", bucket.policy->revision);
    out.key("policyBindings");
    write_json(out, bucket.policy->bindings);
  }
  number(out, "lastNotification", bucket.last_notification);
  out.key("notifications");
  out.begin_object();
  for (const auto& [id, held] : bucket.notifications) {
    out.key(std::to_string(id));
    write_json(out, held);
  }
  out.end_object();
}

void read_more(bucket_facts& bucket, const json_value& line) {
  bucket_settings& settings = bucket.settings;
  settings.retention_locked = line.flag("retentionLocked").value_or(false);
  settings.object_retention = line.flag("objectRetention").value_or(false);
  settings.uniform_access = line.flag("uniformAccess").value_or(false);
  if (const auto us = line.integer("uniformLockedUs")) settings.uniform_locked = time_of(*us);
  settings.public_access_prevented = line.flag("publicAccessPrevented").value_or(false);
  const auto list = [&line](std::string_view name, access_of kind, access_list_ptr& held) {
    if (const json_value* found = line.find(name)) held = read_access_list(kind, *found);
  };
  list("acl", access_of::bucket, settings.access);
  list("defaultObjectAcl", access_of::default_object, settings.default_access);
  const auto members = [&line](std::string_view name) {
    const json_value* found = line.find(name);
    const auto* held = found == nullptr ? nullptr : std::get_if<json_value::object>(&found->value);
    return held == nullptr ? json_value::object{} : *held;
  };
  settings.kept = members("kept");
  if (const json_value* bindings = line.find("policyBindings")) {
    bucket.policy = {.version = line.integer("policyVersion").value_or(1),
                     .bindings = *bindings,
                     .revision = line.integer("policyRevision").value_or(1)};
  }
  bucket.last_notification = line.integer("lastNotification").value_or(0);
  for (const auto& [id, held] : members("notifications")) {
    bucket.notifications.emplace(parse_integer(id).value_or(0), held);
  }
}

std::string bucket_line(const bucket_facts& bucket) {
  const bucket_settings& settings = bucket.settings;
  json_writer out{false};
  out.begin_object();
  out.member("event", "bucket");
  out.member("name", bucket.name);
  number(out, "createdUs", micros(bucket.created));
  number(out, "updatedUs", micros(bucket.updated));
  number(out, "metageneration", bucket.metageneration);
  number(out, "layout", static_cast<std::int64_t>(settings.kind));
  out.member("location", settings.location);
  out.member("storageClass", settings.storage_class);
  flag(out, "versioning", settings.versioning);
  flag(out, "requesterPays", settings.requester_pays);
  flag(out, "readOnly", settings.read_only);
  flag(out, "noDelete", settings.no_delete);
  if (settings.retention) {
    number(out, "retentionSeconds", std::int64_t{settings.retention->count()});
  }
  if (settings.retention_effective) {
    number(out, "retentionEffectiveUs", micros(*settings.retention_effective));
  }
  flag(out, "defaultEventBasedHold", settings.default_event_based_hold);
  number(out, "softDeleteSeconds", std::int64_t{settings.soft_delete.count()});
  out.key("labels");
  out.begin_object();
  for (const auto& [key, value] : settings.labels) out.member(key, value);
  out.end_object();
  write_more(out, bucket);
  out.end_object();
  return out.take();
}

bucket_facts bucket_of(const json_value& line) {
  bucket_facts out;
  out.name = line.text("name").value_or("");
  out.created = time_of(line.integer("createdUs").value_or(0));
  out.updated = time_of(line.integer("updatedUs").value_or(0));
  out.metageneration = line.integer("metageneration").value_or(1);
  bucket_settings& settings = out.settings;
  settings.kind = static_cast<bucket_settings::layout>(
      std::clamp<std::int64_t>(line.integer("layout").value_or(0), 0, 2));
  settings.location = line.text("location").value_or("US");
  settings.storage_class = line.text("storageClass").value_or("STANDARD");
  settings.versioning = line.flag("versioning").value_or(false);
  settings.requester_pays = line.flag("requesterPays").value_or(false);
  settings.read_only = line.flag("readOnly").value_or(false);
  settings.no_delete = line.flag("noDelete").value_or(false);
  if (const auto period = line.integer("retentionSeconds")) {
    settings.retention = std::chrono::seconds(*period);
  }
  if (const auto since = line.integer("retentionEffectiveUs")) {
    settings.retention_effective = time_of(*since);
  }
  settings.soft_delete = std::chrono::seconds(line.integer("softDeleteSeconds").value_or(0));
  settings.default_event_based_hold = line.flag("defaultEventBasedHold").value_or(false);
  if (const json_value* labels = line.find("labels")) {
    if (const auto* members = std::get_if<json_value::object>(&labels->value)) {
      for (const auto& [key, value] : *members) {
        if (const auto* text = std::get_if<std::string>(&value.value)) {
          settings.labels.emplace(key, *text);
        }
      }
    }
  }
  read_more(out, line);
  return out;
}

std::string object_line(const stored_object& object) {
  json_writer out{false};
  out.begin_object();
  out.member("event", "object");
  number(out, "createdUs", micros(object.created));
  number(out, "updatedUs", micros(object.updated));
  if (object.deleted) number(out, "deletedUs", micros(*object.deleted));
  if (object.soft) {
    number(out, "softDeletedUs", micros(object.soft->at));
    number(out, "hardDeletedUs", micros(object.soft->until));
  }
  if (object.released) number(out, "releasedUs", micros(*object.released));
  flag(out, "hasMd5", object.has_md5);
  if (!object.customer_key.empty()) out.member("customerKey", object.customer_key);
  out.member("file", fs::path{object.data.file_path()}.filename().string());
  out.key("resource");
  // The digests are left out: they follow from the bytes.
  static const field_mask kept = field_mask::parse(
      "name,bucket,generation,metageneration,contentType,storageClass,size,contentEncoding,"
      "cacheControl,contentDisposition,contentLanguage,customTime,metadata,componentCount,"
      "kmsKeyName,temporaryHold,eventBasedHold,retention,contexts,acl");
  write_object(out, object, kept, {},
               object.metadata.access ? projection::full : projection::no_acl);
  out.end_object();
  return out.take();
}

}  // namespace

/// A file that is unlinked when the last reader leaves it, unless an object refers to it.
class data_folder::kept_file {
 public:
  explicit kept_file(std::string path) : path_(std::move(path)) {}
  ~kept_file() {
    if (unwanted.load(std::memory_order_acquire)) std::remove(path_.c_str());
  }
  kept_file(const kept_file&) = delete;
  kept_file& operator=(const kept_file&) = delete;

  std::atomic<bool> unwanted{true};

 private:
  std::string path_;
};

data_folder::data_folder(const std::string& path, bucket_store& store) : path_(path) {
  std::error_code failed;
  fs::create_directories(path_ + "/bytes", failed);
  if (failed) throw std::runtime_error("Cannot make " + path_ + ": " + failed.message());
  read_journal(store);
  const std::string fresh = path_ + "/journal.new";
  journal_.open(fresh, std::ios::trunc);
  store.attach(*this);
  journal_.flush();
  if (journal_) fs::rename(fresh, path_ + "/journal", failed);
  if (!journal_ || failed) throw std::runtime_error("Cannot write the journal in " + path_);
  remove_strangers();
}

void data_folder::read_journal(bucket_store& store) {
  std::ifstream in{path_ + "/journal"};
  std::string text;
  while (std::getline(in, text)) {
    const auto line = parse_json(text);
    if (!line) break;
    const std::string event = line->text("event").value_or("");
    if (event == "bucket") {
      store.restore_bucket(bucket_of(*line));
    } else if (event == "bucketRemoved") {
      store.restore_without(line->text("name").value_or(""));
    } else if (event == "object") {
      restore_object(store, *line);
    } else if (event == "removed") {
      store.restore_without(line->text("bucket").value_or(""), line->text("name").value_or(""),
                            line->integer("generation").value_or(0));
    }
  }
}

void data_folder::restore_object(bucket_store& store, const json_value& line) {
  const json_value* resource = line.find("resource");
  if (resource == nullptr) return;
  auto object = std::make_shared<stored_object>();
  object->metadata = read_declared_object(*resource).metadata;
  object->metadata.contexts = contexts_of(*resource);
  object->bucket = resource->text("bucket").value_or("");
  object->name = resource->text("name").value_or("");
  object->generation = resource->integer("generation").value_or(0);
  object->metageneration = resource->integer("metageneration").value_or(1);
  object->component_count =
      static_cast<std::int32_t>(resource->integer("componentCount").value_or(0));
  object->created = time_of(line.integer("createdUs").value_or(0));
  object->updated = time_of(line.integer("updatedUs").value_or(0));
  if (const auto deleted = line.integer("deletedUs")) object->deleted = time_of(*deleted);
  object->customer_key = line.text("customerKey").value_or("");
  if (const auto soft = line.integer("softDeletedUs")) {
    object->soft = {.at = time_of(*soft),
                    .until = time_of(line.integer("hardDeletedUs").value_or(*soft))};
  }
  if (const auto released = line.integer("releasedUs")) object->released = time_of(*released);
  object->has_md5 = line.flag("hasMd5").value_or(true);
  const auto size = static_cast<std::uint64_t>(resource->integer("size").value_or(0));
  const std::string file = line.text("file").value_or("");
  // A later line may take the object away and give it back: files go when all lines are read.
  if (size > 0) object->data = content_of(file, size, false);
  const auto number = parse_integer(file);
  if (number && *number > 0) {
    next_file_ = std::max(next_file_, static_cast<std::uint64_t>(*number) + 1);
  }
  store.restore(std::move(object));
}

content data_folder::content_of(const std::string& name, std::uint64_t size, bool unwanted) {
  const std::string path = path_ + "/bytes/" + name;
  reference& held = files_[path];
  auto file = held.file.lock();
  if (!file) {
    file = std::make_shared<kept_file>(path);
    file->unwanted.store(unwanted, std::memory_order_release);
    held.file = file;
  }
  return content::of_file(path, size, file);
}

content data_folder::keep(const content& bytes) {
  if (bytes.empty()) return {};
  content out;
  {
    const std::lock_guard lock{mutex_};
    out = content_of(std::to_string(next_file_++), bytes.size(), true);
  }
  std::ofstream file{out.file_path(), std::ios::binary | std::ios::trunc};
  std::vector<std::byte> scratch;
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto chunk = bytes.read(at, std::size_t{1} << 20U, scratch);
    if (chunk.empty()) break;
    file.write(text_of(chunk).data(), static_cast<std::streamsize>(chunk.size()));
    at += chunk.size();
  }
  file.flush();
  if (!file) throw std::runtime_error("Cannot write " + out.file_path());
  return out;
}

void data_folder::append(const std::string& line) {
  journal_ << line << '\n';
  journal_.flush();
}

void data_folder::saved(const stored_object& object) {
  const std::lock_guard lock{mutex_};
  if (!object.data.empty()) {
    const auto at = files_.find(object.data.file_path());
    if (at == files_.end()) return;  // seeded: its bytes are not ours to keep
    ++at->second.objects;
    if (const auto file = at->second.file.lock()) {
      file->unwanted.store(false, std::memory_order_release);
    }
  }
  append(object_line(object));
}

void data_folder::removed(const stored_object& object, const stored_object* successor) {
  const std::lock_guard lock{mutex_};
  json_writer out{false};
  out.begin_object();
  out.member("event", "removed");
  out.member("bucket", object.bucket);
  out.member("name", object.name);
  number(out, "generation", object.generation);
  out.end_object();
  append(out.take());
  const auto at = files_.find(object.data.file_path());
  if (at == files_.end() || --at->second.objects > 0 || successor != nullptr) return;
  if (const auto file = at->second.file.lock()) {
    file->unwanted.store(true, std::memory_order_release);
  }
  files_.erase(at);
}

void data_folder::bucket_saved(const bucket_facts& bucket) {
  const std::lock_guard lock{mutex_};
  append(bucket_line(bucket));
}

void data_folder::bucket_removed(std::string_view bucket) {
  const std::lock_guard lock{mutex_};
  json_writer out{false};
  out.begin_object();
  out.member("event", "bucketRemoved");
  out.member("name", bucket);
  out.end_object();
  append(out.take());
}

/// Files of objects that were gone when the program ended, or whose writing broke off.
void data_folder::remove_strangers() const {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator{path_ + "/bytes", failed}) {
    const auto at = files_.find(entry.path().string());
    if (at == files_.end() || at->second.objects == 0) fs::remove(entry.path(), failed);
  }
}

}  // namespace emulator
