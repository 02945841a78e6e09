/* Waits until the container's cgroup has the CPUs it was promised: on kernels before 6.2 a later
   write would undo every affinity set before. */
#pragma once

#include <stdbool.h>

#include "starter/cpu_set.h"
#include "starter/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `30s`, `500ms`, `1m`, `0`. */
bool parse_duration(const char* text, long* milliseconds);

/* Exclusive CPUs have to be there, unless they are offline, and of shared pools at least one CPU: a
   kubelet tells a container that starts again what pools were when it started first, and some CPU
   may still be leaving another pool. If that has not come to pass after the time, but the exclusive
   ones are there among those of a set that somebody did write, then the shared pools have become
   others, and it goes on. There: what the container has. cgroups: where they are mounted. False
   after the time, with both sets in the message. */
bool wait_for_cpuset(const struct CpuSet* exclusive, const struct CpuSet* shared, long milliseconds,
                     const char* cgroups, struct CpuSet* there, struct Message* message);

#ifdef __cplusplus
}
#endif
