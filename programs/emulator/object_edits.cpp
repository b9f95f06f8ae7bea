#include <emulator/customer_key.hpp>
#include <emulator/digest.hpp>
#include <emulator/json_reply.hpp>
#include <emulator/object_edits.hpp>
#include <emulator/object_json.hpp>
#include <emulator/object_rules.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace emulator {
namespace {

constexpr std::size_t most_sources = 32;

/// One line of a compose request's sourceObjects.
object_ptr compose_source(const bucket_store& store, std::string_view bucket,
                          const json_value& line) {
  const auto name = line.text("name");
  if (!name) throw required_parameter("sourceObjects.name");
  preconditions when;
  when.generation = line.integer("generation");
  if (const json_value* conditions = line.find("objectPreconditions")) {
    when.if_generation_match = conditions->integer("ifGenerationMatch");
  }
  if (when.generation && when.if_generation_match &&
      *when.generation != *when.if_generation_match) {
    throw condition_not_met();  // a generation that it names is not the one that it demands
  }
  return store.get(bucket, *name, when);
}

std::vector<object_ptr> compose_sources(const bucket_store& store, std::string_view bucket,
                                        const json_value& document) {
  const json_value* lines = document.find("sourceObjects");
  const auto* array = lines == nullptr ? nullptr : std::get_if<json_value::array>(&lines->value);
  if (array == nullptr || array->empty()) {
    throw invalid_argument("You must provide at least one source component.");
  }
  if (array->size() > most_sources) {
    throw invalid_argument("The number of source components provided (" +
                           std::to_string(array->size()) + ") exceeds the maximum (32)");
  }
  std::vector<object_ptr> out;
  for (const json_value& line : *array) out.push_back(compose_source(store, bucket, line));
  const auto differs = [&out](const object_ptr& source) {
    return source->metadata.storage_class != out.front()->metadata.storage_class;
  };
  if (std::ranges::any_of(out, differs)) {
    throw invalid_argument("All sources must have the same storage class");
  }
  return out;
}

void write_rewrite(json_writer& out, std::uint64_t done, std::uint64_t size, bool finished) {
  out.member("kind", "storage#rewriteResponse");
  out.member("totalBytesRewritten", std::to_string(done));
  out.member("objectSize", std::to_string(size));
  out.key("done");
  out.boolean(finished);
}

}  // namespace

http_reply object_edits::patch(const call& asked, const http_request& request, bool whole) const {
  const json_value document = body_document(request);
  const auto when = preconditions::of_query(asked.query, request);
  const object_ptr changed =
      store_.change(asked.bucket, asked.object, when, [&](object_metadata& metadata) {
        object_metadata patched = metadata;
        if (whole) {
          patched = {};
          patched.custom_time = metadata.custom_time;
          patched.access = metadata.access;
        }
        patch_metadata(patched, document);
        take_predefined_access(patched, asked.query, "predefinedAcl");
        patched.storage_class = metadata.storage_class;
        patched.kms_key = metadata.kms_key;
        check_retention(metadata.retention, patched.retention,
                        asked.query.flag("overrideUnlockedRetention"));
        metadata = std::move(patched);
      });
  return object_reply(asked, request, *changed, projection::full);
}

http_reply object_edits::compose(const call& asked, const http_request& request) const {
  store_.require_bucket(asked.bucket);
  const json_value document = body_document(request);
  const auto sources = compose_sources(store_, asked.bucket, document);
  bucket_store::new_object fresh;
  fresh.name = asked.object;
  fresh.has_md5 = false;
  fresh.metadata.storage_class = sources.front()->metadata.storage_class;
  if (const json_value* destination = document.find("destination")) {
    patch_metadata(fresh.metadata, *destination);
  }
  if (asked.query.has("kmsKeyName")) fresh.metadata.kms_key = asked.query.get("kmsKeyName");
  take_predefined_access(fresh.metadata, asked.query, "destinationPredefinedAcl");
  fresh.customer_key = customer_key_of(request);
  for (const object_ptr& source : sources) {
    require_key(*source, fresh.customer_key);
    fresh.data.append(source->data);
    fresh.component_count += std::max(source->component_count, 1);
  }
  const auto when = preconditions::of_query(asked.query, request);
  const bool deletes = document.flag("deleteSourceObjects").value_or(false);
  for (const object_ptr& source : sources) {
    if (deletes) require_unguarded(*source);
  }
  const object_ptr stored = store_.put(asked.bucket, std::move(fresh), when);
  if (deletes) {
    for (const object_ptr& source : sources) {
      // The destination may be one of the sources, and so be gone already.
      store_.erase(asked.bucket, source->name, source->generation);
    }
  }
  return object_reply(asked, request, *stored);
}

