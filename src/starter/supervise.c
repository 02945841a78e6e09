#include "starter/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static const int kForwarded[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT,
                                 SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

enum {
  kForwardedCount = sizeof kForwarded / sizeof *kForwarded,
  kMaxChildren = 256,
  kTogether = 500 /* milliseconds: within them, processes end together */
};

/* What a child could not do, told to its parent through a pipe that a successful exec closes. */
struct Obstacle {
  int code;
  int problem; /* errno */
  const char* what;
};

struct Children {
  const struct Plan* plan;
  pid_t pids[kMaxChildren]; /* 0: ended */
  size_t running;
  int first_failure; /* 0: none yet */
  int deciding;      /* the exit code by the rule, once `decided` */
  bool decided;
  bool stopping;
  int64_t stop_at; /* monotonic milliseconds; 0: no process has left the others behind */
  int64_t kill_at; /* monotonic milliseconds, 0 when they were killed or nobody shall be */
  long grace;
};

/* --- one process
 * -----------------------------------------------------------------------------------------------
 */

static bool prepare(const struct Start* start, struct Obstacle* obstacle) {
  obstacle->code = kFailed;
  if (cpu_count(&start->cpus) > 0 &&
      sched_setaffinity(0, sizeof start->cpus, (const cpu_set_t*)&start->cpus) != 0) {
    obstacle->what = "cannot run on its CPUs";
  } else if (start->has_nice && setpriority(PRIO_PROCESS, 0, start->nice) != 0) {
    obstacle->what = "cannot have its nice value";
  } else if (start->policy >= 0 &&
             /* musl's own function always refuses */
             syscall(SYS_sched_setscheduler, 0, start->policy,
                     &(struct sched_param){.sched_priority = start->priority}) != 0) {
    obstacle->what = "cannot have its scheduling policy";
  } else {
    environ = (char**)start->envp; /* PATH is looked up in it */
    execvp(start->argv[0], (char* const*)start->argv);
    obstacle->code = errno == ENOENT || errno == ENOTDIR ? kNotFound : kNotExecutable;
    obstacle->what = "cannot be started";
  }
  obstacle->problem = errno;
  return false;
}

static void complain(const struct Start* start, const struct Obstacle* obstacle) {
  fprintf(stderr, "plimsoll-starter: %s %s: %s\n", start->argv[0], obstacle->what,
          strerror(obstacle->problem));
}

int become(const struct Start* start) {
  struct Obstacle obstacle;
  prepare(start, &obstacle);
  complain(start, &obstacle);
  return obstacle.code;
}

static void become_child(const struct Start* start, bool keeps_input, const sigset_t* mask,
                         int report) {
  sigprocmask(SIG_SETMASK, mask, NULL);
  if (!keeps_input) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  }
  struct Obstacle obstacle;
  prepare(start, &obstacle);
  (void)!write(report, &obstacle, sizeof obstacle);
  _exit(obstacle.code);
}

/* The code of what failed, 0 if it runs. */
static int start_child(const struct Start* start, bool keeps_input, const sigset_t* mask,
                       pid_t* pid) {
  int report[2];
  struct Obstacle obstacle = {.code = kFailed, .what = "cannot be started"};
  if (pipe2(report, O_CLOEXEC) != 0 || (*pid = fork()) < 0) {
    obstacle.problem = errno;
    complain(start, &obstacle);
    return obstacle.code;
  }
  if (*pid == 0) become_child(start, keeps_input, mask, report[1]);
  close(report[1]);
  ssize_t got = 0;
  do got = read(report[0], &obstacle, sizeof obstacle);
  while (got < 0 && errno == EINTR);
  close(report[0]);
  if (got != sizeof obstacle) {
    char cpus[512];
    cpu_print_ranges(&start->cpus, cpus, sizeof cpus);
    fprintf(stderr, "plimsoll-starter: started %s as process %d on CPUs %s\n", start->argv[0], *pid,
            cpus);
    return 0;
  }
  complain(start, &obstacle);
  waitpid(*pid, NULL, 0);
  return obstacle.code;
}

/* --- all of them
 * -----------------------------------------------------------------------------------------------
 */

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void signal_all(const struct Children* children, int signal) {
  for (size_t i = 0; i < children->plan->count; ++i) {
    if (children->pids[i] > 0) kill(children->pids[i], signal);
  }
}

/* The signal itself is the caller's to send. */
static void begin_stop(struct Children* children) {
  if (children->stopping) return;
  children->stopping = true;
  children->kill_at = now() + children->grace;
}

static void stop_all(struct Children* children) {
  if (!children->stopping) signal_all(children, SIGTERM);
  begin_stop(children);
}

static void decide(struct Children* children, int code) {
  if (!children->decided) children->deciding = code;
  children->decided = true;
  stop_all(children);
}

static void note_end(struct Children* children, size_t index, int status) {
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  fprintf(stderr, "plimsoll-starter: process %d (%s) ended with status %d\n", children->pids[index],
          children->plan->starts[index].argv[0], code);
  children->pids[index] = 0;
  --children->running;
  if (children->first_failure == 0) children->first_failure = code;
  switch (children->plan->on_exit) {
    case kFailFast:
      if (code != 0) decide(children, code);
      break;
    case kAny:
      if (code != 0)
        decide(children, code);
      else if (children->stop_at == 0)
        children->stop_at = now() + kTogether;
      break;
    case kLast:
      if (index + 1 == children->plan->count) decide(children, code);
      break;
  }
}

/* Orphans of the container are ours as well. */
static void reap(struct Children* children) {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (size_t i = 0; i < children->plan->count; ++i) {
      if (children->pids[i] == pid) note_end(children, i, status);
    }
  }
}

static void wait_for_all(struct Children* children, const sigset_t* awaited) {
  while (children->running > 0) {
    int64_t left = children->kill_at == 0 ? INT32_MAX : children->kill_at - now();
    if (children->stop_at != 0 && !children->stopping) {
      const int64_t until = children->stop_at - now();
      if (until <= 0) {
        decide(children, 1);
        continue;
      }
      if (until < left) left = until;
    }
    if (left <= 0) {
      signal_all(children, SIGKILL);
      children->kill_at = 0;
      continue;
    }
    const struct timespec limit = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
    const int signal = sigtimedwait(awaited, NULL, &limit);
    if (signal == SIGCHLD) {
      reap(children);
    } else if (signal > 0) {
      signal_all(children, signal);
      if (signal == SIGTERM) begin_stop(children);
    }
  }
}

int supervise(const struct Plan* plan, long grace_milliseconds) {
  struct Children children = {.plan = plan, .grace = grace_milliseconds};
  sigset_t awaited, before;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  for (size_t i = 0; i < kForwardedCount; ++i) sigaddset(&awaited, kForwarded[i]);
  sigprocmask(SIG_BLOCK, &awaited, &before);
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* when pods share a process namespace we are not PID 1 */
  for (size_t i = 0; i < plan->count; ++i) {
    const int code =
        start_child(&plan->starts[i], i + 1 == plan->count, &before, &children.pids[i]);
    if (code != 0) {
      children.pids[i] = 0;
      decide(&children, code);
      break;
    }
    ++children.running;
  }
  wait_for_all(&children, &awaited);
  return children.decided ? children.deciding : children.first_failure;
}
