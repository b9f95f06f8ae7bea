#pragma once

#include <dataflux/detail/config.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Calls `stop_heard()` of its owner when the caller asks for a stop. A member of the
/// owner, or of something that the owner ends first.
///
/// stop_heard() runs on the thread that asks for the stop, which may be any; inside begin() when
/// the stop was asked for before. So it only posts, or forwards the stop: it takes no lock that is
/// held around begin(), end() or the destructor, and it keeps the owner alive, if that may end
/// meanwhile, by weak_from_this().lock(): a null pointer says that the owner is being destroyed.
///
/// end() and the destructor return when no call of stop_heard() is under way on another thread.
/// They never wait for one on their own thread: the owner may end inside of it.
///
/// Cost: no allocation; nothing at all for a token that can never be stopped.
class stop_watch {
 public:
  stop_watch() = default;
  stop_watch(const stop_watch&) = delete;
  stop_watch& operator=(const stop_watch&) = delete;
  ~stop_watch() { end(); }

  template <class Owner>
  void begin(const std::stop_token& token, Owner& owner) {
    if (token.stop_possible()) watch(token, {&owner, tell<Owner>});
  }
  void end() noexcept {
    if (watched_) forget();
  }

 private:
  /// One type for all owners, so that the compiler has one kind of callback to make.
  struct listener {
    void* owner;
    void (*tell)(void*) noexcept;
    void operator()() const noexcept { tell(owner); }
  };
  template <class Owner>
  static void tell(void* owner) noexcept {
    static_cast<Owner*>(owner)->stop_heard();
  }
  // Compiled once: inlined, g++ 13 and 14 would take the empty optional for uninitialised, and warn
  // of it in the user's source, where no option of ours is heard.
  void watch(const std::stop_token& token, const listener& told);
  void forget() noexcept;
  std::optional<std::stop_callback<listener>> watched_{};
};

/// The same from outside of an owner, which may end before: for each of those who wait for
/// it. Watches from the beginning to the end of its life.
template <class Owner>
class stop_link {
 public:
  stop_link(const std::stop_token& token, std::weak_ptr<Owner> owner) : owner_(std::move(owner)) {
    watch_.begin(token, *this);
  }
  void stop_heard() noexcept {
    if (const auto alive = owner_.lock()) alive->stop_heard();
  }

 private:
  const std::weak_ptr<Owner> owner_;
  stop_watch watch_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/stop_watch.ipp>
#endif