/// With a body the destination has its metadata and nothing of the source's.
object_ptr object_edits::store_copy(const call& asked, const http_request& request,
                                    const stored_object& source) const {
  const json_value document = body_document(request);
  object_metadata metadata = source.metadata.copied();
  if (!std::get<json_value::object>(document.value).empty()) {
    metadata = {};
    metadata.storage_class = source.metadata.storage_class;
    patch_metadata(metadata, document);
  }
  take_predefined_access(metadata, asked.query, "destinationPredefinedAcl");
  if (asked.query.has("destinationKmsKeyName")) {
    metadata.kms_key = asked.query.get("destinationKmsKeyName");
  }
  preconditions when = preconditions::of_query(asked.query, request);
  when.generation.reset();
  return store_.put(asked.to_bucket,
                    {.name = asked.to_object,
                     .metadata = std::move(metadata),
                     .data = source.data,
                     .has_md5 = source.has_md5,
                     .component_count = source.component_count,
                     .customer_key = customer_key_of(request)},
                    when);
}

http_reply object_edits::copy(const call& asked, const http_request& request) const {
  const object_ptr source =
      store_.get(asked.bucket, asked.object, preconditions::of_source(asked.query));
  require_key(*source, customer_key_of(request, key_role::copy_source));
  return object_reply(asked, request, *store_copy(asked, request, *source));
}

std::uint64_t object_edits::step_of(const call& asked) const {
  const std::string_view text = asked.query.get("maxBytesRewrittenPerCall");
  if (text.empty()) return rewrite_step_;
  const auto value = parse_integer(text);
  if (!value || *value <= 0 || *value % (1 << 20) != 0) {
    throw invalid_argument("maxBytesRewrittenPerCall must be a multiple of 1 MiB");
  }
  const auto step = static_cast<std::uint64_t>(*value);
  return rewrite_step_ == 0 ? step : std::min(step, rewrite_step_);
}

http_reply object_edits::rewrite(const call& asked, const http_request& request) {
  store_.require_bucket(asked.to_bucket);
  const std::string to = asked.to_bucket + "/" + asked.to_object;
  const std::uint64_t step = step_of(asked);
  std::string token{asked.query.get("rewriteToken")};
  rewriting now;
  {
    const std::lock_guard lock{mutex_};
    if (token.empty()) {
      now = {
          .source = store_.get(asked.bucket, asked.object, preconditions::of_source(asked.query)),
          .to = to};
      token = base64url_encode(md5("rewrite " + std::to_string(next_++)));
    } else {
      const auto at = rewrites_.find(token);
      if (at == rewrites_.end() || at->second.to != to || at->second.source->name != asked.object) {
        throw invalid_argument("Invalid rewrite token");
      }
      now = at->second;
    }
    require_key(*now.source, customer_key_of(request, key_role::copy_source));
    const std::uint64_t size = now.source->data.size();
    now.done = step == 0 ? size : std::min(size, now.done + step);
    // Kept when done, too: a repeated last call gets its answer again.
    rewrites_.insert_or_assign(token, now);
  }
  const std::uint64_t size = now.source->data.size();
  json_writer out{asked.pretty()};
  out.begin_object();
  write_rewrite(out, now.done, size, now.done == size);
  if (now.done == size) {
    const object_ptr stored = store_copy(asked, request, *now.source);
    out.key("resource");
    write_object(out, *stored, {}, request.base(), wanted_projection(asked),
                 customer_key_of(request));
  } else {
    out.member("rewriteToken", token);
  }
  out.end_object();
  return json_reply(out.take());
}

http_reply object_edits::move(const call& asked, const http_request& request) const {
  const auto source = preconditions::of_source(asked.query);
  const auto when = preconditions::of_query(asked.query, request);
  const auto both = [](const auto& match, const auto& not_match) { return match && not_match; };
  if (both(source.if_generation_match, source.if_generation_not_match) ||
      both(source.if_metageneration_match, source.if_metageneration_not_match) ||
      both(when.if_generation_match, when.if_generation_not_match) ||
      both(when.if_metageneration_match, when.if_metageneration_not_match)) {
    throw invalid_argument("Match and NotMatch of the same kind exclude each other");
  }
  return object_reply(asked, request,
                      *store_.move(asked.bucket, asked.object, asked.to_object, source, when));
}

http_reply object_edits::restore(const call& asked, const http_request& request) const {
  const auto when = preconditions::of_query(asked.query, request);
  if (!when.generation) throw required_parameter("generation");
  preconditions live = when;
  live.generation.reset();
  return object_reply(asked, request,
                      *store_.restore_deleted(asked.bucket, asked.object, *when.generation, live));
}

}  // namespace emulator
