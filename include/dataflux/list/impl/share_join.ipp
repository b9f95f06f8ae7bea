#pragma once

#include <dataflux/list/detail/share_call.hpp>
#include <dataflux/list/detail/share_join.hpp>
#include <dataflux/list/impl/manifest_object.ipp>
#include <dataflux/list/impl/manifest_writer.ipp>
#include <dataflux/store/detail/file_step.hpp>

#include <algorithm>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Of pieces that wait for their turn.
inline constexpr std::uint64_t share_join_memory = std::uint64_t{256} << 20U;
/// Pieces of one step on a thread for files.
inline constexpr std::size_t share_join_step = 64;

DATAFLUX_INLINE share_join::share_join(object_store& store, scheduler& strand, call_limits limits,
                                       what all, completion done)
    : call_coordinator(store, strand, std::move(limits), std::move(done)),
      all_(std::move(all)),
      joiner_(all_.description),
      file_(std::make_unique<replacing_file>(all_.path)) {}

DATAFLUX_INLINE share_join::~share_join() = default;

DATAFLUX_INLINE void share_join::begin() {
  if (!watch_stop()) return stop_asked();
  read_records();
}

DATAFLUX_INLINE void share_join::read_records() {
  for (; next_record_ < all_.ids.size() && reading_ < all_.parallelism; ++next_record_) {
    const std::string& id = all_.ids[next_record_];
    if (all_.records.contains(id)) continue;
    ++reading_;
    start_read_done(store(),
                    {.bucket = all_.bucket, .object = all_.done_prefix + id, .limits = limits()},
                    then<share_record>([&id](share_join& self, result<share_record> record) {
                      --self.reading_;
                      if (self.failed()) return;
                      if (!record) return self.fail(std::move(record).error());
                      self.all_.records.insert_or_assign(id, *std::move(record));
                      self.read_records();
                    }));
  }
  if (next_record_ == all_.ids.size() && reading_ == 0 && !failed()) put_in_order();
}

/// The proof that nothing is missing and nothing is twice.
DATAFLUX_INLINE void share_join::put_in_order() {
  std::vector<name_range> names;
  for (const std::string& id : all_.ids) {
    const share_record& record = all_.records.at(id);
    for (const share_piece& p : record.pieces) {
      names.push_back(p.names);
      if (p.rows > 0) pieces_.push_back({p, &record.part, std::nullopt});
    }
  }
  if (!all_.whole.empty()) {
    if (auto good = check_cover(all_.whole, std::move(names)); !good) {
      return fail(
          error(errc::data_loss, "the board's parts are not the whole: " + good.error().message())
              .with_bucket(all_.bucket)
              .with_object(all_.done_prefix));
    }
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const piece& a, const piece& b) { return a.at.names.start < b.at.names.start; });
  read_pieces();
  write();
}

DATAFLUX_INLINE void share_join::read_pieces() {
  while (!failed() && next_read_ < pieces_.size() && reading_ < all_.parallelism &&
         (ahead_ == 0 || ahead_ + pieces_[next_read_].at.bytes <= share_join_memory)) {
    read_piece(next_read_++);
  }
}

DATAFLUX_INLINE void share_join::read_piece(std::size_t index) {
  const piece& p = pieces_[index];
  ++reading_;
  ahead_ += p.at.bytes;
  start_load_manifest(
      store(),
      {.bucket = all_.bucket,
       .object = *p.part,
       .range = byte_range::span(p.at.offset, p.at.bytes),
       .limits = limits()},
      then<manifest>([index](share_join& self, result<manifest> read) {
        --self.reading_;
        if (self.failed()) return;
        if (!read) return self.fail(std::move(read).error());
        piece& mine = self.pieces_[index];
        if (read->size() != mine.at.rows) {
          return self.fail(error(errc::data_loss, "a part of the board has other rows than it says")
                               .with_bucket(self.all_.bucket)
                               .with_object(*mine.part));
        }
        mine.read = *std::move(read);
        self.read_pieces();
        self.write();
      }));
}

/// What is there and next in order, in one step; at the end the rest of the file.
DATAFLUX_INLINE void share_join::write() {
  if (writing_ || failed()) return;
  std::size_t to = next_write_;
  while (to < pieces_.size() && to - next_write_ < share_join_step && pieces_[to].read) ++to;
  const bool last = to == pieces_.size();
  if (to == next_write_ && !last) return;
  writing_ = true;
  one_more();
  by_file_step(
      shared_from_this(),
      [from = next_write_, to, last](share_join& self) { return self.write_step(from, to, last); },
      [to, last](share_join& here, std::optional<error> why) {
        here.one_less();
        here.wrote(to, last, std::move(why));
      });
}

/// On a thread for files, which nobody else has a piece of.
DATAFLUX_INLINE result<void> share_join::write_step(std::size_t from, std::size_t to, bool last) {
  std::string out;
  result<void> good;
  if (from == 0) good = file_->create();
  for (std::size_t i = from; good && i < to; ++i) {
    out.clear();
    good = joiner_.append_part(*pieces_[i].read, pieces_[i].at.names, out);
    if (good) good = file_->write(out);
  }
  if (good && last) {
    out.clear();
    joiner_.append_end(out);
    good = file_->write(out);
    if (good && !requests_stopped()) good = file_->put_in_place();
  }
  return good;
}

DATAFLUX_INLINE void share_join::wrote(std::size_t to, bool last, std::optional<error> why) {
  for (; next_write_ < to; ++next_write_) {
    piece& p = pieces_[next_write_];
    p.read.reset();
    ahead_ -= p.at.bytes;
    rows_ += p.at.rows;
  }
  writing_ = false;
  if (failed()) return;
  if (why) return fail(*std::move(why));
  if (last) return complete(rows_);
  read_pieces();
  write();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
