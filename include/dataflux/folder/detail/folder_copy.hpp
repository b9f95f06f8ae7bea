#pragma once

#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/store/detail/coordinator.hpp>
#include <dataflux/store/detail/late_failure.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What an upload and a download of a folder share: one call, its end, its report, and how
/// steps and requests come back to it. It lives on the context's strand, where all members are
/// called that say nothing else (see coordinator); steps that block are made on threads for files
/// and come back by posting: no lock.
///
/// How it goes: after whatever came back, advance() calls turn(), which begins as much as there is
/// room for and says whether the source has come to its end. When it has, and nothing is under way,
/// what is extra is removed, and then the call ends. fail() ends it early: nothing more is begun,
/// what is under way is stopped and waited for. give_up() ends it when what was begun has ended.
/// When the time has passed nothing more is begun either; the requests under way have the same
/// deadline, are not stopped, and tell what they have met.
class folder_copy : public coordinator<folder_copy> {
 public:
  using completion = object_store::completion<copy_folder_report>;

  folder_copy(const transfer_context& context, copy_folder_request request, completion done);
  virtual ~folder_copy() = default;

  /// Unless it cannot begin: then `done` is called.
  void start();
  void begin();
  void refused(error why) { std::exchange(done_, {})(std::move(why)); }
  void stop_heard() noexcept;
  void stop_asked();
  void time_passed();
  void fall_short(error why);

  const transfer_context& context() const noexcept { return context_; }
  const copy_folder_request& request() const noexcept { return request_; }
  /// On the strand, as its patterns have memory of their own.
  const name_selector& selected() const noexcept { return selected_; }
  /// Nothing more is to be begun. On any thread.
  bool stopped() const noexcept {
    return requests_stopped() || late_.load(std::memory_order_relaxed);
  }
  /// What to list, in order of names, with nothing left out.
  fast_list_request listing() const;

  /// Counts what became of a name, and tells it.
  void tell(const copy_item& item);
  void tell_failure(std::string_view object, std::string_view path, const error& why);
  /// More is known to come.
  void expect(std::uint64_t objects, std::uint64_t bytes);
  /// On any thread.
  void moved(std::uint64_t bytes) const {
    if (request_.progress && bytes > 0) request_.progress(bytes);
  }
  /// Some of the source is not known.
  void source_unread() noexcept { source_unread_ = true; }
  void fail(error why);
  void give_up(error why);
  /// What a request has ended with, for the case that the time has passed.
  void note(const error& why) { met_.note(why); }
  /// Nothing extra is removed, or nothing more; why.
  void spare_extra(std::string why) { report_.not_removed = std::move(why); }
  void advance();
  /// Once for all that comes in this turn of the executor.
  void advance_soon();

  /// Runs `work` on a thread for files, then `then` on the strand, then advance(). Where `work` is
  /// short of memory the copy fails instead.
  template <class Work, class Then>
  void on_file_thread(Work work, Then then) {
    one_more();
    taken_back_unless_kept counted([this] { one_less(); });
    run_step([self = shared_from_this(), work = std::move(work), then = std::move(then)]() mutable {
      const bool enough = within_memory(work);
      self->come_back([&] {
        self->post_step([then = std::move(then), enough](folder_copy& here) mutable {
          here.one_less();
          enough ? then() : here.fail(short_of_memory());
          here.advance();
        });
      });
    });
    counted.kept();
  }
  /// then() with advance_soon() behind it.
  template <class T, class Then>
  object_store::completion<T> back(Then then) {
    return coordinator::then<T>([then = std::move(then)](folder_copy& self, result<T> got) mutable {
      then(std::move(got));
      self.advance_soon();
    });
  }

 protected:
  /// Begins to list the source.
  virtual void open() = 0;
  /// Begins more, where there is room. True: the source has come to its end, or the call is ending.
  virtual bool turn() = 0;
  /// The same of what is extra in the target, after the copy.
  virtual bool remove_extra() = 0;

 private:
  error stop_error() const;
  void run_step(task step);
  void source_ended();
  void end();

  const transfer_context context_;
  copy_folder_request request_;
  name_selector selected_{};
  completion done_;
  bool advancing_{false};
  bool again_{false};
  bool due_{false};
  bool short_{false};  ///< of memory
  bool source_unread_{false};
  /// The copy has ended; and the removal of extra names is to follow.
  bool source_ended_{false};
  bool removing_{false};
  std::atomic<bool> late_{false};
  late_failure met_{};
  copy_folder_report report_{};
};

/// How much later something was written than what it may be a copy of, at least, whatever clocks
/// say.
inline constexpr std::chrono::hours clearly_later{1};

/// The rest would fail as well: there is no space on the disk, no service, no credentials, or no
/// bucket to write to.
bool rest_would_fail(const error& why);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/folder_copy.ipp>
#endif
