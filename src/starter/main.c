/* The entry point of a container whose processes shall run on certain CPUs. Small, static and
   without threads: it runs inside images of others. docs/pools.md tells what it does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "starter/annotation.h"
#include "starter/cpuset_wait.h"
#include "starter/files.h"
#include "starter/plan.h"
#include "starter/supervise.h"

extern char** environ;

enum { kAnnotationsSize = 1 << 20, kWait = 30000, kGrace = 10000 };

/* Installers look for it in the file. */
static const char kVersion[] = "plimsoll-starter version " PLIM_VERSION "\n";

static const char* setting(const char* name, const char* fallback) {
  const char* value = getenv(name);
  return value && *value ? value : fallback;
}

static int fail(int code, const struct Message* message) {
  fprintf(stderr, "plimsoll-starter: %s\n", message->text);
  return code;
}

static bool duration_setting(const char* name, long fallback, long* milliseconds,
                             struct Message* message) {
  const char* value = setting(name, NULL);
  *milliseconds = fallback;
  return !value || parse_duration(value, milliseconds) ||
         refuse(message, "%s=%s is not a duration such as 30s or 500ms", name, value);
}

/* What the pod says about this container; an empty element if it says nothing. */
static bool find_element(struct Element* element, struct Message* message) {
  static char text[kAnnotationsSize];
  const char* container = getenv("CONTAINER_NAME");
  const char* path = setting("PLIMSOLL_PODINFO", "/etc/podinfo/annotations");
  memset(element, 0, sizeof *element);
  if (!container) return true;
  if (!read_text(path, text, sizeof text))
    return errno == ENOENT || refuse(message, "cannot read %s: %s", path, strerror(errno));
  char key[320];
  snprintf(key, sizeof key, "%s/cpus", setting("PLIMSOLL_BASE_NAME", "nokia.k8s.io"));
  char* value = NULL;
  if (!find_annotation(text, key, &value, message)) return false;
  return !value || read_element(value, container, element, message);
}

static bool core_of(unsigned cpu, struct CpuSet* core) {
  char path[96], text[256];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
  return read_text(path, text, sizeof text) && cpu_parse(core, text);
}

int main(int argc, char** argv) {
  (void)argc;
  struct Message message;
  struct CpuSet exclusive, shared, there;
  struct Element element;
  struct Plan plan;
  long wait = 0, grace = 0;
  const char* const* environment = (const char* const*)environ;
  const char** command = (const char**)argv + 1;
  if (*command && strcmp(*command, "--version") == 0) {
    fputs(kVersion, stdout);
    return 0;
  }
  if (*command && strcmp(*command, "--") == 0) ++command;

  if (!duration_setting("PLIMSOLL_CPUSET_WAIT", kWait, &wait, &message) ||
      !duration_setting("PLIMSOLL_STOP_GRACE", kGrace, &grace, &message) ||
      !expected_cpus(environment, &exclusive, &shared, &message) ||
      !find_element(&element, &message))
    return fail(kFailed, &message);
  if (element.count == 0 && !*command) {
    refuse(&message, "there is nothing to start: no command, and no annotation for this container");
    return fail(kFailed, &message);
  }
  if (element.count > 0 && !plan_processes(&element, environment, core_of, &plan, &message))
    return fail(kFailed, &message);
  struct Start whole = {.argv = command,
                        .envp = (const char**)environ,
                        .cpus = exclusive,
                        .is_shared = cpu_count(&shared) > 0,
                        .policy = -1};
  cpu_unite(&whole.cpus, &shared);
  struct Start* starts = element.count > 0 ? plan.starts : &whole;
  if (wait > 0 && cpu_count(&whole.cpus) > 0) {
    if (!wait_for_cpuset(&exclusive, &shared, wait,
                         setting("PLIMSOLL_CGROUP_ROOT", "/sys/fs/cgroup"), &there, &message))
      return fail(kTimedOut, &message);
    for (size_t i = 0; i < (element.count > 0 ? element.count : 1); ++i)
      if (starts[i].is_shared) cpu_intersect(&starts[i].cpus, &there);
  }
  if (element.count > 1) return supervise(&plan, grace);

  const struct Start* start = &starts[0];
  char cpus[512];
  cpu_print_ranges(&start->cpus, cpus, sizeof cpus);
  fprintf(stderr, "plimsoll-starter: starting %s on CPUs %s\n", start->argv[0],
          *cpus ? cpus : "as given");
  return become(start);
}
