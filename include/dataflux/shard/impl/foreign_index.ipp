#pragma once

#include <dataflux/codec/detail/block_file.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/xxhash64.hpp>
#include <dataflux/exec/detail/mapped_file.hpp>
#include <dataflux/shard/foreign_index.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {

inline error damaged_foreign(std::string_view what) {
  return error{errc::data_loss,
               std::string("the index is cut off, or damaged: ").append(what) + "; make it again"};
}

/// "s0.tar" of "a/s0.tar.idx".
inline std::string shard_of_file(std::string_view name) {
  name.remove_prefix(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
  return std::string(name.substr(0, name.rfind('.')));
}

inline void put_in_order(foreign_shard& shard) {
  std::sort(shard.members.begin(), shard.members.end(),
            [](const foreign_member& a, const foreign_member& b) { return a.offset < b.offset; });
}

/// Numbers and texts of AIStore, one behind the other.
class aistore_reader {
 public:
  explicit aistore_reader(bytes_view bytes) noexcept : rest_(bytes) {}

  /// Seven bits a byte, the lowest first.
  std::optional<std::uint64_t> number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      if (shift == 63 && byte > 1) return std::nullopt;
      value |= (byte & 0x7FU) << shift;
      if (byte < 0x80U) return value;
    }
    return std::nullopt;
  }
  std::optional<std::string_view> text() noexcept {
    const auto size = number();
    if (!size || *size > rest_.size()) return std::nullopt;
    const auto length = static_cast<std::size_t>(*size);
    const std::string_view found = as_text(rest_.first(length));
    rest_ = rest_.subspan(length);
    return found;
  }
  bool at_end() const noexcept { return rest_.empty(); }

 private:
  bytes_view rest_;
};

/// Its offsets are those of a member's last header.
inline result<foreign_shard> read_aistore(bytes_view bytes) {
  constexpr std::size_t head = 11;
  constexpr std::uint64_t seed = 1103515245;
  if (bytes[0] != std::byte{1} || bytes[1] != std::byte{0} || bytes[2] != std::byte{1}) {
    return error{errc::unimplemented, "this is a version of AIStore's index that is not known"};
  }
  if (bytes.size() < head) return damaged_foreign("it has no checksum");
  std::uint64_t told = 0;
  for (std::size_t i = 3; i < head; ++i) told = told << 8U | static_cast<std::uint64_t>(bytes[i]);
  if (told != codec::xxhash64(bytes.subspan(head), seed))
    return damaged_foreign("another checksum");
  aistore_reader from{bytes.subspan(head)};
  foreign_shard shard;
  const bool has_source = from.text() && from.text();
  shard.size = from.number();
  const auto count = from.number();
  if (!has_source || !shard.size || !count) return damaged_foreign("it lacks what it is of");
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto name = from.text();
    const auto offset = from.number();
    const auto size = from.number();
    if (!name || !offset || !size) return damaged_foreign("it lacks members");
    if (*offset > *shard.size) return damaged_foreign("a member lies outside of the shard");
    shard.members.push_back({std::string(*name), *offset + tar_block, *size});
  }
  if (!from.at_end()) return damaged_foreign("more follows behind its members");
  put_in_order(shard);
  return shard;
}

