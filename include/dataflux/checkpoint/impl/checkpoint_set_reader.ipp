#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/checkpoint_set_reader.hpp>
#include <dataflux/checkpoint/detail/open_set.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline bool name_before(const member_record& record, std::string_view name) noexcept {
  return record.name < name;
}

}  // namespace detail

DATAFLUX_INLINE const checkpoint_set_info& checkpoint_set_reader::info() const noexcept {
  return set_->info;
}
DATAFLUX_INLINE const std::vector<damaged_checkpoint_set>& checkpoint_set_reader::passed_over()
    const noexcept {
  return set_->passed_over;
}
DATAFLUX_INLINE const std::string& checkpoint_set_reader::members_folder() const noexcept {
  return set_->members_folder;
}
DATAFLUX_INLINE const std::vector<member_record>& checkpoint_set_reader::members() const noexcept {
  return set_->members;
}
DATAFLUX_INLINE const member_record* checkpoint_set_reader::find(
    std::string_view name) const noexcept {
  const auto place =
      std::lower_bound(set_->members.begin(), set_->members.end(), name, detail::name_before);
  return place != set_->members.end() && place->name == name ? &*place : nullptr;
}

DATAFLUX_INLINE void checkpoint_set_reader::start_open(
    std::string_view name, checkpoint_read_request how,
    object_store::completion<checkpoint_reader> done) const {
  how.bucket = set_->bucket;
  how.object = set_->info.prefix + std::string(name);
  how.advice_if_it_is_gone = "the set was replaced or removed after it was opened: open it again";
  if (const member_record* member = find(name)) {
    how.object = set_->members_folder + member->name;
    how.generation = member->generation;
    how.crc32c = member->crc32c;
    how.parts = member->parts;
  } else if (how.object == set_->last.name) {
    how.generation = set_->last.generation;
    how.crc32c = set_->last_crc32c;
    how.parts.clear();
  } else {
    error why{errc::not_found, "the set has no member of this name"};
    why.with_scheme(set_->context.store().traits().scheme);
    return done(std::move(why.with_bucket(how.bucket).with_object(how.object)));
  }
  checkpoint_reader::start_open(set_->context, std::move(how), std::move(done));
}

DATAFLUX_INLINE operation<checkpoint_reader> checkpoint_set_reader::submit_open(
    std::string_view name, checkpoint_read_request how) const {
  return start_operation<checkpoint_reader>(
      how.limits, [&](auto done) { start_open(name, std::move(how), std::move(done)); });
}

DATAFLUX_INLINE result<checkpoint_reader> checkpoint_set_reader::open(
    std::string_view name, checkpoint_read_request how) const {
  return submit_open(name, std::move(how)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI
