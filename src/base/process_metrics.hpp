// The metrics that Prometheus' own libraries report for every process: CPU, memory, files, start.
#pragma once

#include "base/exposition.hpp"

namespace plim::metrics {

// Omits what cannot be read.
void expose_process(Exposition& out);

}  // namespace plim::metrics
