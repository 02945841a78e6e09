#include "starter/plan.h"

#include <stdlib.h>
#include <string.h>

static const char kCpus[] = "PLIMSOLL_CPUS_";
static const char kShared[] = "PLIMSOLL_SHARED_";
static const char kProcessCpus[] = "PROCESS_CPUS=";

enum { kMaxExpanded = 4 << 20 };

const char* value_in(const char* const* environment, const char* name) {
  const size_t length = strlen(name);
  for (; *environment; ++environment) {
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
      return *environment + length + 1;
  }
  return NULL;
}

bool expected_cpus(const char* const* environment, struct CpuSet* exclusive, struct CpuSet* shared,
                   struct Message* message) {
  memset(exclusive, 0, sizeof *exclusive);
  memset(shared, 0, sizeof *shared);
  for (const char* const* at = environment; *at; ++at) {
    const char* value = strchr(*at, '=');
    if (!value) continue;
    struct CpuSet* set = NULL;
    if (strncmp(*at, "EXCLUSIVE_CPUS=", strlen("EXCLUSIVE_CPUS=")) == 0) set = exclusive;
    if (strncmp(*at, "SHARED_CPUS=", strlen("SHARED_CPUS=")) == 0) set = shared;
    if (strncmp(*at, kCpus, sizeof kCpus - 1) == 0) {
      const char* pool = *at + sizeof kCpus - 1;
      char variable[128];
      snprintf(variable, sizeof variable, "%s%.*s", kShared, (int)(value - pool), pool);
      set = value_in(environment, variable) ? shared : exclusive;
    }
    if (set && !cpu_parse(set, value + 1)) return refuse(message, "%s is not a list of CPUs", *at);
  }
  return true;
}

/* --- CPUs
 * ------------------------------------------------------------------------------------------------------
 */

/* A pool's CPUs and how many of them earlier processes took. Pools whose CPUs stand in the same
 * variable share one. */
struct Pool {
  const char* list;
  bool is_shared;
  struct CpuSet all, taken;
};

static void variable_for(const char* prefix, const char* pool, char* out, size_t size) {
  size_t used = (size_t)snprintf(out, size, "%s", prefix);
  for (; *pool && used + 1 < size; ++pool) {
    const char c = *pool;
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_digit = c >= '0' && c <= '9';
    out[used++] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : is_letter || is_digit ? c : '_';
  }
  out[used] = '\0';
}

static bool find_pool(const char* name, const char* const* environment, struct Pool* pools,
                      size_t* count, struct Pool** found, struct Message* message) {
  char variable[128];
  variable_for(kCpus, name, variable, sizeof variable);
  const char* list = value_in(environment, variable);
  const char* shared = value_in(environment, "SHARED_CPUS");
  const char* exclusive = value_in(environment, "EXCLUSIVE_CPUS");
  bool is_shared = false;
  if (list) {
    variable_for(kShared, name, variable, sizeof variable);
    is_shared = value_in(environment, variable) != NULL;
  } else { /* another device plugin */
    is_shared = shared && (strncmp(name, "shared", strlen("shared")) == 0 || !exclusive);
    list = is_shared ? shared : exclusive;
  }
  if (!list)
    return refuse(message, "no variable tells the CPUs of pool %s; was it requested?", name);
  for (size_t i = 0; i < *count; ++i) {
    *found = &pools[i];
    if (pools[i].list == list) return true;
  }
  *found = &pools[(*count)++];
  (*found)->list = list;
  (*found)->is_shared = is_shared;
  if (!cpu_parse(&(*found)->all, list) || cpu_count(&(*found)->all) == 0)
    return refuse(message, "the CPUs of pool %s are not a list: %s", name, list);
  return true;
}

/* Takes from the front, core by core, so that a process has the siblings of a core to itself. */
static bool take(struct Pool* pool, const struct Process* process, CoreOf core_of,
                 struct CpuSet* out, struct Message* message) {
  long missing = process->cpus;
  for (unsigned cpu = 0; cpu < kMaxCpus && missing > 0; ++cpu) {
    struct CpuSet core;
    memset(&core, 0, sizeof core);
    if (!cpu_in(&pool->all, cpu) || cpu_in(&pool->taken, cpu)) continue;
    if (!core_of(cpu, &core)) memset(&core, 0, sizeof core);
    cpu_add(&core, cpu);
    for (unsigned sibling = cpu; sibling < kMaxCpus && missing > 0; ++sibling) {
      if (!cpu_in(&core, sibling) || !cpu_in(&pool->all, sibling) || cpu_in(&pool->taken, sibling))
        continue;
      cpu_add(&pool->taken, sibling);
      cpu_add(out, sibling);
      --missing;
    }
  }
  if (missing == 0) return true;
  const size_t size = cpu_count(&pool->all);
  return refuse(message, "%s wants %ld CPUs of pool %s, which has %zu here, %zu of them taken",
                process->program, process->cpus, process->pool, size,
                cpu_count(&pool->taken) - cpu_count(out));
}

