#pragma once

#include <dataflux/list/detail/filter_table.hpp>
#include <dataflux/list/detail/page_check.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest_refresh.hpp>

#include <chrono>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE result<manifest_description> describe_listing(const fast_list_request& request,
                                                              timestamp taken) {
  if (!request.delimiter.empty()) {
    return error{errc::invalid_argument,
                 "a manifest is of objects: list without a delimiter, whose folders are none"};
  }
  return manifest_description{.bucket = request.bucket,
                              .prefix = request.prefix,
                              .start_offset = request.start_offset,
                              .end_offset = request.end_offset,
                              .match_glob = request.match_glob,
                              .versions = request.versions,
                              .taken = taken,
                              .options = detail::tell_filter(request.filter)};
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
    if (!detail::read_filter_option(name, value, out.filter)) {
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
  request->observer = options.observer;
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
