/* Sets of CPUs, and the lists they are written as. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kMaxCpus = 8192 }; /* as many as a kernel can be built for */

/* Laid out as the kernel's own masks. */
struct CpuSet {
  unsigned long bits[kMaxCpus / (8 * sizeof(unsigned long))];
};

void cpu_add(struct CpuSet* set, unsigned cpu);
bool cpu_in(const struct CpuSet* set, unsigned cpu);
size_t cpu_count(const struct CpuSet* set);
bool cpu_equal(const struct CpuSet* a, const struct CpuSet* b);
bool cpu_within(const struct CpuSet* part, const struct CpuSet* whole);
void cpu_unite(struct CpuSet* set, const struct CpuSet* more);
void cpu_intersect(struct CpuSet* set, const struct CpuSet* other);

/* Adds what the list names: `4,5` as well as `4-7,9`, blanks and a line's end around items. False
 * if it is none. */
bool cpu_parse(struct CpuSet* set, const char* list);
/* `4-5,7` for people. Cut if it does not fit. */
void cpu_print_ranges(const struct CpuSet* set, char* out, size_t size);
/* `4,5,7` for programs. Returns the length it has without the final NUL; out may be NULL to learn
 * it. */
size_t cpu_print_list(const struct CpuSet* set, char* out);

#ifdef __cplusplus
}
#endif
