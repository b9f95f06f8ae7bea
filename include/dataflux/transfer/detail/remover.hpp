#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/store/detail/coordinator.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One thing that is to go: a generation of an object, or an open upload.
struct removal {
  std::string name{};
  std::int64_t generation{0};
  /// The generation is not known: objects.get says which is the live one.
  bool look_up{false};
  /// The service's text for the generation, where it is known.
  std::string etag{};
  /// Of an open upload, which is aborted; empty = an object.
  std::string upload_id{};
  std::uint64_t size{0};
  /// Leaves no noncurrent version in a bucket that keeps those.
  bool for_good{false};
  /// By a request of its own.
  bool alone{false};
  /// The owner's, such as a place in its report.
  std::size_t index{0};
};

/// When a page was made, by the service's clock, by which ages are told. The service says it to the
/// second, cut off: by the next one all that the page lists was made. A store that does not tell is
/// asked with this machine's clock.
timestamp listed_at(const list_page& page);

/// A failure that all the rest would meet, too: no valid credentials, or no service that answers.
inline bool is_hopeless(const error& why) noexcept {
  return why.code() == errc::unauthenticated ||
         (why.code() == errc::unavailable && why.http_status() == 0);
}

/// How many go at a time, where nobody says.
inline constexpr std::size_t usual_removals = 16;

/// The base of whatever removes. It has a queue of what is to go, and removes the first of
/// it, some at a time. A class that derives from it says what goes, and what comes of it.
///
/// How it runs. begin() finds out what goes: by a listing, say. add() puts it into the queue. When
/// the queue is empty and nothing is under way, drained() comes: it adds more and calls go_on(), or
/// finish(). So steps that depend on each other are one drained() each, and a listing is streamed
/// by asking for its next page when queued() is low. end() comes once, when nothing is under way
/// any more: after finish(), or after fail(), which lets nothing more begin.
///
/// What it removes. Never more than it is told, and never another generation: each request names
/// the one, so that the store may repeat it; where the store knows no conditions
/// (store_traits::conditional_changes) each is looked up before, and compared. An object that
/// somebody else has removed counts as removed.
///
/// Where a store removes many objects by one request (store_traits::max_removals) they are
/// gathered: those whose ETag is not known are looked up before. What such a request cannot carry
/// goes by one of its own.
///
/// Errors: of one thing, in removed(). cancelled and deadline_exceeded end the whole by fail().
class remover : public coordinator<remover> {
 public:
  remover(object_store& store, std::string bucket, const call_limits& limits,
          std::size_t most = usual_removals, bool dry_run = false)
      : coordinator(store, store.executor(), limits),
        bucket_(std::move(bucket)),
        most_(most == 0 ? usual_removals : most),
        together_(dry_run ? 1 : store.traits().max_removals),
        conditional_(store.traits().conditional_changes),
        dry_run_(dry_run) {}
  virtual ~remover() = default;

  void start() { coordinator::start(bucket_); }
  /// Finds out what is to go, and ends with go_on() unless a request was begun.
  virtual void begin() = 0;
  void refused(error why) {
    fail(std::move(why));
    finish();
  }
  void idle() { go_on(); }

 protected:
  const std::string& bucket() const noexcept { return bucket_; }
  bool dry_run() const noexcept { return dry_run_; }

  void add(removal what) { queue_.push_back(std::move(what)); }
  std::size_t queued() const noexcept { return queue_.size(); }
  /// Begins as many removals as there is room for.
  void send();
  /// send(); and if nothing is under way after it, drained() or the end.
  void go_on();
  /// Nothing more is to go.
  void finish();

 private:
  virtual void drained() = 0;
  /// `what` is gone (in a dry run: would be), or could not be removed.
  virtual void removed(const removal& what, const result<void>& outcome) = 0;
  /// Gives failure_, or what was done, to the caller.
  virtual void end() = 0;

  void begin_one(removal what);
  void look_up(removal what);
  void looked_up(removal what, const result<object_metadata>& there);
  void gather(removal what);
  void remove_gathered();
  void take_gathered(std::vector<removal> sent, result<std::vector<kept_object>> kept);
  void remove(removal what);
  void take(const removal& what, result<void> outcome);

  const std::string bucket_;
  const std::size_t most_;
  const std::size_t together_;
  const bool conditional_;
  const bool dry_run_;
  std::deque<removal> queue_{};
  std::vector<removal> gathered_{};
  std::size_t looking_up_{0};
  std::size_t requests_{0};
  bool over_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/remover.ipp>
#endif
