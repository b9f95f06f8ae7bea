#pragma once

#include <dataflux/detail/short_of_memory.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Runs `work` on the one thread of the process that may block: for credentials that read a file
/// or run an executable, so rare and short that one thread serves all. Tasks run one at a time, in
/// order. A task may throw std::bad_alloc only, by which it is over: it sees to it that the call,
/// which it was for, ends.
///
/// The thread starts with the first task, blocks all signals, and is never joined: a task that
/// hangs at exit does not keep the process. After a fork the child's first task starts a thread of
/// its own; tasks that the parent had waiting are not run in the child.
///
/// Thread-safe. Errors: unavailable when no thread can be started; `work` is destroyed then.
/// Cost: a lock, an allocation and a wake-up.
result<void> run_blocking(task work);

/// The same for steps on large files, which may take long. They have eight threads of their own,
/// each started when the others are busy: so a slow disk does not delay credentials, and a step
/// that hangs does not delay the others. Tasks are begun in order and run side by side. Long work
/// is done in short steps, each of which asks for the next: then all get their turn.
result<void> run_file_step(task work);

/// The same for whoever has to go on where memory is short: then the error is short_of_memory().
/// What `work` captures must be copied without an allocation, since that is done before.
template <class Work>
result<void> try_file_step(Work&& work) noexcept {
  result<void> begun = short_of_memory();
  within_memory([&] { begun = run_file_step(std::forward<Work>(work)); });
  return begun;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/exec/impl/blocking_worker.ipp>
#endif
