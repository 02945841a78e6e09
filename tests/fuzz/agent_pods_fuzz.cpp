// Lists of pods as a kubelet may send them.
#include <cstddef>
#include <cstdint>
#include <string>

#include "agent/pods.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string body(reinterpret_cast<const char*>(data), size);
  (void)plim::agent::decode_pod_list(body);
  return 0;
}
