#pragma once

#include <dataflux/ais/detail/batch_verb.hpp>
#include <dataflux/ais/detail/object_state.hpp>
#include <dataflux/ais/detail/target.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/codec/detail/tar_extensions.hpp>
#include <dataflux/codec/detail/tar_header.hpp>
#include <dataflux/codec/detail/xxhash64.hpp>

#include <cstring>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

inline constexpr std::string_view missing_start{"__404__/"};
/// The cluster counts versions of its own objects from 1 on; those of others are not guessed.
inline constexpr int guessed_versions = 8;

/// The members of an archive that is there as a whole, one by one.
class member_reader {
 public:
  explicit member_reader(bytes_view archive) noexcept : rest_(archive) {}

  struct member {
    std::string_view name{};
    bytes_view data{};
  };
  /// The next file, whose name is valid until the next call; nothing at the end, at what is
  /// damaged, and where bytes are missing.
  std::optional<member> next() {
    said_.next_member();
    while (rest_.size() >= codec::tar_block) {
      const auto header = codec::parse_tar_header(rest_.first(codec::tar_block));
      if (!header || !header->size) return std::nullopt;
      rest_ = rest_.subspan(codec::tar_block);
      if (!codec::is_extension(header->type)) return member_of(*header);
      const auto body = take(*header->size);
      if (!body || !said_.begin(header->type, *header->size)) return std::nullopt;
      said_.append(*body);
      if (said_.end() != nullptr) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::optional<bytes_view> take(std::uint64_t size) noexcept {
    const std::uint64_t padded = size + codec::tar_padding(size);
    if (size > rest_.size() || padded > rest_.size()) return std::nullopt;
    const bytes_view data = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(padded));
    return data;
  }

  std::optional<member> member_of(const codec::tar_header& header) {
    if (header.type != codec::tar_type::file || said_.sparse()) return std::nullopt;
    const auto data = take(said_.size().value_or(*header.size));
    if (!data) return std::nullopt;
    if (const auto name = said_.name()) return member{*name, *data};
    if (header.prefix.empty()) return member{header.name, *data};
    name_.assign(header.prefix).append("/").append(header.name);
    return member{name_, *data};
  }

  bytes_view rest_;
  codec::tar_extensions said_{};
  std::string name_{};
};

/// Whether a version with that checksum makes the generation.
inline bool is_state(std::int64_t generation, std::string_view sum) {
  for (int version = 1; version <= guessed_versions; ++version) {
    const std::string text = std::to_string(version);
    if (object_state{text, {}, sum}.generation() == generation) return true;
  }
  return false;
}

inline batched_bytes take_member(const batched_read& asked, bytes_view data) {
  if (data.size() != asked.into.size()) return {};
  const std::uint32_t crc = crc32c(data);
  const bool verified =
      asked.generation != 0 && (is_state(asked.generation, xxhash2_text(codec::xxhash64(data))) ||
                                is_state(asked.generation, hexadecimal(crc, 8)));
  if (asked.generation != 0 && !verified) return {};
  if (!data.empty()) std::memcpy(asked.into.data(), data.data(), data.size());
  return {true, verified, crc};
}

DATAFLUX_INLINE read_batch_request::value read_batch(const read_batch_request& r,
                                                     bytes_view archive) {
  read_batch_request::value out(r.entries.size());
  member_reader members{archive};
  std::string joined;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto next = members.next();
    if (!next) break;
    const batched_read& entry = r.entries[i];
    std::string_view wanted = entry.object;
    if (!entry.member.empty()) {
      wanted = joined.assign(entry.object).append("/").append(entry.member);
    }
    if (next->name == wanted) {
      out[i] = take_member(entry, next->data);
      continue;
    }
    std::string_view name = next->name;
    if (!name.starts_with(missing_start)) break;
    name.remove_prefix(missing_start.size());
    // The bucket stands there in some versions.
    if (name != wanted && name != std::string{r.bucket}.append("/").append(wanted)) break;
  }
  return out;
}

DATAFLUX_INLINE result<void> batch_verb::check(const call_context&, const request& r) {
  for (const batched_read& each : r.entries) {
    if (auto good = check_name(each.object); !good) return good;
  }
  return {};
}

DATAFLUX_INLINE result<batch_state> batch_verb::prepare(const request& r, const call_id&) {
  codec::json_writer w;
  w.begin_object().key("mime").string(".tar").key("in").begin_array();
  for (const batched_read& each : r.entries) {
    w.begin_object().key("objname").string(each.object);
    if (!each.member.empty()) w.key("archpath").string(each.member);
    if (!each.whole) {
      w.key("start").natural(each.offset);
      w.key("length").natural(each.into.size());
    }
    w.end_object();
  }
  w.end_array().key("coer").boolean(true).key("onob").boolean(true).key("strm").boolean(true);
  w.end_object();
  return batch_state{std::move(w).take()};
}

DATAFLUX_INLINE void batch_verb::build(const call_context& context, const request& r,
                                       const state& s, http::request& out) {
  out.method = http::method::get;
  out.origin = context.endpoint.gateway();
  out.target.clear();
  out.headers.clear();
  out.body.clear();
  target_writer target{out};
  target.path(context, "ml/moss", r.bucket, {}).text("provider", context.provider);
  out.headers.add("Content-Type", "application/json");
  out.body.append(as_bytes(s.document));
}

DATAFLUX_INLINE std::size_t batch_verb::reply_limit(const request& r) noexcept {
  std::size_t most = std::size_t{64} << 10U;
  for (const batched_read& each : r.entries) {
    most += each.into.size() + each.member.size() + (std::size_t{4} << 10U);
  }
  return most;
}

DATAFLUX_INLINE result<read_batch_request::value> batch_verb::parse(const request& r, const state&,
                                                                    const whole_reply& reply) {
  return read_batch(r, reply.body);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
