// Any text as a job file: checking it never crashes, and a job that is accepted is accepted again
// as it was filled in.
#include <cstdint>
#include <string_view>

#include "flow/job.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"job.json", "job.yaml"}) {
    auto value = flow::parse_job(text, name);
    if (!value) continue;
    flow::CheckedJob checked = flow::check_job(*value, 2);
    PLIM_ASSERT(checked.job.has_value() == checked.problems.errors.empty());
    if (!checked.job) continue;
    (void)flow::guarantee_of(*checked.job);
    auto stored = parse_json(to_json(checked.job->document));
    PLIM_ASSERT(stored && flow::check_job(*stored, 1).job);
  }
  return 0;
}