/* --- words
 * -----------------------------------------------------------------------------------------------------
 */

/* Writes $(NAME) as its value, $$(NAME) as $(NAME), and leaves unknown names. Returns the length;
   out may be NULL to learn it. */
static size_t expand(const char* text, const char* const* environment, char* out) {
  size_t used = 0;
  for (const char* at = text; *at;) {
    const char* end = at[0] == '$' && at[1] == '(' ? strchr(at, ')') : NULL;
    if (at[0] == '$' && at[1] == '$') { /* as the kubelet does */
      if (out) out[used] = '$';
      ++used;
      at += 2;
      if (*at == '(') {
        if (out) out[used] = '(';
        ++used;
        ++at;
      }
      continue;
    }
    char name[256];
    const size_t length = end ? (size_t)(end - at) - 2 : sizeof name;
    const char* value = NULL;
    if (length < sizeof name) {
      memcpy(name, at + 2, length);
      name[length] = '\0';
      value = value_in(environment, name);
    }
    if (value) {
      if (out) memcpy(out + used, value, strlen(value));
      used += strlen(value);
      at = end + 1;
    } else {
      if (out) out[used] = *at;
      ++used;
      ++at;
    }
  }
  if (out) out[used] = '\0';
  return used;
}

static size_t length_of(const char* const* list) {
  size_t length = 0;
  while (list[length]) ++length;
  return length;
}

/* Sets a variable in a list that has room for one more. */
static void set_variable(const char** list, const char* assignment) {
  const size_t length = (size_t)(strchr(assignment, '=') - assignment) + 1;
  while (*list && strncmp(*list, assignment, length) != 0) ++list;
  *list = assignment;
}

static bool plan_environment(struct Plan* plan, const struct Process* process,
                             const char* const* environment, struct Start* start,
                             struct Message* message) {
  const size_t inherited = length_of(environment);
  start->envp =
      allocate(&plan->memory, (inherited + length_of(process->env) + 2) * sizeof *start->envp);
  char* own =
      allocate(&plan->memory, strlen(kProcessCpus) + cpu_print_list(&start->cpus, NULL) + 1);
  if (!start->envp || !own) return refuse(message, "there is no memory left");
  strcpy(own, kProcessCpus);
  cpu_print_list(&start->cpus, own + strlen(kProcessCpus));
  memcpy(start->envp, environment, inherited * sizeof *start->envp);
  set_variable(start->envp, own);
  for (const char** variable = process->env; *variable; ++variable)
    set_variable(start->envp, *variable);
  return true;
}

static bool plan_arguments(struct Plan* plan, const struct Process* process, struct Start* start,
                           struct Message* message) {
  const size_t count = length_of(process->args);
  start->argv = allocate(&plan->memory, (count + 2) * sizeof *start->argv);
  if (!start->argv) return refuse(message, "there is no memory left");
  start->argv[0] = process->program;
  for (size_t i = 0; i < count; ++i) {
    const size_t length = expand(process->args[i], start->envp, NULL);
    plan->expanded += length;
    if (plan->expanded > kMaxExpanded)
      return refuse(message, "the arguments of %s become longer than any program can be given",
                    process->program);
    char* word = allocate(&plan->memory, length + 1);
    if (!word) return refuse(message, "there is no memory left");
    expand(process->args[i], start->envp, word);
    start->argv[i + 1] = word;
  }
  return true;
}

bool plan_processes(const struct Element* element, const char* const* environment, CoreOf core_of,
                    struct Plan* plan, struct Message* message) {
  memset(plan, 0, sizeof *plan);
  plan->on_exit = element->on_exit;
  plan->starts = allocate(&plan->memory, element->count * sizeof *plan->starts);
  struct Pool* pools = allocate(&plan->memory, element->count * sizeof *pools);
  size_t pool_count = 0;
  if (!plan->starts || !pools) return refuse(message, "there is no memory left");
  for (size_t i = 0; i < element->count; ++i) {
    const struct Process* process = &element->processes[i];
    struct Start* start = &plan->starts[i];
    struct Pool* pool = NULL;
    if (!find_pool(process->pool, environment, pools, &pool_count, &pool, message)) return false;
    start->is_shared = pool->is_shared;
    if (pool->is_shared) {
      start->cpus = pool->all;
    } else if (!take(pool, process, core_of, &start->cpus, message)) {
      return false;
    }
    start->has_nice = process->has_nice;
    start->nice = process->nice;
    start->policy = process->policy;
    start->priority = process->priority;
    if (!plan_environment(plan, process, environment, start, message) ||
        !plan_arguments(plan, process, start, message))
      return false;
  }
  plan->count = element->count;
  return true;
}
