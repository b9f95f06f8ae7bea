#pragma once

#include <dataflux/download/getter.hpp>
#include <dataflux/exec/detail/mapped_file.hpp>
#include <dataflux/shard/detail/index_rules.hpp>
#include <dataflux/shard/detail/place_reader.hpp>
#include <dataflux/shard/detail/shard_index_encoder.hpp>
#include <dataflux/shard/detail/shard_indexer.hpp>
#include <dataflux/shard/rewrite_shards.hpp>
#include <dataflux/store/detail/own_service.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

struct sample_table::mapped_files {
  std::vector<bytes_view> bytes{};
  std::vector<std::shared_ptr<const void>> owners{};
  std::string index{};
};

namespace detail::shard {

inline result<shard_layout> layout_of(bytes_view shard, const rewrite_rules& rules) {
  shard_indexer indexer({.reading = rules.reading, .grouping = rules.grouping}, shard.size());
  while (const auto next = indexer.wanted(std::uint64_t{64} << 20U)) {
    if (rules.stop.stop_requested()) return error(errc::cancelled, "the caller asked to stop");
    const auto begin = static_cast<std::size_t>(next->offset);
    const auto length = static_cast<std::size_t>(next->length);
    if (auto good = indexer.take(shard.subspan(begin, length)); !good) {
      return std::move(good).error();
    }
  }
  return indexer.finish(std::nullopt);
}

/// What a source of a sample_table reads; its index outlives the views.
class numbered_samples {
 public:
  using numbers = unique_function<std::optional<std::uint64_t>()>;

  explicit numbered_samples(shard_index index) : index_(std::move(index)) {}

  result<sample_view*> view(std::uint64_t number, bytes_view bytes) {
    auto parts = split_sample(index_, number, bytes);
    if (!parts) return std::move(parts).error();
    parts_ = *std::move(parts);
    view_.key = parts_.key;
    view_.fields = parts_.fields;
    return &view_;
  }
  const shard_index& index() const noexcept { return index_; }

 private:
  const shard_index index_;
  split_sample_result parts_{};
  sample_view view_{};
};

/// Of shards in a bucket. Requests are made on the getter's threads, and their numbers are kept
/// until their items come.
class bucket_samples {
 public:
  bucket_samples(const transfer_context& context, const shard_index& index,
                 numbered_samples::numbers numbers, std::stop_token stop)
      : samples_(index), asked_(std::make_shared<asked>()) {
    items_.emplace(
        context,
        get_many_request{.bucket = index.description().bucket, .limits = {.stop = std::move(stop)}},
        get_source([asked = asked_, index, numbers = std::move(numbers)]() mutable {
          return asked->next(index, numbers);
        }));
  }
  result<sample_view*> next() {
    auto item = items_->next();
    if (!item) return std::move(item).error();
    item_ = *std::move(item);
    if (!item_) {
      const std::scoped_lock lock(asked_->mutex);
      if (asked_->failure) return *asked_->failure;
      return nullptr;
    }
    if (item_->failure) return *item_->failure;
    return samples_.view(asked_->take(), item_->bytes);
  }

 private:
  struct asked {
    std::mutex mutex{};
    std::deque<std::uint64_t> numbers{};
    std::optional<error> failure{};

    std::optional<get_request> next(const shard_index& index, numbered_samples::numbers& from) {
      const auto number = from();
      if (!number) return std::nullopt;
      auto request = sample_request(index, *number);
      const std::scoped_lock lock(mutex);
      if (!request) {
        failure = request.error();
        return std::nullopt;
      }
      numbers.push_back(*number);
      return *std::move(request);
    }
    std::uint64_t take() {
      const std::scoped_lock lock(mutex);
      const std::uint64_t number = numbers.front();
      numbers.pop_front();
      return number;
    }
  };

  numbered_samples samples_;
  const std::shared_ptr<asked> asked_;
  std::optional<got_item> item_{};
  std::optional<getter> items_{};
};

/// The bytes of a sample in a shard that is mapped.
inline result<bytes_view> bytes_of(const shard_index& index, std::uint64_t number,
                                   const std::vector<bytes_view>& files) {
  const auto sample = index.sample(number);
  if (!sample) return sample.error();
  return files[static_cast<std::size_t>(sample->shard)].subspan(
      static_cast<std::size_t>(sample->offset), static_cast<std::size_t>(sample->size));
}

}  // namespace detail::shard

DATAFLUX_INLINE sample_table::sample_table(const transfer_context& context, shard_index index)
    : context_(context), index_(std::move(index)) {}

DATAFLUX_INLINE result<sample_table> sample_table::of_files(const transfer_context& context,
                                                            const std::vector<std::string>& paths,
                                                            const rewrite_rules& rules) {
  const auto files = std::make_shared<mapped_files>();
  detail::shard::shard_index_encoder encoder(
      {.options =
           detail::shard::options_of({.reading = rules.reading, .grouping = rules.grouping})});
  for (const std::string& path : paths) {
    std::shared_ptr<const void> owner;
    const auto bytes = detail::map_file(path, "shard", owner);
    if (!bytes) return bytes.error();
    files->bytes.push_back(*bytes);
    files->owners.push_back(std::move(owner));
    const byte_place place{.name = path};
    const auto layout = detail::shard::layout_of(*bytes, rules);
    if (!layout) return detail::shard::of_place(place, layout.error(), {});
    if (rules.left_out != nullptr) {
      rules.left_out->add(layout->counts, layout->groups, path, layout->first_left_out);
    }
    // A path need not be UTF-8, as names of objects are.
    const std::string name = std::to_string(files->bytes.size() - 1);
    object_row row;
    row.name = name;
    row.size = bytes->size();
    if (auto good = encoder.add(row, *layout, files->index); !good) {
      return detail::shard::of_place(place, std::move(good).error(), {});
    }
  }
  if (auto good = encoder.end(files->index); !good) return std::move(good).error();
  auto index = shard_index::over(as_bytes(files->index), files);
  if (!index) return std::move(index).error();
  sample_table made(context, *std::move(index));
  made.files_ = files;
  return made;
}

DATAFLUX_INLINE sample_source sample_table::read(
    unique_function<std::optional<std::uint64_t>()> numbers, std::stop_token stop) const {
  if (files_ == nullptr) {
    auto own = detail::check_own_service(context_.store(), index_.description().scheme, "index");
    if (!own) {
      return [why = std::move(own).error()]() -> result<sample_view*> { return why; };
    }
    auto all = std::make_unique<detail::shard::bucket_samples>(context_, index_, std::move(numbers),
                                                               std::move(stop));
    return [all = std::move(all)] { return all->next(); };
  }
  auto all = std::make_unique<detail::shard::numbered_samples>(index_);
  return [all = std::move(all), files = files_, numbers = std::move(numbers),
          stop = std::move(stop)]() mutable -> result<sample_view*> {
    if (stop.stop_requested()) return error(errc::cancelled, "the caller asked to stop");
    const auto number = numbers();
    if (!number) return nullptr;
    const auto bytes = detail::shard::bytes_of(all->index(), *number, files->bytes);
    if (!bytes) return bytes.error();
    return all->view(*number, *bytes);
  };
}

}  // namespace dataflux::inline DATAFLUX_ABI
