/* Small files of the kernel and of the kubelet. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The whole file with a NUL behind. False, with errno, if it cannot be read; EFBIG if it does not
 * fit. */
bool read_text(const char* path, char* out, size_t size);
