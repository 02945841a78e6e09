/* The pod's annotation as the starter finds it: the downward API's file, and the JSON inside. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "starter/memory.h"
#include "starter/message.h"

#ifdef __cplusplus
extern "C" {
#endif

enum OnExit { kFailFast, kAny, kLast };

struct Process {
  const char* program;
  const char** args; /* ends with NULL */
  const char* pool;
  long cpus;
  const char** env; /* NAME=VALUE, ends with NULL */
  bool has_nice;
  int nice;
  int policy; /* of sched_setscheduler(2); -1: as it is */
  int priority;
};

struct Element {
  enum OnExit on_exit;
  struct Process* processes;
  size_t count;         /* 0: the annotation does not name the container */
  struct Memory memory; /* what the pointers above lead to, besides the text that was read */
};

/* Finds `key="value"` in the text of the downward API's file and decodes the value, quoted as Go
 *does, in place. value is NULL if the key is not there. False if the value is broken. */
bool find_annotation(char* text, const char* key, char** value, struct Message* message);

/* The element for the container. Strings point into json, which is changed. The element's memory is
   the caller's to free, also after a failure. */
bool read_element(char* json, const char* container, struct Element* element,
                  struct Message* message);

#ifdef __cplusplus
}
#endif
