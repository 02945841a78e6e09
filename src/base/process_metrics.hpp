// What Prometheus' own libraries tell of every process: CPU time, memory, files, its start.
#pragma once

#include "base/exposition.hpp"

namespace plim::metrics {

// What cannot be read is left out.
void expose_process(Exposition& out);

}  // namespace plim::metrics
