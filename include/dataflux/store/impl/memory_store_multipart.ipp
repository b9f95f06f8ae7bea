#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/detail/memory_service.hpp>
#include <dataflux/store/impl/memory_store_service.ipp>

#include <algorithm>
#include <tuple>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE result<const memory_service::upload*> memory_service::find_upload(
    const std::string& id, std::string_view bucket_name, std::string_view object) const {
  const auto found = uploads_.find(id);
  if (found == uploads_.end() || found->second.wanted.bucket != bucket_name ||
      found->second.wanted.name != object) {
    return refused(errc::not_found, 404, "NoSuchUpload",
                   "the upload does not exist: it was completed or aborted, or never began");
  }
  return &found->second;
}

DATAFLUX_INLINE result<multipart_upload> memory_service::initiate(
    const multipart_initiate_request& r) {
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  std::string id = "upload-" + std::to_string(++last_upload_);
  uploads_.emplace(id, upload{metadata_of(r), wall_clock(), {}});
  return multipart_upload{std::move(id), {}};
}

DATAFLUX_INLINE result<uploaded_part> memory_service::upload_part(const upload_part_request& r) {
  const auto to = find_upload(r.upload_id, r.bucket, r.object);
  if (!to) return to.error();
  if (r.part_number > traits_.max_parts || r.data.size() > traits_.max_part_size) {
    return refused(errc::invalid_argument, 400, "InvalidArgument", "part number or size too large");
  }
  const std::uint32_t crc = crc32c(r.data);
  if (r.crc32c && *r.crc32c != crc) {
    return refused(errc::data_loss, 400, "CrcMismatch",
                   "the data of part " + std::to_string(r.part_number) +
                       " does not match its crc32c; nothing was stored");
  }
  uploaded_part facts{r.part_number, r.data.size(), crc,
                      '"' + std::to_string(++last_part_) + '-' + std::to_string(crc) + '"'};
  uploads_.find(r.upload_id)
      ->second.parts.insert_or_assign(r.part_number,
                                      part{facts, wall_clock(), memory_body::copy_of(r.data)});
  return facts;
}

DATAFLUX_INLINE result<object_metadata> memory_service::complete(
    const multipart_complete_request& r) {
  const auto from = find_upload(r.upload_id, r.bucket, r.object);
  if (!from) return from.error();
  const auto in = writable(r.bucket);
  if (!in) return in.error();
  const upload& u = **from;
  crc32c_accumulator stored_sum;
  crc32c_accumulator named_sum;
  memory_body body;
  for (const uploaded_part& named : r.parts) {
    const auto found = u.parts.find(named.part_number);
    if (found == u.parts.end() || found->second.facts.etag != named.etag) {
      return refused(
          errc::invalid_argument, 400, "InvalidPart",
          "part " + std::to_string(named.part_number) + " was not uploaded, or was replaced since");
    }
    const uploaded_part& facts = found->second.facts;
    if (facts.size < traits_.min_part_size && &named != &r.parts.back()) {
      return refused(errc::invalid_argument, 400, "EntityTooSmall",
                     "part " + std::to_string(named.part_number) + " has " +
                         std::to_string(facts.size) + " bytes; every part but the last needs " +
                         std::to_string(traits_.min_part_size));
    }
    stored_sum.append({facts.crc32c, facts.size});
    named_sum.append({named.crc32c, named.size});
    body.append(found->second.data);
  }
  if (stored_sum.crc() != named_sum.crc() || stored_sum.length() != named_sum.length()) {
    return error{errc::data_loss, "the stored parts do not have the checksums that complete names"};
  }
  if (auto e = unwritable(**in, r.bucket, r.object, r.conditions)) return std::move(*e);
  object_metadata m = u.wanted;
  m.crc32c = stored_sum.crc();
  uploads_.erase(r.upload_id);
  return store(**in, std::move(m), std::move(body));
}

DATAFLUX_INLINE result<void> memory_service::abort(const multipart_abort_request& r) {
  const auto found = find_upload(r.upload_id, r.bucket, r.object);
  if (!found) return found.error();
  uploads_.erase(r.upload_id);
  return {};
}

DATAFLUX_INLINE result<part_page> memory_service::list_parts(const list_parts_request& r) const {
  const auto of = find_upload(r.upload_id, r.bucket, r.object);
  if (!of) return of.error();
  const std::uint32_t limit = r.max_results == 0 ? 1000 : r.max_results;
  part_page page;
  for (auto i = (*of)->parts.upper_bound(r.marker); i != (*of)->parts.end(); ++i) {
    if (page.parts.size() == limit) {
      page.next_marker = page.parts.back().part_number;
      break;
    }
    const uploaded_part& facts = i->second.facts;
    page.parts.push_back({facts.part_number, facts.size, facts.etag, i->second.modified});
  }
  return page;
}

DATAFLUX_INLINE result<upload_page> memory_service::list_uploads(
    const list_uploads_request& r) const {
  if (const auto in = find_bucket(r.bucket); !in) return in.error();
  // Ids are counted up, so that the shorter one is the older one.
  const auto key = [](std::string_view object, std::string_view id) {
    return std::make_tuple(object, id.size(), id);
  };
  std::vector<const std::pair<const std::string, upload>*> open;
  for (const auto& entry : uploads_) {
    const object_metadata& wanted = entry.second.wanted;
    if (wanted.bucket != r.bucket || !wanted.name.starts_with(r.prefix)) continue;
    const bool after = r.upload_marker.empty()
                           ? wanted.name > r.object_marker
                           : key(wanted.name, entry.first) > key(r.object_marker, r.upload_marker);
    if (after || r.object_marker.empty()) open.push_back(&entry);
  }
  std::sort(open.begin(), open.end(), [&](const auto* a, const auto* b) {
    return key(a->second.wanted.name, a->first) < key(b->second.wanted.name, b->first);
  });
  const std::size_t limit = r.max_results == 0 ? 1000 : r.max_results;
  upload_page page;
  for (const auto* entry : open) {
    if (page.uploads.size() == limit) {
      page.next_object_marker = page.uploads.back().object;
      page.next_upload_marker = page.uploads.back().upload_id;
      break;
    }
    const upload& u = entry->second;
    page.uploads.push_back({u.wanted.name, entry->first,
                            u.wanted.storage_class.empty() ? "STANDARD" : u.wanted.storage_class,
                            u.initiated});
  }
  return page;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
