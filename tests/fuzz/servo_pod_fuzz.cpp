// Any JSON as a pod, present or deleted: what is seen in it can be stored, read back and sent.
#include <cstdint>
#include <string_view>

#include "base/json.hpp"
#include "servo/job.hpp"
#include "servo/payload.hpp"
#include "servo/run_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  using namespace plim::servo;
  static const JobRules kRules{
      Namespaces{}, *loop::AppIdPath::parse("spec/containers/0/env/[JOBID]|metadata/name"), "0"};
  auto pod = parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!pod) return 0;
  for (Seen seen : {Seen::present, Seen::deleted}) {
    const Sighting sighting = look_at(*pod, kRules, seen, WallTime{});
    for (const loop::RunRecord& run : sighting.ended) {
      auto stored = decode_entry(encode_entry(RunEntry{run, true}));
      PLIM_ASSERT(stored && std::get<RunEntry>(*stored).run.key() == run.key());
      PLIM_ASSERT(parse_json(measurement(run, Extra::more)));
    }
  }
  return 0;
}
