#pragma once

#include <sys/wait.h>
#include <unistd.h>

/// What `child` gives, 0 to 99, run in the child of a fork, where nothing of the parent's is
/// destroyed; 100 and the signal if one ends it, as the alarm does when it hangs.
template <class Child>
int run_child(Child child) {
  const ::pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(20);
    ::_exit(child());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}
