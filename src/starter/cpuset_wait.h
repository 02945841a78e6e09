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

/* Offline CPUs need not be there. cgroups: where they are mounted. False after the time, with both
 * sets in the message. */
bool wait_for_cpuset(const struct CpuSet* expected, long milliseconds, const char* cgroups,
                     struct Message* message);

#ifdef __cplusplus
}
#endif
