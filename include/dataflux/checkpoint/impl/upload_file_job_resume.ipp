#pragma once

#include <dataflux/checkpoint/detail/upload_file_job.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Of what an upload cannot change any more when it has begun.
DATAFLUX_INLINE std::uint32_t upload_file_job::wishes() const {
  const upload_request& r = request_.upload;
  const object_attributes& a = r.attributes;
  std::string all;
  const auto add = [&all](const std::string& text) {
    all += std::to_string(text.size()) + ':' + text;
  };
  for (const auto& [key, value] : a.metadata) {
    add(key);
    add(value);
  }
  all += '|';
  for (const auto* text :
       {&a.content_type, &a.content_encoding, &a.storage_class, &a.kms_key_name}) {
    add(*text);
  }
  add(a.custom_time ? std::to_string(a.custom_time->time_since_epoch().count()) : std::string());
  // Older versions know none of these: where they are not used, an upload of theirs is the same.
  if (!a.cache_control.empty() || !a.content_disposition.empty() || !a.content_language.empty()) {
    all += '+';
    for (const auto* text : {&a.cache_control, &a.content_disposition, &a.content_language}) {
      add(*text);
    }
  }
  add(std::to_string(r.part_size));
  all += to_string(r.mode);
  return crc32c(as_bytes(all));
}

DATAFLUX_INLINE void upload_file_job::look() {
  if (journal_) earlier_ = journal_->take_earlier();
  if (!earlier_) return begin_upload();
  keep_journal_ = true;
  const std::uint64_t room = context_.options().upload_memory;
  if (!earlier_->same || earlier_->part_size > room / 2) return forget_earlier();
  list_parts(0);
}

DATAFLUX_INLINE void upload_file_job::list_parts(std::uint32_t marker) {
  store().start(
      list_parts_request{.bucket = earlier_->bucket,
                         .object = earlier_->begun.object,
                         .upload_id = earlier_->begun.upload.upload_id,
                         .marker = marker,
                         .limits = limits()},
      then<part_page>([](upload_file_job& self, const auto& page) { self.listed(page); }));
}

DATAFLUX_INLINE void upload_file_job::listed(const result<part_page>& page) {
  if (!page) {
    const errc code = page.error().code();
    if (code == errc::not_found || code == errc::permission_denied) return forget_earlier();
    return close_for(error(page.error()).with_object(request_.upload.object));
  }
  for (const listed_part& part : page->parts) listed_.insert_or_assign(part.part_number, part);
  if (page->next_marker != 0) return list_parts(page->next_marker);
  const std::size_t count = count_of(earlier_->part_size);
  std::erase_if(earlier_->parts, [&](const auto& entry) {
    const uploaded_part& part = entry.second;
    const auto there = listed_.find(entry.first);
    if (entry.first == 0 || entry.first > count || there == listed_.end()) return true;
    const std::uint64_t offset = (entry.first - 1) * earlier_->part_size;
    const std::uint64_t size = std::min(earlier_->part_size, file_.size() - offset);
    return part.size != size || there->second.size != size || there->second.etag != part.etag;
  });
  listed_.clear();
  begin_upload();
}

/// It would be billed, and nobody would know of it.
DATAFLUX_INLINE void upload_file_job::forget_earlier() {
  const multipart_abort_request last{.bucket = earlier_->bucket,
                                     .object = earlier_->begun.object,
                                     .upload_id = earlier_->begun.upload.upload_id,
                                     .limits = limits()};
  store().start(
      last, then<void>([](upload_file_job& self, const result<void>& aborted) {
        const errc code = aborted ? errc::ok : aborted.error().code();
        if (code == errc::permission_denied && self.request_.upload.observer != nullptr) {
          self.request_.upload.observer->on_log(
              log_level::warning, "left behind, see `dataflux uploads list " +
                                      std::string(self.store().traits().scheme) + "://" +
                                      self.earlier_->bucket + "`: the earlier upload " +
                                      self.earlier_->begun.upload.upload_id + " of '" +
                                      self.request_.path + "' (" + aborted.error().message() + ")");
        }
        if (code != errc::ok && code != errc::not_found && code != errc::permission_denied) {
          return self.close_for(error(aborted.error()).with_object(self.request_.upload.object));
        }
        self.earlier_.reset();
        self.keep_journal_ = false;
        self.begin_upload();
      }));
}

DATAFLUX_INLINE void upload_file_job::journal_made() {
  --busy_;
  if (journal_failure_) fail(*std::exchange(journal_failure_, std::nullopt));
  advance();
}

/// A part that an earlier call had sent.
DATAFLUX_INLINE void upload_file_job::take_up(std::size_t part) {
  const uploaded_part& known = earlier_->parts.at(static_cast<std::uint32_t>(part + 1));
  upload_->have(known);
  got_.resumed += known.size;
  reported_ += known.size;
  if (request_.progress) request_.progress(known.size);
}

DATAFLUX_INLINE void upload_file_job::note(const uploaded_part& part) {
  reported_ += part.size;
  if (request_.progress) request_.progress(part.size);
  if (!journal_) return;
  upload_->keep_parts();
  to_note_.push_back(part);
  journal_next();
}

/// What there is to write, in one step; at the end, when there is none any more, the last step.
DATAFLUX_INLINE void upload_file_job::journal_next() {
  if (journal_busy_) return;
  if (journal_ && (keep_journal_ || !closing_) && (to_head_ || !to_note_.empty())) {
    journal_busy_ = true;
    noting_ = std::exchange(to_note_, {});
    return on_file_thread([this] { write_journal(); },
                          [](upload_file_job& self) { self.journal_written(); });
  }
  if (closing_) on_file_thread([this] { close(); });
}

DATAFLUX_INLINE void upload_file_job::write_journal() {
  result<void> written;
  if (to_head_) written = journal_->head(*to_head_, upload_->plan().first_size());
  if (written && !noting_.empty()) written = journal_->add(noting_);
  if (!written) journal_failure_ = written.error();
  on_strand(&upload_file_job::journal_written);
}

DATAFLUX_INLINE void upload_file_job::journal_written() {
  journal_busy_ = false;
  to_head_.reset();
  if (journal_failure_) {
    to_note_.clear();
    const error why = *std::exchange(journal_failure_, std::nullopt);
    if (!finishing_) fail(why);
  }
  journal_next();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
