// A message on the kernel's process connector, and what could come instead.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "local/kubelet/runtime/process_events.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)plim::local::kubelet::decode_process_event({reinterpret_cast<const char*>(data), size});
  return 0;
}
