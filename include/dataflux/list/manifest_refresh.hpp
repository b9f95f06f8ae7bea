#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/list/detail/listing_changes.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstdint>
#include <utility>

/// A manifest says how it was listed, so that the same can be listed again and compared.
///
///     auto now = refresh_manifest(store, *before, {});
///     for (auto i : now->changes.added) use(now->now.objects.name(i));
///     save_manifest(path, now->description, now->now.objects);
namespace dataflux::inline DATAFLUX_ABI {

/// What a manifest of that listing, begun at `taken`, says of itself. What the filter drops and
/// keeps goes to manifest_description::options: skip_markers and skip_composed ("true" or "false"),
/// and where they are set suffix, regex, min_size, max_size, and storage_class once for each.
///
/// Errors (invalid_argument): a delimiter, since folded prefixes are no objects of a manifest.
/// Pure.
result<manifest_description> describe_listing(const fast_list_request& request, timestamp taken);

/// The other way round: the request that lists the same again; an option that is not there is
/// fast_list's default. `extra` are the columns that the rows had (object_columns::kept).
///
/// Errors: unimplemented for an option of a name or value that this version does not know, because
/// the listing would be another one. Pure.
result<fast_list_request> request_again(const manifest_description& description,
                                        extra_columns extra);

struct refresh_options {
  /// These three as in fast_list_request.
  std::uint32_t parallelism{0};
  dataflux::observer* observer{nullptr};
  call_limits limits{};
};

/// What is there now, in order of names, and how it differs: `before` in the changes is a row of
/// the manifest, `after` and `added` are rows of `now`.
struct refreshed_listing {
  manifest_description description{};
  listing now{};
  listing_changes changes{};
};

/// Lists again what `before` lists, and compares. Nothing is written.
///
/// Errors: those of request_again(), fast_list() and manifest::rows(); resource_exhausted where
/// there is no memory to check the rows.
///
/// Lifetime: the store and the observer outlive the operation.
///
/// Threads: any may call; none of the rows is touched inside the call. They are checked on threads
/// for files, before any request. `done` runs on an executor of the store; inside the call only in
/// the child of a fork. Blocking forms are not for completions, nor for a virtual_scheduler.
///
/// Cost: that of manifest::rows() and fast_list(), and about 10 ns a row for the comparison, on
/// that executor.
void start_refresh_manifest(object_store& store, const manifest& before,
                            const refresh_options& options,
                            object_store::completion<refreshed_listing> done);

inline operation<refreshed_listing> submit_refresh_manifest(object_store& store,
                                                            const manifest& before,
                                                            refresh_options options) {
  return start_operation<refreshed_listing>(options.limits, [&](auto done) {
    start_refresh_manifest(store, before, options, std::move(done));
  });
}
inline result<refreshed_listing> refresh_manifest(object_store& store, const manifest& before,
                                                  refresh_options options) {
  return submit_refresh_manifest(store, before, std::move(options)).take();
}

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/manifest_refresh.ipp>
#endif
