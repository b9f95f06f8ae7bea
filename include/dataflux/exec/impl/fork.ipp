#pragma once

#include <dataflux/exec/detail/fork.hpp>

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Leaked on purpose: fork handlers and late destructors may run after static destruction.
struct fork_state {
  std::mutex mutex{};
  /// With their inodes: libcurl closes some of its sockets without a word, and the number may be
  /// another file's by now.
  std::map<int, ::ino_t> descriptors{};

  static ::ino_t inode_of(int descriptor) noexcept {
    struct ::stat found {};
    return ::fstat(descriptor, &found) == 0 ? found.st_ino : 0;
  }

  static fork_state& get() {
    static fork_state* const state = make();
    return *state;
  }

 private:
  static fork_state* make() {
    auto* const state = new fork_state;
    // Held across fork(), so that the child finds the set whole.
    static_cast<void>(::pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                                       [] { get().enter_child(); }));
    return state;
  }

  void enter_child() noexcept {
    for (const auto& [descriptor, inode] : descriptors) {
      if (inode_of(descriptor) == inode) ::close(descriptor);
    }
    descriptors.clear();
    mutex.unlock();
  }
};

DATAFLUX_INLINE error forked_error(std::string_view what) {
  std::string message("this ");
  message.append(what).append(" was made before fork(); make a new one in the child process");
  return {errc::failed_precondition, std::move(message)};
}

DATAFLUX_INLINE void track_descriptor(int descriptor) {
  fork_state& state = fork_state::get();
  std::scoped_lock lock(state.mutex);
  state.descriptors.insert_or_assign(descriptor, fork_state::inode_of(descriptor));
}

DATAFLUX_INLINE void untrack_descriptor(int descriptor) noexcept {
  fork_state& state = fork_state::get();
  std::scoped_lock lock(state.mutex);
  state.descriptors.erase(descriptor);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
