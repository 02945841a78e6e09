// The kernel's files about the machine and this process, and what could lie there instead.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/dimms.hpp"
#include "agent/perf_events.hpp"
#include "agent/platform_text.hpp"
#include "base/resident.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim::agent;
  const std::string text = "\n" + std::string(reinterpret_cast<const char*>(data), size);
  std::vector<CpuTicks> ticks;
  std::vector<KeyValue> values;
  std::vector<ZoneValue> zones;
  parse_cpu_ticks(text, ticks);
  parse_key_values(text, values);
  parse_zones(text, nullptr, zones);
  (void)memory_in_use(text);
  (void)plim::unchanged_files(text);
  (void)parse_dimms(text);
  (void)parse_perf_event(text.substr(1));
  return 0;
}
