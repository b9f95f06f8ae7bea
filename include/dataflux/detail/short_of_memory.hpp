#pragma once

#include <dataflux/error.hpp>

#include <new>

/// No allocation ends the process. What runs on a thread of ours may throw std::bad_alloc and
/// nothing else, and that ends one call:
///
/// - A connection ends its exchange with transport_failure::memory, a call by finish_short().
/// - A coordinator makes each step by make_step(), and falls short (fall_short()). A completion of
///   then() that is destroyed uncalled on its strand was lost: its coordinator falls short, too.
/// - An operation whose producer disappears has failed.
/// - upload_machine fails by itself, also within an event; object_upload answers it for lost
///   requests. If the object may exist all the same, the error says so (outcome_unknown).
///
/// The error is made before it is needed, so it may lack names. What releases something has its
/// memory beforehand. A size that a server announces takes no memory: sinks grow with the bytes
/// that have come. Tests: tests/c_api/each_allocation_test.cpp.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// What a call ends with where memory is short: resource_exhausted, without names or
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
