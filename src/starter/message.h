/* What went wrong, for the one line that the starter prints before it ends. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct Message {
  char text[1024];
};

/* Always false, so that a function can end with `return refuse(…)`. */
__attribute__((format(printf, 2, 3))) static inline bool refuse(struct Message* message,
                                                                const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message->text, sizeof message->text, format, arguments);
  va_end(arguments);
  return false;
}

#ifdef __cplusplus
}
#endif
