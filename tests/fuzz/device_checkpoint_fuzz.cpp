// The kubelet's records of devices, which may be half written: an answer or an error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "node/pod_resources.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)plim::node::parse_device_checkpoint(text);
  (void)plim::node::decode_pod_resources(text);
  return 0;
}