inline std::optional<std::uint64_t> natural_of(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = wrong == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// The text up to a separator, which is taken off with it.
inline std::string_view take_word(std::string_view& rest, char separator) noexcept {
  const std::size_t at = rest.find(separator);
  const std::string_view word = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return word;
}

/// A line a sample: of each member its field, offset, size and name.
inline result<foreign_shard> read_dali(std::string_view text) {
  std::string_view head = take_word(text, '\n');
  const std::string_view version = take_word(head, ' ');
  if (version != "v1.2") {
    return error{errc::unimplemented,
                 "this is a version of DALI's index that is not known; make "
                 "one of version v1.2"};
  }
  const auto samples = natural_of(head);
  if (!samples) return damaged_foreign("it does not say how many samples it has");
  foreign_shard shard;
  std::uint64_t lines = 0;
  for (; !text.empty(); ++lines) {
    for (std::string_view line = take_word(text, '\n'); !line.empty();) {
      take_word(line, ' ');
      const auto offset = natural_of(take_word(line, ' '));
      const auto size = natural_of(take_word(line, ' '));
      const std::string_view name = take_word(line, ' ');
      if (!offset || !size || name.empty()) return damaged_foreign("a line is no sample");
      shard.members.push_back({std::string(name), *offset, *size});
    }
  }
  if (lines != *samples) return damaged_foreign("it has fewer or more samples than it says");
  put_in_order(shard);
  return shard;
}

inline result<foreign_shard> read_webshart(const codec::json_value& root) {
  foreign_shard shard;
  shard.name = root.find("path").text().value_or("");
  shard.size = root.find("filesize").uint64();
  for (const auto& [key, member] : root.find("files").members()) {
    const auto offset = member.find("offset").uint64();
    const auto size = member.find("length").uint64();
    if (!offset || !size) return damaged_foreign("a file has no place");
    shard.members.push_back(
        {std::string(member.find("path").text().value_or(key)), *offset, *size});
  }
  put_in_order(shard);
  return shard;
}

inline result<foreign_index> read_json(bytes_view bytes) {
  const auto json = codec::json_document::parse(bytes);
  if (!json) return damaged_foreign("it is no JSON");
  const codec::json_value root = json->root();
  foreign_index index{.format = foreign_format::webshart};
  if (root.find("files").kind() == codec::json_kind::object) {
    auto shard = read_webshart(root);
    if (!shard) return std::move(shard).error();
    index.shards.push_back(*std::move(shard));
    return index;
  }
  index.format = foreign_format::wids;
  if (root.find("shardlist").kind() != codec::json_kind::array) {
    return error{errc::invalid_argument, "the JSON is no index of shards that is known"};
  }
  for (const codec::json_value& each : root.find("shardlist").elements()) {
    const auto url = each.find("url").text();
    if (!url) return damaged_foreign("a shard has no name");
    index.shards.push_back({.name = std::string(*url), .size = each.find("filesize").uint64()});
  }
  return index;
}

inline result<foreign_shard> read_energon(bytes_view bytes) {
  foreign_shard shard;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    shard.places.push_back(codec::load_at<std::uint64_t>(bytes, at));
  }
  const auto wrong = std::adjacent_find(shard.places.begin(), shard.places.end(),
                                        [](std::uint64_t a, std::uint64_t b) { return a >= b; });
  if (wrong != shard.places.end()) return damaged_foreign("its places do not ascend");
  return shard;
}

}  // namespace detail::shard

DATAFLUX_INLINE result<foreign_index> read_foreign_index(std::string_view name, bytes_view bytes) {
  if (auto good = detail::codec::check_block_file_order(detail::shard::shard_index_kind); !good) {
    return std::move(good).error();
  }
  const std::string_view text = as_text(bytes);
  const auto one = [&](foreign_format format,
                       result<foreign_shard> shard) -> result<foreign_index> {
    if (!shard) return std::move(shard).error();
    if (shard->name.empty()) shard->name = detail::shard::shard_of_file(name);
    foreign_index index{.format = format};
    index.shards.push_back(*std::move(shard));
    return index;
  };
  // Before the others: its first bytes may be anything.
  if (name.ends_with(".tar.idx") && bytes.size() % 8 == 0 && !text.starts_with('v') &&
      !text.starts_with(std::string_view{"\1\0\1", 3})) {
    return one(foreign_format::energon, detail::shard::read_energon(bytes));
  }
  if (text.starts_with('v')) return one(foreign_format::dali, detail::shard::read_dali(text));
  if (text.find_first_not_of(" \t\r\n") != std::string_view::npos &&
      text[text.find_first_not_of(" \t\r\n")] == '{') {
    auto index = detail::shard::read_json(bytes);
    if (index && index->shards.size() == 1 && index->shards[0].name.empty()) {
      index->shards[0].name = detail::shard::shard_of_file(name);
    }
    return index;
  }
  if (bytes.size() >= 3 && bytes[0] == std::byte{1}) {
    return one(foreign_format::aistore, detail::shard::read_aistore(bytes));
  }
  return error{errc::invalid_argument,
               "this is no index of AIStore, DALI, webshart, wids or Energon"};
}

DATAFLUX_INLINE result<foreign_index> open_foreign_index(const std::string& path) {
  std::shared_ptr<const void> owner;
  const auto bytes = detail::map_file(path, "shard index", owner);
  if (!bytes) return bytes.error();
  auto index = read_foreign_index(path, *bytes);
  if (index) {
    index->file = path;
    return index;
  }
  error why = std::move(index).error();
  return std::move(why.with_message("'" + path + "': " + why.message()));
}

}  // namespace dataflux::inline DATAFLUX_ABI
