/* Starts the processes of a plan, and stands as their parent until they have ended. */
#pragma once

#include "starter/plan.h"

enum {
  kTimedOut = 124,
  kFailed = 125, /* the starter itself */
  kNotExecutable = 126,
  kNotFound = 127,
};

/* Becomes the program. Returns an exit code if it cannot. */
int become(const struct Start* start);

/* Returns the exit code that the plan's rule makes of theirs. */
int supervise(const struct Plan* plan, long grace_milliseconds);
