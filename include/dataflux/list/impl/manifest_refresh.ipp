#pragma once

#include <dataflux/exec/detail/blocking_worker.hpp>
#include <dataflux/list/detail/filter_table.hpp>
#include <dataflux/list/detail/page_check.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/store/detail/own_service.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE result<manifest_description> describe_listing(const fast_list_request& request,
                                                              timestamp taken,
                                                              std::string_view scheme) {
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
                              .options = detail::tell_filter(request.filter),
                              .scheme = std::string{scheme}};
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

namespace detail {

/// Rows that one step on a thread for files checks: some milliseconds, reading from disk apart.
inline constexpr std::size_t rows_checked_a_step = std::size_t{1} << 20U;

/// One refresh_manifest(). check() goes through the manifest, a step after the other, on threads
/// for files; then comes checked(), on the strand: list() begins, and compare() ends it. After a
/// stop or the deadline no more rows are looked at, and nothing is listed.
class manifest_refresh final : public call_coordinator<manifest_refresh, refreshed_listing> {
 public:
  manifest_refresh(object_store& store, manifest before, const refresh_options& options,
                   completion done)
      : call_coordinator(store, store.executor(), options.limits, std::move(done)),
        before_(std::move(before)),
        parallelism_(options.parallelism),
        observer_(options.observer),
        call_(options.call) {}

  void begin() {
    auto own = check_own_service(store(), before_.description().scheme, "manifest");
    if (!own) return fail(std::move(own).error());
    one_more();  // until checked()
    next_check();
  }

 private:
  void next_check() noexcept {
    // Where no thread is to be had, or no memory for the step, it is done here.
    if (!try_file_step([self = shared_from_this()] { self->check(); })) check();
  }
  void check() noexcept;
  bool given_up() const noexcept { return caller_stop().stop_requested() || clock().passed(); }
  void checked(std::optional<error> why);
  void list();
  result<fast_list_request> request() const;
  void compare(result<listing> listed);

  const manifest before_;
  const std::uint32_t parallelism_;
  observer* const observer_;
  const std::uint64_t call_;
  std::size_t checked_{0};
  manifest_description description_{};
};

/// Damage shows before anything is asked of the service. What is thrown here nobody would catch.
DATAFLUX_INLINE void manifest_refresh::check() noexcept {
  std::optional<error> why;
  bool more = false;
  const auto check_some = [&] {
    if (given_up()) return;
    const auto some = before_.rows(checked_, rows_checked_a_step);
    checked_ += rows_checked_a_step;
    if (!some) why = some.error();
    more = some && checked_ < before_.size();
  };
  within_memory(check_some, [&] { why = short_of_memory(); });
  if (more) return next_check();
  come_back([&] {
    post_step([why = std::move(why)](manifest_refresh& here) mutable {
      here.one_less();
      here.checked(std::move(why));
    });
  });
}

DATAFLUX_INLINE void manifest_refresh::checked(std::optional<error> why) {
  if (why) return fail(*std::move(why));
  if (caller_stop().stop_requested()) return stop_asked();
  if (clock().passed()) return time_passed();
  list();
}

DATAFLUX_INLINE result<fast_list_request> manifest_refresh::request() const {
  const auto rows = before_.rows();
  if (!rows) return rows.error();
  auto again = request_again(before_.description(), rows->kept());
  if (!again) return again;
  again->parallelism = parallelism_;
  again->observer = observer_;
  again->call = call_;
  again->limits = limits();
  return again;
}

DATAFLUX_INLINE void manifest_refresh::list() {
  auto again = request();
  if (!again) return fail(std::move(again).error());
  const auto now =
      std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now());
  auto description = describe_listing(*again, now, store().traits().scheme);
  if (!description) return fail(std::move(description).error());
  description_ = *std::move(description);
  start_fast_list(store(), *again,
                  then<listing>([](manifest_refresh& self, result<listing> listed) {
                    self.compare(std::move(listed));
                  }));
}

DATAFLUX_INLINE void manifest_refresh::compare(result<listing> listed) {
  if (!listed) return fail(std::move(listed).error());
  auto changes = before_.changes_to(listed->objects);
  if (!changes) return fail(std::move(changes).error());
  complete(refreshed_listing{std::move(description_), *std::move(listed), *std::move(changes)});
}

}  // namespace detail

DATAFLUX_INLINE void start_refresh_manifest(object_store& store, const manifest& before,
                                            const refresh_options& options,
                                            object_store::completion<refreshed_listing> done) {
  std::make_shared<detail::manifest_refresh>(store, before, options, std::move(done))
      ->start(before.description().bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI
