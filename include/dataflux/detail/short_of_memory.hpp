#pragma once

#include <dataflux/error.hpp>

#include <new>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: what a call ends with where memory is short: resource_exhausted, without names or
/// attempts, since these would need memory.
///
/// It is made by the first call and kept, so that the others allocate nothing. Whoever starts
/// threads calls it before: then it is there when it is needed.
inline error short_of_memory(bool outcome_unknown = false) {
  constexpr const char* text = "out of memory; do less at a time, or let the process have more";
  static const error* const known = new error(errc::resource_exhausted, text);
  static const error* const unknown =
      new error(error(errc::resource_exhausted, text).with_outcome_unknown(true));
  return outcome_unknown ? *unknown : *known;
}

/// Runs `work`; where that is short of memory, `otherwise`. True if memory was enough.
template <class Work, class Otherwise>
bool within_memory(Work&& work, Otherwise&& otherwise) noexcept {
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    try {
      otherwise();
    } catch (const std::bad_alloc&) {  // then nothing more can be said
    }
    return false;
  }
}
template <class Work>
bool within_memory(Work&& work) noexcept {
  return within_memory(static_cast<Work&&>(work), [] {});
}

/// Takes back what was done, unless it is kept(): where memory is short in between, or at any other
/// early end.
template <class Undo>
class taken_back_unless_kept {
 public:
  explicit taken_back_unless_kept(Undo undo) noexcept : undo_(undo) {}
  taken_back_unless_kept(const taken_back_unless_kept&) = delete;
  taken_back_unless_kept& operator=(const taken_back_unless_kept&) = delete;
  ~taken_back_unless_kept() {
    if (!kept_) undo_();
  }
  void kept() noexcept { kept_ = true; }

 private:
  Undo undo_;
  bool kept_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
