#pragma once

#include <dataflux/list/detail/page_check.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest_refresh.hpp>

#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline bool read_number(std::string_view text, std::uint64_t& value) noexcept {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} && end == text.data() + text.size();
}

inline bool read_truth(std::string_view text, bool& value) noexcept {
  value = text == "true";
  return value || text == "false";
}

/// Whether it is one that this version knows.
inline bool read_option(std::string_view name, const std::string& value, list_filter_options& to) {
  if (name == "skip_markers") return read_truth(value, to.skip_markers);
  if (name == "skip_composed") return read_truth(value, to.skip_composed);
  if (name == "min_size") return read_number(value, to.min_size);
  if (name == "max_size") return read_number(value, to.max_size);
  if (name == "suffix") return to.suffix = value, true;
  if (name == "regex") return to.regex = value, true;
  if (name == "storage_class") return to.storage_classes.push_back(value), true;
  return false;
}

}  // namespace detail

DATAFLUX_INLINE result<manifest_description> describe_listing(const fast_list_request& request,
                                                              timestamp taken) {
  if (!request.delimiter.empty()) {
    return error{errc::invalid_argument,
                 "a manifest is of objects: list without a delimiter, whose folders are none"};
  }
  manifest_description out{.bucket = request.bucket,
                           .prefix = request.prefix,
                           .start_offset = request.start_offset,
                           .end_offset = request.end_offset,
                           .match_glob = request.match_glob,
                           .versions = request.versions,
                           .taken = taken};
  const list_filter_options& filter = request.filter;
  const list_filter_options usual;
  out.options.emplace_back("skip_markers", filter.skip_markers ? "true" : "false");
  out.options.emplace_back("skip_composed", filter.skip_composed ? "true" : "false");
  if (!filter.suffix.empty()) out.options.emplace_back("suffix", filter.suffix);
  if (!filter.regex.empty()) out.options.emplace_back("regex", filter.regex);
  if (filter.min_size != usual.min_size) {
    out.options.emplace_back("min_size", std::to_string(filter.min_size));
  }
  if (filter.max_size != usual.max_size) {
    out.options.emplace_back("max_size", std::to_string(filter.max_size));
  }
  for (const auto& one : filter.storage_classes) out.options.emplace_back("storage_class", one);
  return out;
}

DATAFLUX_INLINE result<fast_list_request> request_again(const manifest_description& description,
                                                        extra_columns extra) {
  fast_list_request out{.bucket = description.bucket,
                        .prefix = description.prefix,
                        .start_offset = description.start_offset,
                        .end_offset = description.end_offset,
                        .match_glob = description.match_glob,
                        .versions = description.versions,
                        .extra = extra};
  for (const auto& [name, value] : description.options) {
    if (!detail::read_option(name, value, out.filter)) {
      return error{errc::unimplemented, "the manifest was listed with " + name + " = " +
                                            detail::in_quotes(value) +
                                            ", which this version cannot list: list it anew"};
    }
  }
  return out;
}

DATAFLUX_INLINE void start_refresh_manifest(object_store& store, const manifest& before,
                                            const refresh_options& options,
                                            object_store::completion<refreshed_listing> done) {
  // Damage shows before anything is asked of the service.
  auto rows = before.rows();
  if (!rows) return done(std::move(rows).error());
  auto request = request_again(before.description(), rows->kept());
  if (!request) return done(std::move(request).error());
  request->parallelism = options.parallelism;
  request->watcher = options.watcher;
  request->limits = options.limits;
  const auto now =
      std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now());
  auto description = describe_listing(*request, now);
  if (!description) return done(std::move(description).error());
  start_fast_list(
      store, *request,
      [before, description = *std::move(description),
       done = std::move(done)](result<listing> listed) mutable {
        if (!listed) return done(std::move(listed).error());
        auto changes = before.changes_to(listed->objects);
        if (!changes) return done(std::move(changes).error());
        done(refreshed_listing{std::move(description), *std::move(listed), *std::move(changes)});
      });
}

}  // namespace dataflux::inline DATAFLUX_ABI
