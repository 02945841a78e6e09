#include "starter/cpuset_wait.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "starter/files.h"

enum { kFirstPause = 5, kLongestPause = 100 };

bool parse_duration(const char* text, long* milliseconds) {
  static const struct {
    const char* unit;
    double factor;
  } kUnits[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 60 * 60 * 1000}};

  enum { kDay = 24 * 60 * 60 * 1000 };

  if (strcmp(text, "0") == 0) {
    *milliseconds = 0;
    return true;
  }
  if (*text < '0' || *text > '9') return false;
  char* end = NULL;
  const double number = strtod(text, &end);
  for (size_t i = 0; i < sizeof kUnits / sizeof *kUnits; ++i) {
    if (strcmp(end, kUnits[i].unit) != 0) continue;
    if (!(number * kUnits[i].factor <= kDay)) return false;
    *milliseconds = (long)(number * kUnits[i].factor);
    return true;
  }
  return false;
}

static bool read_set(const char* directory, const char* name, struct CpuSet* set) {
  char path[512], text[32768];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  memset(set, 0, sizeof *set);
  return read_text(path, text, sizeof text) && cpu_parse(set, text);
}

/* The path of our cgroup behind `prefix` in a line like "4:cpuset:/kubepods/x"; false: the root. */
static bool own_cgroup(const char* prefix, char* path, size_t size) {
  char text[8192];
  if (!read_text("/proc/self/cgroup", text, sizeof text)) return false;
  const char* found = strstr(text, prefix);
  if (!found) return false;
  found += strlen(prefix);
  const size_t length = strcspn(found, "\n");
  if (length < 2 || length >= size || *found != '/') return false;
  memcpy(path, found, length);
  path[length] = '\0';
  return !strstr(path, "/.."); /* outside of what we see */
}

static void current_set(const char* cgroups, struct CpuSet* set) {
  /* Without a cgroup namespace we see the cgroups of the whole host, and ours is one of them. Where
     only ours is mounted, that path leads nowhere. */
  char own[256], name[384];
  if (own_cgroup("0::", own, sizeof own)) {
    snprintf(name, sizeof name, "%s/cpuset.cpus.effective", own + 1);
    if (read_set(cgroups, name, set)) return;
  }
  if (own_cgroup(":cpuset:", own, sizeof own)) {
    snprintf(name, sizeof name, "cpuset%s/cpuset.cpus", own);
    if (read_set(cgroups, name, set)) return;
  }
  if (read_set(cgroups, "cpuset.cpus.effective", set)) return;
  if (read_set(cgroups, "cpuset/cpuset.cpus", set)) return;
  memset(set, 0, sizeof *set);
  sched_getaffinity(0, sizeof *set, (cpu_set_t*)set);
}

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static bool is_right(const struct CpuSet* there, const struct CpuSet* exclusive,
                     const struct CpuSet* reachable, const struct CpuSet* shared) {
  struct CpuSet all = *exclusive, of_pools = *shared;
  if (cpu_count(there) == 0) return false;
  if (cpu_count(shared) == 0) return cpu_equal(there, exclusive) || cpu_equal(there, reachable);
  cpu_unite(&all, shared);
  cpu_intersect(&of_pools, there);
  return cpu_within(reachable, there) && cpu_within(there, &all) && cpu_count(&of_pools) > 0;
}

bool wait_for_cpuset(const struct CpuSet* exclusive, const struct CpuSet* shared, long milliseconds,
                     const char* cgroups, struct CpuSet* there, struct Message* message) {
  struct CpuSet online, expected = *exclusive, reachable = *exclusive;
  const bool knows_online = read_set("/sys/devices/system/cpu", "online", &online);
  if (knows_online) cpu_intersect(&reachable, &online);
  cpu_unite(&expected, shared);
  const long deadline = now() + milliseconds;
  for (long pause = kFirstPause;; pause = pause * 2 > kLongestPause ? kLongestPause : pause * 2) {
    current_set(cgroups, there);
    if (is_right(there, exclusive, &reachable, shared)) return true;
    const long left = deadline - now();
    if (left <= 0) break;
    const long time = pause < left ? pause : left;
    nanosleep(&(struct timespec){.tv_sec = time / 1000, .tv_nsec = time % 1000 * 1000000}, NULL);
  }
  char wanted[256], found[256];
  cpu_print_ranges(&expected, wanted, sizeof wanted);
  cpu_print_ranges(there, found, sizeof found);
  if (cpu_count(shared) > 0 && knows_online && !cpu_within(&online, there) &&
      cpu_within(&reachable, there)) {
    fprintf(stderr, "plimsoll-starter: shared pools have changed: CPUs %s, not %s\n", found,
            wanted);
    return true;
  }
  return refuse(message,
                "the container has CPUs %s after %ld ms, not %s as allocated: is the cpuset setter "
                "running on this node? PLIMSOLL_CPUSET_WAIT=0 starts without",
                found, milliseconds, wanted);
}
