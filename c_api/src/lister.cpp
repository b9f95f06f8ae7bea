#include "listing.hpp"

#include <dataflux/list/fast_list.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace dataflux_c {

namespace {

/// Rows of a batch, and one page more: what is told of, beside the pages that wait.
constexpr std::size_t batch_rows = 65'536;

}  // namespace

/// A listing, as a source of records. One batch is told of at a time; the next one when it has been
/// taken, so that pages wait in the listing, which stops by its cap.
class lister_state final : public queue_member {
 public:
  lister_state(std::uint64_t tag, bool versions) : queue_member(tag), versions_(versions) {}

  void begin(dataflux::fast_list_request request) {
    request.observer = client_->events.get();
    request.call = tag_;
    std::scoped_lock lock(mutex_);
    pages_.emplace(*client_->client, request);
    if (cancelled_) pages_->cancel();
    ask();
  }
  /// No record comes any more.
  void end() {
    leave();
    std::optional<dataflux::fast_lister> gone;  // destroyed without the lock
    std::scoped_lock lock(mutex_);
    gone.swap(pages_);
  }
  void cancel() noexcept override {
    std::scoped_lock lock(mutex_);
    const bool again = std::exchange(cancelled_, true);
    if (!pages_) return;
    if (!again) pages_->cancel();
    // Nobody may take what was told of, and so nobody would ask for the end. Where there is no
    // memory for that, who takes it asks, or who cancels again.
    if (!asked_) quietly([this] { ask(); });
  }

  left take(std::span<dataflux_record> into, std::size_t& count, queue_state& queue) override {
    std::scoped_lock lock(mutex_);
    if (!pages_) return left::nothing;
    if (ready_ && !cancelled_) return left::asleep;
    dataflux::listed_page batch;
    const auto what = gather(batch);
    if (!what && !failure_) {
      // For want of memory, perhaps: rows that are lost must not pass for none.
      failure_ = what.error();
      pages_->cancel();
    }
    if (!cancelled_ && (!batch.objects.empty() || !batch.prefixes.empty())) {
      dataflux_record& r = into[0] = {};
      r.tag = tag_;
      r.index = told_++;
      r.size = batch.objects.size();
      ready_ = std::move(batch);
      asked_ = false;
      ++count;
      return left::asleep;
    }
    if (what && *what == dataflux::taken::nothing) {
      pages_->notify(queue.events(), number_);
      return left::asleep;
    }
    dataflux_record& last = into[0] = end_record();
    last.size = pages_->summary().objects;
    if (failure_) {
      complete_failure(*failure_);
      queue.fail(last, *failure_);
    } else if (cancelled_) {
      error why(errc::cancelled, "the listing was cancelled");
      complete_failure(why);
      queue.fail(last, why);
    }
    ++count;
    return left::nothing;
  }

  /// The batch that was told of.
  result<std::unique_ptr<dataflux_listing>> take_batch() {
    std::scoped_lock lock(mutex_);
    if (!ready_) return error(errc::failed_precondition, "no batch is there: wait for its record");
    ready_->objects.sort_by_name();
    dataflux::detail::codec::json_writer w;
    w.begin_object();
    put_prefixes(w, ready_->prefixes);
    w.end_object();
    const auto rows = std::make_shared<dataflux::object_columns>();
    auto made = std::make_unique<dataflux_listing>(
        listed{.rows = rows,
               .json = std::move(w).take(),
               .versions = versions_,
               .scheme = std::string(client_->client->traits().scheme)});
    if (pages_ && !asked_) ask();
    // Nothing can fail any more.
    *rows = std::move(ready_->objects);
    ready_.reset();
    return made;
  }
  std::string summary() {
    std::scoped_lock lock(mutex_);
    dataflux::detail::codec::json_writer w;
    w.begin_object();
    put_summary(w, pages_->summary());
    w.end_object();
    return std::move(w).take();
  }

 private:
  void ask() {
    pages_->notify(queue_->events(), number_);
    asked_ = true;
  }
  /// Adds pages that are there, up to a batch; of a listing that was cancelled, or has failed, they
  /// are dropped. Gives why there are no more, where there was room.
  result<dataflux::taken> gather(dataflux::listed_page& batch) {
    try {
      for (;;) {
        dataflux::listed_page page;
        auto what = pages_->try_next_page(page);
        if (!what || *what != dataflux::taken::some) return what;
        if (cancelled_ || failure_) continue;
        batch.objects.append(std::move(page.objects));
        batch.prefixes.insert(batch.prefixes.end(), std::make_move_iterator(page.prefixes.begin()),
                              std::make_move_iterator(page.prefixes.end()));
        if (batch.objects.size() + batch.prefixes.size() >= batch_rows) return what;
      }
    } catch (const std::exception&) {
      return rows_lost_;
    }
  }

  /// Made while there is memory.
  const error rows_lost_{errc::resource_exhausted, "out of memory: rows of the listing are lost"};
  const bool versions_;
  std::uint64_t told_{0};
  bool asked_{false};  ///< to be told of more, or of the end
  std::optional<error> failure_{};
  std::optional<dataflux::listed_page> ready_{};
  std::optional<dataflux::fast_lister> pages_{};
};

}  // namespace dataflux_c

struct dataflux_lister : dataflux_c::owning_handle<dataflux_c::lister_state> {
  using owning_handle::owning_handle;
};

using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;
using dataflux_c::usable;

dataflux_status dataflux_list_stream(dataflux_client* client, const dataflux_list_options* options,
                                     dataflux_queue* queue, uint64_t tag, dataflux_lister** out,
                                     dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (auto good = usable(client, "client"); !good) return good;
    if (auto good = usable(queue, "queue"); !good) return good;
    auto request = dataflux_c::request_of(options);
    if (!request) return std::move(request).error();
    const auto state = std::make_shared<dataflux_c::lister_state>(tag, request->versions);
    auto handle = std::make_unique<dataflux_lister>(state);
    auto joined = state->join(client->state, queue->state, state);
    if (!joined) return joined;
    state->begin(*std::move(request));
    *out = handle.release();
    return {};
  });
}

dataflux_status dataflux_lister_take(dataflux_lister* lister, dataflux_listing** out,
                                     dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (auto good = usable(lister, "lister"); !good) return good;
    auto batch = lister->state->take_batch();
    if (!batch) return std::move(batch).error();
    *out = batch->release();
    return {};
  });
}

dataflux_status dataflux_lister_json(const dataflux_lister* lister, char** out,
                                     dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (auto good = usable(lister, "lister"); !good) return good;
    *out = dataflux_c::text_for_caller(lister->state->summary());
    return {};
  });
}

void dataflux_lister_cancel(dataflux_lister* lister) {
  dataflux_c::if_own(lister, [lister] { lister->state->cancel(); });
}

void dataflux_lister_free(dataflux_lister* lister) { dataflux_c::free_handle(lister); }
