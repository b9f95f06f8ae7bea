#pragma once

#include <dataflux/exec/detail/timer_queue.hpp>
#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/object_store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

/// The I/O threads of a client in simulated time, each with a core of its own.

/// CPU seconds of one read.
struct read_costs {
  double transfer{0};  ///< on the thread that it was given to: request, reply and body
  double strand{0};    ///< on the strand of its stream
};

/// One core: a task begins when the one before it has ended, and takes as long as was charged while
/// it ran.
class simulated_thread final : public dataflux::scheduler {
 public:
  explicit simulated_thread(dataflux::virtual_scheduler& clock) noexcept : clock_(clock) {}
  ~simulated_thread() override { clock_.cancel(turn_); }

  dataflux::time_point now() const noexcept override { return clock_.now(); }
  void post(dataflux::task work) override { static_cast<void>(at(now(), std::move(work))); }
  dataflux::timer_id at(dataflux::time_point when, dataflux::task work) override {
    const auto id = waiting_.add(std::max(when, now()), std::move(work));
    arm();
    return id;
  }
  bool cancel(dataflux::timer_id id) noexcept override { return waiting_.cancel(id); }
  bool is_current() const noexcept override { return running_; }

  /// By the task that runs.
  void charge(double seconds) {
    busy_ += seconds;
    free_at_ = std::max(free_at_, now()) + std::chrono::duration_cast<dataflux::duration>(
                                               std::chrono::duration<double>(seconds));
  }
  /// Seconds charged so far.
  double busy() const noexcept { return busy_; }

 private:
  void arm() {
    const dataflux::time_point due = std::max(waiting_.next(), free_at_);
    if (running_ || due >= armed_for_) return;
    clock_.cancel(turn_);
    armed_for_ = due;
    turn_ = clock_.at(due, [this] { turn(); });
  }
  /// All that waits for as long as nothing is charged.
  void turn() {
    armed_for_ = dataflux::never;
    running_ = true;
    while (free_at_ <= now()) {
      dataflux::task due = waiting_.take_due(now());
      if (!due) break;
      due();
    }
    running_ = false;
    if (waiting_.size() > 0) arm();
  }

  dataflux::virtual_scheduler& clock_;
  /// What was posted, too: it is due at once.
  dataflux::timer_queue waiting_{};
  dataflux::time_point free_at_{};
  dataflux::time_point armed_for_{dataflux::never};
  dataflux::timer_id turn_{dataflux::timer_id::none};
  double busy_{0};
  bool running_{false};
};

/// A store whose reads take turns on several threads, and cost time there once the network has
/// brought them. The first thread is the strand, too. All other verbs are free.
class threaded_store final : public dataflux::object_store {
 public:
  threaded_store(dataflux::virtual_scheduler& clock, dataflux::object_store& network,
                 std::size_t threads, const read_costs& costs)
      : network_(network), costs_(costs) {
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.push_back(std::make_unique<simulated_thread>(clock));
    }
  }

  /// Seconds that each has been busy; the strand's is the first.
  std::vector<double> busy() const {
    std::vector<double> seconds;
    for (const auto& thread : threads_) seconds.push_back(thread->busy());
    return seconds;
  }

  dataflux::store_traits traits() const noexcept override { return network_.traits(); }
  dataflux::scheduler& executor() noexcept override { return *threads_.front(); }

  void start(const dataflux::read_request& request, dataflux::byte_sink& sink,
             completion<dataflux::read_summary> done) override {
    if (threads_.front()->is_current()) threads_.front()->charge(costs_.strand);
    simulated_thread& mine = *threads_[next_++ % threads_.size()];
    mine.post([this, &mine, &sink, request, done = std::move(done)]() mutable {
      network_.start(request, sink, [this, &mine, done = std::move(done)](auto outcome) mutable {
        mine.post([this, &mine, done = std::move(done), outcome = std::move(outcome)]() mutable {
          mine.charge(costs_.transfer);
          done(std::move(outcome));
        });
      });
    });
  }

  void start(const dataflux::list_page_request& r, completion<dataflux::list_page> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::stat_request& r, completion<dataflux::object_metadata> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::insert_request& r, completion<dataflux::object_metadata> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::remove_request& r, completion<void> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::compose_request& r, completion<dataflux::object_metadata> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::move_request& r, completion<dataflux::object_metadata> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::multipart_initiate_request& r,
             completion<dataflux::multipart_upload> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::upload_part_request& r,
             completion<dataflux::uploaded_part> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::multipart_complete_request& r,
             completion<dataflux::object_metadata> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::multipart_abort_request& r, completion<void> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::list_parts_request& r, completion<dataflux::part_page> d) override {
    network_.start(r, std::move(d));
  }
  void start(const dataflux::list_uploads_request& r,
             completion<dataflux::upload_page> d) override {
    network_.start(r, std::move(d));
  }
  using object_store::start;

 private:
  dataflux::object_store& network_;
  const read_costs costs_;
  std::vector<std::unique_ptr<simulated_thread>> threads_{};
  std::size_t next_{0};
};
