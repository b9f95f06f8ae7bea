#pragma once

#include <dataflux/checkpoint/detail/record_text.hpp>
#include <dataflux/checkpoint/save_over.hpp>
#include <dataflux/codec/detail/json_writer.hpp>

#include <array>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline constexpr std::int64_t save_over_version = 1;

inline error bad_save(std::string_view what) {
  return error{errc::invalid_argument, "no save over a set: " + std::string(what)};
}

}  // namespace detail

DATAFLUX_INLINE result<void> validate(const save_over& save) {
  const std::string_view id = save.id;
  const bool digits =
      id.size() == 16 && detail::parse_hex32(id.substr(0, 8)) && detail::parse_hex32(id.substr(8));
  if (!digits) {
    return detail::bad_save("its id is not of 16 hexadecimal digits");
  }
  const bool first = save.last_generation == 0;
  if (save.last_generation < 0 || first != save.last.empty() ||
      first != save.last_manifest.empty()) {
    return detail::bad_save("a last object that it replaces has a name, a generation, a manifest");
  }
  return {};
}

DATAFLUX_INLINE std::string to_text(const save_over& save) {
  detail::codec::json_writer out;
  out.begin_object().key("dataflux-save-over").integer(detail::save_over_version);
  out.key("id").string(save.id).key("last").string(save.last);
  out.key("last_generation").decimal_string(save.last_generation);
  out.key("last_manifest").string(save.last_manifest).end_object();
  return std::move(out).take();
}

DATAFLUX_INLINE result<save_over> parse_save_over(std::string_view text) {
  constexpr std::array<std::string_view, 5> keys{"dataflux-save-over", "id", "last",
                                                 "last_generation", "last_manifest"};
  const auto document = detail::codec::json_document::parse(as_bytes(text));
  if (!document) return detail::bad_save(document.error().message());
  const auto version = document->root().find(keys[0]).int64();
  if (version && *version != detail::save_over_version) {
    return error{errc::unimplemented, "a save over a set of version " + std::to_string(*version) +
                                          ", which is not known here"};
  }
  std::array<detail::codec::json_value, keys.size()> values{};
  if (auto good = detail::read_members(document->root(), keys, values); !good) {
    return detail::bad_save(good.error().message());
  }
  const auto id = values[1].text();
  const auto last = values[2].text();
  const auto generation = values[3].int64();
  const auto manifest = values[4].text();
  if (!version || !id || !last || !generation || !manifest)
    return detail::bad_save("a value is not of its kind");
  save_over save{std::string(*id), std::string(*last), *generation, std::string(*manifest)};
  if (auto good = validate(save); !good) return std::move(good).error();
  return save;
}

}  // namespace dataflux::inline DATAFLUX_ABI
