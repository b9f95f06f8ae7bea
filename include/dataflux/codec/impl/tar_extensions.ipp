#pragma once

#include <dataflux/codec/detail/pax_records.hpp>
#include <dataflux/codec/detail/tar_extensions.hpp>

#include <charconv>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

DATAFLUX_INLINE void tar_extensions::next_member() noexcept {
  total_ = 0;
  count_ = 0;
  bodies_.clear();
  long_name_.reset();
  path_ = {};
  sparse_name_ = {};
  own_ = {};
}

DATAFLUX_INLINE void tar_extensions::next_archive() noexcept {
  next_member();
  all_ = {};
  all_path_.clear();
}

DATAFLUX_INLINE bool tar_extensions::begin(tar_type type, std::uint64_t size) noexcept {
  if (size > most_extension_bytes - total_ || count_ == most_extensions) return false;
  total_ += size;
  ++count_;
  type_ = type;
  body_begin_ = bodies_.size();
  return true;
}

DATAFLUX_INLINE void tar_extensions::append(bytes_view bytes) {
  // The names of links are of no use here.
  if (type_ != tar_type::long_link) bodies_.append(as_text(bytes));
}

DATAFLUX_INLINE const char* tar_extensions::end() {
  if (type_ == tar_type::long_link) return nullptr;
  if (type_ == tar_type::long_name) {
    const std::string_view body = std::string_view{bodies_}.substr(body_begin_);
    long_name_ = place_of(body.substr(0, body.find('\0')));
    return nullptr;
  }
  return read_records();
}

DATAFLUX_INLINE const char* tar_extensions::read_records() {
  const bool of_all = type_ == tar_type::global_records;
  record_facts& facts = of_all ? all_ : own_;
  pax_records records{std::string_view{bodies_}.substr(body_begin_)};
  while (const auto record = records.next()) {
    const auto [key, value] = *record;
    if (key == "path") {
      facts.path = value.empty() ? record_state::taken_back : record_state::given;
      if (of_all) {
        all_path_.assign(value);
      } else {
        path_ = place_of(value);
      }
    } else if (key == "size") {
      if (!note_size(value, facts)) return "a pax record of the size is no size";
    } else if (key.starts_with("GNU.sparse.") && !value.empty()) {
      facts.sparse = true;
      if (key == "GNU.sparse.name" && !of_all) sparse_name_ = place_of(value);
    }
  }
  if (of_all) bodies_.resize(body_begin_);
  return records.broken() ? "a pax record is not well-formed" : nullptr;
}

DATAFLUX_INLINE bool tar_extensions::note_size(std::string_view value,
                                               record_facts& facts) noexcept {
  facts.size_state = value.empty() ? record_state::taken_back : record_state::given;
  if (value.empty()) return true;
  const char* const last = value.data() + value.size();
  const auto [end, wrong] = std::from_chars(value.data(), last, facts.size);
  return end == last && wrong == std::errc{};
}

DATAFLUX_INLINE std::optional<std::string_view> tar_extensions::name() const noexcept {
  if (own_.path == record_state::given) return text_of(path_);
  if (long_name_) return text_of(*long_name_);
  if (own_.path == record_state::absent && all_.path == record_state::given) return all_path_;
  return std::nullopt;
}

DATAFLUX_INLINE std::optional<std::uint64_t> tar_extensions::size() const noexcept {
  if (own_.size_state == record_state::given) return own_.size;
  if (own_.size_state == record_state::absent && all_.size_state == record_state::given) {
    return all_.size;
  }
  return std::nullopt;
}

DATAFLUX_INLINE bool tar_extensions::of_all() const noexcept {
  const bool path = own_.path == record_state::absent && !long_name_;
  const bool size = own_.size_state == record_state::absent;
  return (path && all_.path == record_state::given) ||
         (size && all_.size_state == record_state::given);
}

DATAFLUX_INLINE std::string_view tar_extensions::text_of(place at) const noexcept {
  return std::string_view{bodies_}.substr(at.begin, at.size);
}

DATAFLUX_INLINE tar_extensions::place tar_extensions::place_of(
    std::string_view text) const noexcept {
  return {static_cast<std::size_t>(text.data() - bodies_.data()), text.size()};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
