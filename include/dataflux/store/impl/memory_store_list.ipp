#pragma once

#include <dataflux/codec/detail/base64.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/store/detail/memory_service.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The least string above all that begin with `prefix`; nothing when there is none.
inline std::optional<std::string> after_all_with(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

/// Fills one page. A page token is a letter and the entry that came last: 'n' an object, 'p' a
/// prefix, 't' a prefix behind which the object of that very name is still to come; 'v' one
/// generation of an object, written "GENERATION:NAME".
class page_filler {
 public:
  page_filler(const list_page_request& r, std::size_t limit, const store_traits& traits)
      : request_(r), limit_(limit), traits_(traits), page_{.objects = object_columns{r.extra}} {}

  /// Where to begin, from the request; invalid_argument for a token that is none of ours.
  result<void> begin();
  /// Where to go on, nothing when the page is done.
  const std::optional<std::string>& position() const noexcept { return position_; }
  /// One object at or behind position(); false when another position() is wanted, or none.
  /// `whole` is what the extra columns are from; null for none.
  bool visit(const object_row& row, const object_metadata* whole);
  void no_more() noexcept { position_.reset(); }
  list_page take() { return std::move(page_); }

 private:
  bool full(char kind, std::string_view last);
  bool fold(const object_row& row, const object_metadata* whole, std::string_view prefix);
  void add(const object_row& row, const object_metadata* whole);

  const list_page_request& request_;
  const std::size_t limit_;
  const store_traits& traits_;
  list_page page_;
  std::optional<std::string> position_{};
  /// The prefix that the page before has emitted, while its own object may still come.
  std::optional<std::string> open_prefix_{};
  /// The generation that the page before ended with.
  std::int64_t seen_generation_{0};
  std::string seen_name_{};
  char last_kind_{'n'};
  std::string last_{};
};

DATAFLUX_INLINE result<void> page_filler::begin() {
  position_ = std::max(request_.prefix, request_.start_offset);
  if (request_.page_token.empty()) return {};
  const char kind = request_.page_token[0];
  last_ = request_.page_token.substr(1);
  last_kind_ = kind;
  std::optional<std::string> next;
  if (kind == 'n') {
    next = last_ + '\0';
  } else if (kind == 'p') {
    next = after_all_with(last_);
  } else if (kind == 't') {
    next = last_;
    open_prefix_ = last_;
  } else if (const std::size_t colon = last_.find(':'); kind == 'v' && colon < last_.size()) {
    seen_generation_ = std::strtoll(last_.c_str(), nullptr, 10);
    seen_name_ = last_.substr(colon + 1);
    next = seen_name_;
  } else {
    return refused(errc::invalid_argument, 400, "invalid", "the page token is not from this store");
  }
  if (!next) {
    position_.reset();
  } else {
    position_ = std::max(*position_, *next);
  }
  return {};
}

/// Asked before an entry is added: if there is no room, the page ends behind the last one.
DATAFLUX_INLINE bool page_filler::full(char kind, std::string_view last) {
  if (page_.objects.size() + page_.prefixes.size() >= limit_) {
    page_.next_page_token = last_kind_ + last_;
    position_.reset();
    return true;
  }
  last_kind_ = kind;
  last_ = last;
  return false;
}

DATAFLUX_INLINE void page_filler::add(const object_row& row, const object_metadata* whole) {
  if (request_.etags && traits_.max_removals > 1) {
    page_.etags.push_back(whole != nullptr ? whole->etag : std::string{});
  }
  if (request_.extra == extra_columns::none || whole == nullptr) {
    page_.objects.append(row.name, row.size, row.generation, row.crc32c);
    return;
  }
  object_extras extras{.created = whole->created,
                       .updated = whole->updated,
                       .content_type = whole->content_type,
                       .storage_class = whole->storage_class};
  const auto digest = codec::decode_base64(whole->md5_hash);
  if (digest && digest->size() == 16) std::memcpy(extras.md5.emplace().data(), digest->data(), 16);
  codec::json_writer pairs;
  pairs.begin_object();
  for (const auto& [key, value] : whole->metadata) pairs.key(key).string(value);
  pairs.end_object();
  if (!whole->metadata.empty()) extras.metadata = pairs.text();
  if (!traits_.lists_metadata) extras = {.created = whole->created, .updated = whole->updated};
  page_.objects.append(row, extras);
}

DATAFLUX_INLINE bool page_filler::visit(const object_row& row, const object_metadata* whole) {
  const bool inside = row.name.substr(0, request_.prefix.size()) == request_.prefix &&
                      (request_.end_offset.empty() || row.name < request_.end_offset);
  if (!inside) return no_more(), false;
  if (!request_.delimiter.empty()) {
    const auto at = row.name.find(request_.delimiter, request_.prefix.size());
    if (at != std::string_view::npos) {
      return fold(row, whole, row.name.substr(0, at + request_.delimiter.size()));
    }
  }
  if (request_.versions) {
    if (row.name == seen_name_ && row.generation <= seen_generation_) return true;
    if (full('v', std::to_string(row.generation).append(":").append(row.name))) return false;
  } else if (full('n', row.name)) {
    return false;
  }
  add(row, whole);
  return true;
}

DATAFLUX_INLINE bool page_filler::fold(const object_row& row, const object_metadata* whole,
                                       std::string_view prefix) {
  const bool own_object = request_.include_trailing_delimiter && row.name == prefix;
  if (open_prefix_ != prefix) {
    if (full(own_object ? 't' : 'p', prefix)) return false;
    page_.prefixes.emplace_back(prefix);
  }
  open_prefix_.reset();
  if (own_object) {
    if (full('p', prefix)) return false;
    add(row, whole);
  }
  position_ = after_all_with(std::string(prefix));  // the rest of it is skipped, not visited
  return false;
}

inline result<void> check_listed_here(const list_page_request& r, const store_traits& traits) {
  if ((r.versions && !r.delimiter.empty()) || !r.match_glob.empty()) {
    return error{errc::unimplemented,
                 "memory_store matches no globs, and lists versions without a delimiter only: "
                 "leave out match_glob, or one of versions and delimiter"};
  }
  if (r.versions && !traits.lists_versions) {
    return error{errc::unimplemented, "versions: this store's listing does not know them"};
  }
  return {};
}

DATAFLUX_INLINE result<list_page> memory_service::list(const list_page_request& r) const {
  const auto in = find_bucket(r.bucket);
  if (!in) return in.error();
  if (auto good = check_listed_here(r, traits_); !good) return std::move(good).error();
  const std::uint32_t wanted = r.max_results == 0 ? traits_.max_list_page : r.max_results;
  page_filler filler(r, std::min(wanted, traits_.max_list_page), traits_);
  if (auto ok = filler.begin(); !ok) return std::move(ok).error();
  while (const auto from = filler.position()) {
    bool stopped = false;
    if ((*in)->source) {
      name_source::visitor noting = [&](const object_row& row) {
        stopped = !filler.visit(row, nullptr);
        return !stopped;
      };
      (*in)->source->scan(*from, noting);
    } else {
      const auto visit = [&](const stored& object) {
        const object_metadata& m = object->metadata;
        const auto crc32c = traits_.crc32c_everywhere ? m.crc32c : std::nullopt;
        stopped = !filler.visit({m.name, m.size, m.generation, crc32c}, &m);
      };
      const auto& objects = (*in)->objects;
      const auto& others = (*in)->noncurrent;
      auto live = objects.lower_bound(*from);
      auto other = r.versions ? others.lower_bound(*from) : others.end();
      while (!stopped && (live != objects.end() || other != others.end())) {
        const bool noncurrent =
            other != others.end() && (live == objects.end() || other->first <= live->first);
        if (!noncurrent) {
          visit((live++)->second);
          continue;
        }
        // The live one of that name, if there is one, is the youngest and comes next.
        for (const auto& [generation, object] : other->second) {
          if (!stopped) visit(object);
        }
        ++other;
      }
    }
    if (!stopped) filler.no_more();
  }
  list_page page = filler.take();
  page.served = wall_clock();
  return page;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
