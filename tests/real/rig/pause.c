// The first process of a pod's sandbox, and of a node: does nothing but inherit and bury orphans until it is told to end.
#include <signal.h>
#include <stddef.h>

int main(void) {
  signal(SIGCHLD, SIG_IGN);  // children that end leave no zombie
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigaddset(&end, SIGINT);
  sigprocmask(SIG_BLOCK, &end, NULL);
  int which;
  return sigwait(&end, &which);
}
