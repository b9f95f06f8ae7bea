#pragma once

#include <dataflux/codec/json.hpp>
#include <dataflux/download/composite.hpp>
#include <dataflux/download/detail/sweeper.hpp>
#include <dataflux/exec/continuation.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t most_removals = 16;

/// Of a row's metadata column, which is a JSON object of texts.
inline std::optional<composite_label> label_of(std::string_view metadata) {
  if (metadata.empty()) return std::nullopt;
  const auto document = codec::json_document::parse(as_bytes(metadata));
  if (!document) return std::nullopt;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const codec::json_member& member : document->root().members()) {
    if (const auto text = member.value.text()) pairs.emplace_back(member.key, *text);
  }
  return parse_composite_label(pairs);
}

DATAFLUX_INLINE sweeper::sweeper(object_store& store, std::string bucket,
                                 const sweep_options& options,
                                 object_store::completion<sweep_report> done)
    : store_(store),
      home_(store.executor()),
      bucket_(std::move(bucket)),
      options_(options),
      done_(std::move(done)) {}

DATAFLUX_INLINE void sweeper::start() {
  if (auto good = store_.usable(bucket_); !good) {
    failure_ = std::move(good).error();
    return end();
  }
  deadline_ = options_.limits.deadline_from(home_.now());
  list();
}

DATAFLUX_INLINE call_limits sweeper::limits() const {
  return options_.limits.until(deadline_, home_.now());
}

DATAFLUX_INLINE void sweeper::list() {
  store_.start(list_page_request{.bucket = bucket_,
                                 .prefix = std::string(composed_objects_prefix),
                                 .page_token = page_token_,
                                 .extra = extra_columns::created | extra_columns::metadata,
                                 .limits = limits()},
               continue_on<dataflux::list_page>(
                   home_, shared_from_this(),
                   [](sweeper& self, result<list_page> page) { self.listed(std::move(page)); }));
}

DATAFLUX_INLINE void sweeper::listed(result<list_page> page) {
  if (!page) {
    failure_ = std::move(page).error();
    return end();
  }
  const timestamp here =
      std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now());
  // The service says when to the second, cut off: by the next one all that it lists was made.
  const timestamp now = page->served ? *page->served + std::chrono::seconds(1) : here;
  const object_columns& rows = page->objects;
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    judge(*row, row.extras(), now);
  }
  page_token_ = std::move(page->next_page_token);
  last_page_ = page_token_.empty();
  pump();
}

DATAFLUX_INLINE void sweeper::judge(const object_row& row, const object_extras& extras,
                                    timestamp now) {
  swept_object& found = report_.objects.emplace_back();
  found.name = row.name;
  found.size = row.size;
  found.generation = row.generation;
  found.created = extras.created;
  const auto label = is_composite_name(row.name) ? label_of(extras.metadata) : std::nullopt;
  if (!label || !extras.created) return;
  const bool litter = composite_expired(*label, *extras.created, now, options_.older_than);
  found.verdict = litter ? sweep_verdict::removed : sweep_verdict::young;
}

/// The next page is asked for when what the last one held is gone: there is seldom more than one.
DATAFLUX_INLINE void sweeper::pump() {
  while (next_ < report_.objects.size() && in_flight_ < most_removals && !failure_) {
    const std::size_t index = next_++;
    const bool litter = report_.objects[index].verdict == sweep_verdict::removed;
    if (litter && !options_.dry_run) remove(index);
  }
  if (in_flight_ > 0) return;
  if (failure_ || last_page_) return end();
  list();
}

DATAFLUX_INLINE void sweeper::remove(std::size_t index) {
  ++in_flight_;
  const swept_object& litter = report_.objects[index];
  // By its generation, which removes it for good where the bucket keeps versions.
  store_.start(remove_request{.bucket = bucket_,
                              .object = litter.name,
                              .generation = litter.generation,
                              .limits = limits()},
               continue_on<void>(home_, shared_from_this(),
                                 [index](sweeper& self, const result<void>& outcome) {
                                   self.removed(index, outcome);
                                 }));
}

DATAFLUX_INLINE void sweeper::removed(std::size_t index, const result<void>& outcome) {
  --in_flight_;
  if (!outcome && outcome.error().code() != errc::not_found) {
    const errc code = outcome.error().code();
    report_.objects[index].verdict = sweep_verdict::failed;
    report_.objects[index].failure = outcome.error();
    const bool over = code == errc::cancelled || code == errc::deadline_exceeded;
    if (over && !failure_) failure_ = outcome.error();
  }
  pump();
}

DATAFLUX_INLINE void sweeper::end() {
  auto done = std::exchange(done_, {});
  if (failure_) return done(std::move(*failure_));
  for (const swept_object& each : report_.objects) {
    switch (each.verdict) {
      case sweep_verdict::removed:
        ++report_.removed;
        report_.removed_bytes += each.size;
        break;
      case sweep_verdict::young:
        ++report_.young;
        break;
      case sweep_verdict::foreign:
        ++report_.foreign;
        break;
      case sweep_verdict::failed:
        ++report_.failed;
        break;
    }
  }
  done(std::move(report_));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
