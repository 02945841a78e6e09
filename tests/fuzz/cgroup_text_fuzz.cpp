// The kernel's files of a cgroup, and what could lie there instead.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "node/cgroup_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim::node;
  const std::string text = "\n" + std::string(reinterpret_cast<const char*>(data), size);
  std::array<std::uint64_t, 64> nodes{};
  (void)leading_number(text);
  (void)value_of_key(text, "pgfault");
  (void)pressure_total(text, "some");
  (void)numa_pages_v1(text, nodes);
  (void)numa_bytes_v2(text, nodes);
  return 0;
}
