/* Memory that is given back all at once. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct Memory {
  struct Block* newest;
};

/* Zeroed; NULL when there is none left. */
void* allocate(struct Memory* memory, size_t size);
void free_all(struct Memory* memory);

#ifdef __cplusplus
}
#endif
