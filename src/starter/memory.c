#include "starter/memory.h"

#include <stdlib.h>

struct Block {
  struct Block* next;
};

void* allocate(struct Memory* memory, size_t size) {
  struct Block* block = calloc(1, sizeof(struct Block) + size);
  if (!block) return NULL;
  block->next = memory->newest;
  memory->newest = block;
  return block + 1;
}

void free_all(struct Memory* memory) {
  while (memory->newest) {
    struct Block* next = memory->newest->next;
    free(memory->newest);
    memory->newest = next;
  }
}
