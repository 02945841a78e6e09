/* What is going to be started, decided from the environment and the annotation before anything
 * starts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "starter/annotation.h"
#include "starter/cpu_set.h"
#include "starter/memory.h"
#include "starter/message.h"

#ifdef __cplusplus
extern "C" {
#endif

struct Start {
  const char** argv;  /* ends with NULL */
  const char** envp;  /* ends with NULL */
  struct CpuSet cpus; /* empty: where it may already run */
  bool is_shared;     /* they are a pool's, of which it gets what there is */
  bool has_nice;
  int nice;
  int policy; /* -1: as it is */
  int priority;
};

struct Plan {
  struct Start* starts;
  size_t count;
  enum OnExit on_exit;
  size_t expanded; /* bytes of all arguments */
  struct Memory memory;
};

/* The CPUs of a core among which a CPU is; false if the kernel does not say. */
typedef bool (*CoreOf)(unsigned cpu, struct CpuSet* core);

/* Everything that the device plugin gave to this container: the sets its cgroup is going to have.
 */
bool expected_cpus(const char* const* environment, struct CpuSet* exclusive, struct CpuSet* shared,
                   struct Message* message);

/* One start for each process of the element. The plan's memory is the caller's to free, also after
 * a failure. */
bool plan_processes(const struct Element* element, const char* const* environment, CoreOf core_of,
                    struct Plan* plan, struct Message* message);

/* The value of a variable; NULL if there is none. */
const char* value_in(const char* const* environment, const char* name);

#ifdef __cplusplus
}
#endif
