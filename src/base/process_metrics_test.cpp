#include "base/process_metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::metrics {
namespace {

TEST(ProcessMetrics, describe_this_process) {
  Exposition out;
  expose_process(out);
  const std::string text = out.text();
  for (const char* name : {"process_cpu_seconds_total", "process_max_fds", "process_open_fds",
                           "process_resident_memory_bytes", "process_start_time_seconds",
                           "process_virtual_memory_bytes"})
    EXPECT_THAT(text, ::testing::ContainsRegex(std::string("\n") + name + " [0-9]")) << text;
}

}  // namespace
}  // namespace plim::metrics
