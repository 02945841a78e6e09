#include "starter/cpu_set.h"

#include <stdio.h>
#include <string.h>

enum { kWordBits = 8 * sizeof(unsigned long), kWords = kMaxCpus / kWordBits };

void cpu_add(struct CpuSet* set, unsigned cpu) {
  set->bits[cpu / kWordBits] |= 1UL << (cpu % kWordBits);
}

bool cpu_in(const struct CpuSet* set, unsigned cpu) {
  return cpu < kMaxCpus && (set->bits[cpu / kWordBits] >> (cpu % kWordBits) & 1) != 0;
}

size_t cpu_count(const struct CpuSet* set) {
  size_t count = 0;
  for (size_t i = 0; i < kWords; ++i) count += (size_t)__builtin_popcountl(set->bits[i]);
  return count;
}

bool cpu_equal(const struct CpuSet* a, const struct CpuSet* b) {
  return memcmp(a, b, sizeof *a) == 0;
}

bool cpu_within(const struct CpuSet* part, const struct CpuSet* whole) {
  for (size_t i = 0; i < kWords; ++i)
    if (part->bits[i] & ~whole->bits[i]) return false;
  return true;
}

void cpu_unite(struct CpuSet* set, const struct CpuSet* more) {
  for (size_t i = 0; i < kWords; ++i) set->bits[i] |= more->bits[i];
}

void cpu_intersect(struct CpuSet* set, const struct CpuSet* other) {
  for (size_t i = 0; i < kWords; ++i) set->bits[i] &= other->bits[i];
}

static const char* skip_blanks(const char* at) {
  while (*at == ' ' || *at == '\t' || *at == '\n') ++at;
  return at;
}

static const char* read_cpu(const char* at, unsigned* cpu) {
  if (*at < '0' || *at > '9') return NULL;
  unsigned value = 0;
  for (; *at >= '0' && *at <= '9'; ++at) {
    value = value * 10 + (unsigned)(*at - '0');
    if (value >= kMaxCpus) return NULL;
  }
  *cpu = value;
  return at;
}

bool cpu_parse(struct CpuSet* set, const char* list) {
  const char* at = skip_blanks(list);
  if (*at == '\0') return true;
  for (;;) {
    unsigned first = 0, last = 0;
    at = read_cpu(skip_blanks(at), &first);
    if (!at) return false;
    last = first;
    if (*at == '-') {
      at = read_cpu(at + 1, &last);
      if (!at || last < first) return false;
    }
    for (unsigned cpu = first; cpu <= last; ++cpu) cpu_add(set, cpu);
    at = skip_blanks(at);
    if (*at == '\0') return true;
    if (*at++ != ',') return false;
  }
}

void cpu_print_ranges(const struct CpuSet* set, char* out, size_t size) {
  size_t used = 0;
  *out = '\0';
  for (unsigned cpu = 0; cpu < kMaxCpus && used < size; ++cpu) {
    if (!cpu_in(set, cpu)) continue;
    unsigned last = cpu;
    while (cpu_in(set, last + 1)) ++last;
    const char* separator = used == 0 ? "" : ",";
    int length = last == cpu ? snprintf(out + used, size - used, "%s%u", separator, cpu)
                             : snprintf(out + used, size - used, "%s%u-%u", separator, cpu, last);
    used += (size_t)length;
    cpu = last;
  }
}

size_t cpu_print_list(const struct CpuSet* set, char* out) {
  size_t used = 0;
  for (unsigned cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (!cpu_in(set, cpu)) continue;
    char item[8];
    const size_t length = (size_t)snprintf(item, sizeof item, used == 0 ? "%u" : ",%u", cpu);
    if (out) memcpy(out + used, item, length + 1);
    used += length;
  }
  return used;
}
